/// What the encoder does for types with `compatibility: iomt-fhir`.
extension ObservationEncoder {
    /// Writes the effective period of the prepared content: always a period, with seven decimals, in UTC.
    @inline(never)
    mutating func writeReferencePeriod(_ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        times.append(span.start, .ticks, to: &writer)
        writer.append("\",\"end\":\"")
        times.append(span.end, .ticks, to: &writer)
        writer.append("\"}")
    }

    /// Writes the member that says when the last of the readings was received: the reference writes its own clock,
    /// which would make the same readings give two texts.
    @inline(never)
    mutating func writeReferenceIssued(_ content: borrowing WindowContent, _ writer: inout ByteWriter) {
        guard let last = content.readings.lastReceived else { return }
        writer.append("\"issued\":\"")
        writer.append(ticks: last)
        writer.append("\",")
    }
}
