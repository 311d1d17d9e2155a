/// Maps payloads that carry packets: decoded into objects, which are mapped like any others.
struct PacketMapper: ~Copyable {
    private var stage: PacketStage
    /// For payloads that are messages, which take no stage.
    private var messages: MessageMapper?
    /// Whether there are: asked for each packet.
    private let hasMessages: Bool

    private init(_ stage: consuming PacketStage, _ messages: consuming MessageMapper?) {
        self.stage = stage
        hasMessages = messages != nil
        self.messages = messages
    }

    /// A mapper for a source with these templates, or none where its payloads are JSON documents.
    static func list(_ set: MappingSet, _ templates: [Int]) -> OwnedList<PacketMapper> {
        let form = set.packetForm(of: templates)
        let needs = set.packetNeeds(of: templates)
        return OwnedList(count: form == nil ? 0 : 1) { _ in
            guard let form else { preconditionFailure("there is a form") }
            let messages = form.carrier == .message ? MessageMapper(set.messageNeeds(of: templates)) : nil
            return PacketMapper(PacketStage(form, needs: needs), messages)
        }
    }

    /// What the numbers of frames have shown since the last call.
    mutating func takeGaps() -> [FrameGap] { stage.numbers.hasGaps ? stage.numbers.takeGaps() : [] }

    /// Maps one payload: a line, or a datagram of one packet or several.
    mutating func map(
        _ bytes: ByteView, isLine: Bool, known: inout KnownPayloads, templates: inout TemplateMapper,
        context: borrowing SourceContext, received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) {
        if hasMessages, let messages {
            return messages.map(
                bytes, known: &known, templates: &templates, context: context, received: received, output: &output)
        }
        let skipsSpace = stage.skipsSpace
        let isSpelled = isLine && !skipsSpace
        var index = 0
        if skipsSpace || isLine {
            index = JSONScanner.skipSpace(bytes, bytes.startBehindByteOrderMark)
            if index == bytes.count { return }
        }
        repeat {
            let outcome =
                isSpelled
                ? stage.readSpelled(bytes[index..<bytes.count], received: received)
                : stage.read(bytes, from: index, received: received)
            let end = isSpelled ? bytes.count : outcome.end
            let packet = bytes[index..<end]
            if let failure = outcome.failure {
                output.reject(failure.reason, bytes: packet, detail: RejectionDetail(offset: failure.offset))
            } else if !mapHeartRate(in: packet, known: &known, context: context, received: received, output: &output) {
                mapObjects(
                    of: packet, known: &known, templates: &templates, context: context, received: received,
                    output: &output)
            }
            index = skipsSpace ? JSONScanner.skipSpace(bytes, end) : end
        } while index < bytes.count
    }

    /// Maps a packet that is a heart rate; false when its objects must be looked at.
    @inline(__always)
    private mutating func mapHeartRate(
        in packet: ByteView, known: inout KnownPayloads, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Bool {
        guard let rate = stage.heartRate else { return false }
        if known.tryHeartRate(rate, of: packet, context: context, received: received, output: &output) { return true }
        guard let failure = stage.decodeHeartRate() else { return false }
        output.reject(failure.reason, bytes: packet, detail: RejectionDetail(offset: failure.offset))
        return true
    }

    /// Maps the objects of one packet. A packet is one payload: it is rejected when none of its objects matches, and
    /// its dead letter holds the packet as it came.
    private mutating func mapObjects(
        of packet: ByteView, known: inout KnownPayloads, templates: inout TemplateMapper,
        context: borrowing SourceContext, received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) {
        var outcome = DocumentOutcome()
        for index in 0..<stage.count {
            let object = stage[index]
            let members = stage.members(of: index)
            var shape = known.tryObject(
                members, object, of: packet, context: context, received: received, output: &output)
            if shape != nil {
                outcome.matches += 1
            } else {
                shape = templates.mapObject(
                    members, object, of: packet, known: &known, context: context, received: received, &outcome,
                    output: &output)
            }
            if let shape { note(shape, ofObject: index, in: &known) }
        }
        if outcome.failedTemplate >= 0 {
            output.reject(.expressionFailed, bytes: packet, detail: outcome.failure)
        } else if outcome.matches == 0 {
            output.reject(.noTemplate, bytes: packet, detail: RejectionDetail())
        }
    }

    /// Remembers what heart rates like this one give.
    @inline(__always)
    private func note(_ shape: Int, ofObject index: Int, in known: inout KnownPayloads) {
        guard let rate = stage.heartRate, !known.hasMet(heartRate: rate.form) else { return }
        let device = stage.place(of: .device, in: index)
        let time = stage.place(of: .time, in: index)
        known.note(shape, form: rate.form, places: (device, time, stage.place(of: .heartRate, in: index)))
    }
}
