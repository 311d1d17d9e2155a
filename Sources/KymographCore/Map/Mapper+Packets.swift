/// Payloads that carry packets: decoded into objects, which are mapped like any others.
extension Mapper {
    /// Maps one payload: a line, or a datagram of one packet or several.
    @inline(never)
    mutating func mapPackets(
        _ bytes: ByteView, isLine: Bool, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let skipsSpace = packets?.skipsSpace ?? false
        var index = skipsSpace || isLine ? JSONScanner.skipSpace(bytes, 0) : 0
        if index == bytes.count, skipsSpace || isLine { return }
        repeat {
            let outcome =
                (isLine
                    ? packets?.readLine(bytes[index..<bytes.count], received: received)
                    : packets?.read(bytes, from: index, received: received))
                ?? PacketStage.Outcome(end: bytes.count)
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

    /// Why an object of the packet cannot be mapped: it has more values than the limit. Asked of all before the first
    /// is mapped, so that no reading stands beside the dead letter of its packet.
    private mutating func scanFailure() -> Rejection? {
        let limit = evaluator.paths.scanner.limits.values
        for index in 0..<(packets?.count ?? 0) {
            // A member has six bytes at least: of the usual limit no packet comes near, and none is scanned twice.
            guard let object = packets?[index], object.count / 6 + 1 >= limit else { continue }
            do throws(ScanFailure) {
                _ = try evaluator.paths.scanner.scan(object, from: 0)
            } catch {
                return error.reason
            }
        }
        return nil
    }

    /// Maps the objects of one packet. A packet is one payload: it is rejected when none of its objects matches, and
    /// its dead letter holds the packet as it came.
    private mutating func mapObjects(
        of packet: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        if let reason = scanFailure() { return output.reject(reason, bytes: packet, detail: RejectionDetail()) }
        original = packet
        defer { original = nil }
        var outcome = DocumentOutcome()
        var index = 0
        while index < packets?.count ?? 0 {
            guard let object = packets?[index], (try? evaluator.paths.scanner.scan(object, from: 0)) != nil else {
                preconditionFailure("a decoder writes JSON")
            }
            mapTemplates(object, context: context, received: received, &outcome, output: &output)
            index += 1
        }
        if outcome.failedTemplate >= 0 {
            output.reject(.expressionFailed, bytes: packet, detail: outcome.failure)
        } else if outcome.matches == 0 {
            output.reject(.noTemplate, bytes: packet, detail: RejectionDetail())
        }
    }
}
