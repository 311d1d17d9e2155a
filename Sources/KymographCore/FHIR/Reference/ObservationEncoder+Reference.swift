/// What the encoder and the bundle writer do for types with `compatibility: iomt-fhir`.
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

extension BundleWriter {
    /// Writes the entries of the Patient and the Device of prepared `content` unless the bundle has them; gives how
    /// the Observation refers to them.
    ///
    /// By conditional create, as the reference looks them up by identifier before it creates them: a PUT under the ids
    /// of its Create mode would replace what the server's Patients have got since.
    @inline(never)
    mutating func requireReferenceResources(_ content: borrowing WindowContent) -> ObservationReferences {
        var references = ObservationReferences(toEntries: encoder.options.refersToEntries)
        references.subject = requireSubject(of: content.series)
        references.device = requireDevice(of: content.series)
        return references
    }
}
