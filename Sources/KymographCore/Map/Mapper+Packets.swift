/// Payloads that carry packets: decoded into objects, which are mapped like any others.
extension Mapper {
    /// Maps one payload: a line, or a datagram of one packet or several.
    @inline(never)
    mutating func mapPackets(
        _ bytes: ByteView, isLine: Bool, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let skipsSpace = packets[0].skipsSpace
        var index = skipsSpace || isLine ? JSONScanner.skipSpace(bytes, 0) : 0
        if index == bytes.count, skipsSpace || isLine { return }
        repeat {
            let outcome =
                isLine
                ? packets[0].readLine(bytes[index..<bytes.count], received: received)
                : packets[0].read(bytes, from: index, received: received)
            let end = isLine ? bytes.count : outcome.end
            let packet = bytes[index..<end]
            if let failure = outcome.failure {
                output.reject(failure.reason, bytes: packet, detail: RejectionDetail(offset: failure.offset))
            } else {
                mapObjects(of: packet, context: context, received: received, output: &output)
            }
            index = skipsSpace ? JSONScanner.skipSpace(bytes, end) : end
        } while index < bytes.count
    }

    /// Maps the objects of one packet. A packet is one payload: it is rejected when none of its objects matches, and
    /// its dead letter holds the packet as it came.
    private mutating func mapObjects(
        of packet: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        original = packet
        defer { original = nil }
        var outcome = DocumentOutcome()
        for index in 0..<packets[0].count {
            let object = packets[0][index]
            evaluator.paths.scanner.adopt(packets[0].members(of: index), of: object)
            mapTemplates(object, context: context, received: received, &outcome, output: &output)
        }
        if outcome.failedTemplate >= 0 {
            output.reject(.expressionFailed, bytes: packet, detail: outcome.failure)
        } else if outcome.matches == 0 {
            output.reject(.noTemplate, bytes: packet, detail: RejectionDetail())
        }
    }
}
