import KymographCore

/// Readings in the messages of an MQTT broker: see docs/mqtt.md. One for each source, for all its connections.
///
/// PUBACK and PUBREC are replies: they leave when what a message has given is durable. All other packets leave at once.
final class MQTTProtocol: StreamProtocol {
    private let settings: MQTTSettings
    private var session: MQTTSession
    private var framer: MQTTFramer
    private var senders: TopicSenders
    /// Packets of this look that leave when its messages are durable, and those that leave at once.
    private var (acknowledgements, answers): ([UInt8], [UInt8]) = ([], [])
    private var notes: [String] = []
    private var isNewlyConnected = false
    private var hasToldTopic = false

    /// Reads the messages of a session called `clientID`, whose payloads have at most `longest` bytes.
    init(_ settings: MQTTSettings, clientID: String, longest: Int) {
        self.settings = settings
        session = MQTTSession(settings, clientID: clientID)
        framer = MQTTFramer(longest: longest)
        senders = TopicSenders(settings.topics)
    }

    var acknowledging: Acknowledging { .byProtocol }

    /// Whether messages are passed over, without a word to the broker, which sends those of QoS 1 and 2 again.
    var isMuted = false

    /// Whether the broker keeps what comes while there is no connection, by what it has granted; nil before that.
    var keepsMessages: Bool? { session.granted.map { $0 > 0 && settings.keepsMessages } }

    /// Whether topics say who has sent a message.
    var namesSenders: Bool { settings.namesSenders }

    // MARK: Connection

    /// What is to be sent first of a new connection.
    ///
    /// - Throws: ``SecretFault`` when the password cannot be read.
    func begin() throws(SecretFault) -> [UInt8] {
        framer.reset()
        (acknowledgements, answers, hasBeenReady, isParting) = ([], [], false, false)
        return try session.begin()
    }

    /// Sends what is due now that `passed` more has gone by; false when the connection has failed.
    func wait(_ passed: Duration, _ intake: inout StreamIntake) -> Bool {
        intake.send(session.wait(passed))
        return session.failure == nil
    }

    /// How long messages have been coming; nil while they are not.
    var age: Duration? { session.age }

    /// Whether the connection ends because kymo wants it so, and what waits is still to be sent.
    private(set) var isParting = false

    /// Whether messages have come in this connection.
    private(set) var hasBeenReady = false

    /// Notes why the connection cannot go on.
    func fail(_ reason: String) { session.fail(reason) }

    /// Notes that the connection has gone; why, in words.
    func ended() -> String { session.end() }

    /// Whether the broker has taken the connection since the last call.
    func takeConnected() -> Bool {
        defer { isNewlyConnected = false }
        return isNewlyConnected
    }

    /// What else the operator should know since the last call.
    func takeNotes() -> [String] {
        defer { notes = [] }
        return notes + session.takeNotes()
    }

    // MARK: Bytes

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        guard session.failure == nil else { return false }
        if piece.bytes.count > 0 { session.noteReceived() }
        var rest = piece.bytes
        // Before the packet that is looked at.
        var start = rest
        do throws(MQTTFault) {
            while session.failure == nil, let step = try framer.next(&rest) {
                try take(step, &intake, to: &consumer)
                start = rest
            }
        } catch {
            session.fail("the broker does not keep to MQTT: \(error.message)")
            intake.reject(.frameMalformed, framer.remains(start), to: &consumer)
            return tellFault(&intake)
        }
        leave(&intake)
        return session.failure == nil
    }

    /// Tells the broker that it does not keep to MQTT, where there are words for it; false where there are none, which
    /// ends the connection at once. Otherwise it ends with the next byte, with the broker's side, or with the next
    /// ``wait(_:_:)``: what the broker is told has left by then. What is not acknowledged comes again.
    private func tellFault(_ intake: inout StreamIntake) -> Bool {
        let reason = MQTTOutput.disconnect(settings.version, code: 0x82)
        acknowledgements.removeAll(keepingCapacity: true)
        answers.removeAll()
        intake.sendLast(reason)
        return !reason.isEmpty
    }

    /// Gives nothing: what is not complete is not acknowledged, and comes again. Says good-bye, unless the broker is to
    /// tell others that the client has gone.
    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        isParting = ending == .cut(.shutdown) && session.failure == nil
        guard isParting, settings.statusTopic == nil else { return }
        intake.reply(MQTTOutput.disconnect(settings.version))
    }

    private func leave(_ intake: inout StreamIntake) {
        intake.reply(acknowledgements)
        intake.send(answers)
        acknowledgements.removeAll(keepingCapacity: true)
        answers.removeAll()
    }

    // MARK: Packets

    private func take(
        _ step: MQTTFramer.Step, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) throws(MQTTFault) {
        switch step {
        case .packet(let head, let bytes): try take(head, bytes, isWhole: true, &intake, to: &consumer)
        case .tooLong(let head, let bytes): try take(head, bytes, isWhole: false, &intake, to: &consumer)
        }
    }

    private func take(
        _ head: MQTTHead, _ bytes: ByteView, isWhole: Bool, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) throws(MQTTFault) {
        let packet = try MQTTPacket(head, bytes[head.count..<bytes.count], settings.version)
        guard case .publish(let message) = packet else { return try answer(packet, &intake) }
        guard !isMuted else { return try session.checkIsConnected() }
        try take(message, isWhole: isWhole, &intake, to: &consumer)
        MQTTOutput.acknowledge(message.quality, number: message.number, in: &acknowledgements)
    }

    private func answer(_ packet: MQTTPacket, _ intake: inout StreamIntake) throws(MQTTFault) {
        let before = session.phase
        answers += try session.answer(packet)
        guard before != .ready, session.phase == .ready else { return }
        (hasBeenReady, isNewlyConnected) = (true, true)
        intake.counts.connections += 1
    }

    private func take(
        _ message: MQTTMessage, isWhole: Bool, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) throws(MQTTFault) {
        let sender = try senders.sender(message.topic)
        try session.checkIsConnected()
        switch sender {
        case .refused(let reason):
            if reason == .topicNotSubscribed { tellTopic() }
            intake.reject(reason, message.payload, to: &consumer)
        // A retained message is removed by one without content.
        case .named where isWhole && message.payload.count == 0: break
        case .named where !isWhole: intake.reject(.frameTooLong, message.payload, to: &consumer)
        case .named(let device, let patient):
            intake.document(
                message.payload, device: device.map { message.topic[$0] }, patient: patient.map { message.topic[$0] },
                to: &consumer)
        }
    }

    private func tellTopic() {
        guard !hasToldTopic else { return }
        hasToldTopic = true
        notes.append(
            "messages come of topics that no filter has: the broker's session has subscriptions of an earlier "
                + "configuration; remove them there, or write another clientId; further ones are only counted")
    }
}
