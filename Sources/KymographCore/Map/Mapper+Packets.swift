/// Payloads that carry packets: decoded into objects, which are mapped like any others.
extension Mapper {
    /// Maps one payload: a line, or a datagram of one packet or several.
    @inline(never)
    mutating func mapPackets(
        _ bytes: ByteView, isLine: Bool, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let skipsSpace = packets[0].skipsSpace
        let isSpelled = isLine && !skipsSpace
        var index = 0
        if skipsSpace || isLine {
            index = JSONScanner.skipSpace(bytes, bytes.hasByteOrderMark ? ByteView.byteOrderMarkLength : 0)
            if index == bytes.count { return }
        }
        repeat {
            let outcome =
                isSpelled
                ? packets[0].readSpelled(bytes[index..<bytes.count], received: received)
                : packets[0].read(bytes, from: index, received: received)
            let end = isSpelled ? bytes.count : outcome.end
            let packet = bytes[index..<end]
            if let failure = outcome.failure {
                output.reject(failure.reason, bytes: packet, detail: RejectionDetail(offset: failure.offset))
            } else if !mapHeartRate(in: packet, context: context, received: received, output: &output) {
                mapObjects(of: packet, context: context, received: received, output: &output)
            }
            index = skipsSpace ? JSONScanner.skipSpace(bytes, end) : end
        } while index < bytes.count
    }

    /// Maps a packet that is a heart rate; false when its objects must be looked at.
    @inline(__always)
    private mutating func mapHeartRate(
        in packet: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Bool {
        guard let rate = packets[0].heartRate else { return false }
        if mapKnown(rate, in: packet, context: context, received: received, output: &output) { return true }
        guard let failure = packets[0].decodeHeartRate() else { return false }
        output.reject(failure.reason, bytes: packet, detail: RejectionDetail(offset: failure.offset))
        return true
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
            let members = packets[0].members(of: index)
            var shape = mapKnown(
                members, of: object, in: packet, context: context, received: received, output: &output)
            if shape != nil {
                outcome.matches += 1
            } else {
                shape = mapObject(
                    members, object, context: context, received: received, &outcome, output: &output)
            }
            if let shape { note(shape, ofObject: index) }
        }
        if outcome.failedTemplate >= 0 {
            output.reject(.expressionFailed, bytes: packet, detail: outcome.failure)
        } else if outcome.matches == 0 {
            output.reject(.noTemplate, bytes: packet, detail: RejectionDetail())
        }
    }

    /// Remembers what heart rates like this one give.
    @inline(__always)
    private mutating func note(_ shape: Int, ofObject index: Int) {
        guard let rate = packets[0].heartRate, !known.hasMet(heartRate: rate.form) else { return }
        let device = packets[0].place(of: .device, in: index)
        let time = packets[0].place(of: .time, in: index)
        known.note(shape, form: rate.form, places: (device, time, packets[0].place(of: .heartRate, in: index)))
    }

    /// Tries all templates on one object, and learns its shape where one of them gives a reading; the shape's number.
    @inline(never)
    private mutating func mapObject(
        _ members: ElementList<Token>, _ object: ByteView, context: borrowing SourceContext, received: Instant,
        _ outcome: inout DocumentOutcome, output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        evaluator.paths.scanner.adopt(members, of: object)
        let matches = outcome.matches
        outcome.flatTemplate = -1
        mapTemplates(object, context: context, received: received, &outcome, output: &output)
        guard outcome.matches == matches + 1, outcome.flatTemplate >= 0 else { return nil }
        return learnObject(Int(outcome.flatTemplate), members, object)
    }
}
