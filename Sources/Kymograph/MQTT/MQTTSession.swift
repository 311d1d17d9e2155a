import KymographCore

/// A session with a broker: what is sent when, and what the broker's packets mean. It lasts over connections, as the
/// broker's side of it does.
struct MQTTSession {
    /// How far a connection is.
    enum Phase {
        /// There is none, or it has failed.
        case closed
        /// The broker has not answered yet.
        case connecting
        /// The broker has not taken the subscriptions yet.
        case subscribing
        /// Messages come.
        case ready
    }

    /// How long the broker has for each answer before messages come.
    private static let answerTime = Duration.seconds(10)
    /// The number of the packet that subscribes.
    private static let subscription: UInt16 = 1

    private let settings: MQTTSettings
    private let clientID: String
    private(set) var phase = Phase.closed
    /// Why the connection has failed, in words; nil where nothing says more than that it ended.
    private(set) var failure: String?
    /// What the operator should know.
    private var notes: [String] = []
    /// Whether the broker has had the session before, in this process.
    private var hasConnected = false
    /// The lowest QoS that the broker has granted, in any connection of this process; nil before that.
    private(set) var granted: UInt8?
    /// Of this connection.
    private var pingInterval = Duration.zero
    /// Time in the present phase, since the last request for a sign of life, and without a byte since then.
    private var (waited, sincePing, silent): (Duration, Duration, Duration) = (.zero, .zero, .zero)
    private var awaitsSign = false

    init(_ settings: MQTTSettings, clientID: String) { (self.settings, self.clientID) = (settings, clientID) }

    /// How long messages have been coming; nil while they are not.
    var age: Duration? { phase == .ready ? waited : nil }

    /// What the operator should know since the last call.
    mutating func takeNotes() -> [String] {
        defer { notes = [] }
        return notes
    }

    // MARK: Time

    /// The first packet of a connection, which has just been made.
    ///
    /// - Throws: ``SecretFault`` when the password cannot be read.
    mutating func begin() throws(SecretFault) -> [UInt8] {
        let packet = MQTTOutput.connect(settings, clientID: clientID, password: try settings.password())
        failure = nil
        (awaitsSign, sincePing) = (false, .zero)
        pingInterval = .seconds(Int64(settings.keepAliveSeconds)) / 2
        enter(.connecting)
        return packet
    }

    /// What is to be sent now that `passed` more has gone by; ``failure`` is set when the broker has taken too long.
    mutating func wait(_ passed: Duration) -> [UInt8] {
        waited += passed
        switch phase {
        case .closed: return []
        case .connecting, .subscribing:
            if waited > Self.answerTime { fail("it has not answered for \(Self.answerTime.components.seconds) s") }
            return []
        case .ready:
            sincePing += passed
            silent += passed
            if awaitsSign, silent > pingInterval * 2 {
                fail("it gives no sign of life")
                return []
            }
            guard sincePing >= pingInterval else { return [] }
            sincePing = .zero
            if !awaitsSign { silent = .zero }
            awaitsSign = true
            return MQTTOutput.pingreq
        }
    }

    /// Notes that bytes have come.
    mutating func noteReceived() { (silent, awaitsSign) = (.zero, false) }

    /// Notes why the connection cannot go on. The first reason counts.
    mutating func fail(_ reason: String) {
        if failure == nil { failure = reason }
    }

    /// Notes that the connection has gone; why, in words.
    mutating func end() -> String {
        defer { phase = .closed }
        guard phase == .connecting else { return failure ?? "the broker has closed it" }
        return failure
            ?? "the broker has closed it without an answer: look whether its port is one for TLS (mqtts://) or "
            + "without (mqtt://)"
    }

    private mutating func enter(_ phase: Phase) { (self.phase, waited) = (phase, .zero) }

    // MARK: Packets

    /// What is to be sent for `packet`, at once. What acknowledges a message leaves later.
    ///
    /// - Throws: ``MQTTFault`` when it may not come now.
    mutating func answer(_ packet: MQTTPacket) throws(MQTTFault) -> [UInt8] {
        switch packet {
        case .connack(let hasSession, let code, let serverKeepAlive):
            return try connected(hasSession, code, serverKeepAlive)
        case .suback(let number, let codes): return try subscribed(number, codes)
        case .pubrel(let number):
            try checkIsConnected()
            return MQTTOutput.completion(number: number)
        case .pingresp, .publish:
            try checkIsConnected()
            return []
        case .disconnect(let code):
            fail("the broker ends it: \(MQTTReason.text(code))")
            return []
        }
    }

    /// Looks whether the broker has taken the connection. Each message that comes then is handed on, one of QoS 2 as
    /// well that seems to come again: a broker that was restored, or has let a message expire, uses its number for
    /// another one, and what did come before is a duplicate.
    ///
    /// - Throws: ``MQTTFault`` when it has not.
    func checkIsConnected() throws(MQTTFault) {
        guard phase == .subscribing || phase == .ready else {
            throw MQTTFault("the first packet is not the answer to the connection")
        }
    }

    private mutating func connected(
        _ hasSession: Bool, _ code: UInt8, _ serverKeepAlive: UInt16?
    ) throws(MQTTFault) -> [UInt8] {
        guard phase == .connecting else { throw MQTTFault("the broker answers a connection that is open") }
        guard code == 0 else {
            fail("refused: \(MQTTReason.connection(code, settings.version))")
            return []
        }
        if !hasSession, hasConnected {
            notes.append("the broker has not kept the session: what was published meanwhile may be missing")
        }
        hasConnected = true
        if let serverKeepAlive, serverKeepAlive > 0 { pingInterval = .seconds(Int64(serverKeepAlive)) / 2 }
        enter(.subscribing)
        return MQTTOutput.subscribe(settings, number: Self.subscription)
    }

    private mutating func subscribed(_ number: UInt16, _ codes: [UInt8]) throws(MQTTFault) -> [UInt8] {
        guard phase == .subscribing, number == Self.subscription, codes.count == settings.topics.count else {
            throw MQTTFault("the broker answers a subscription that there is not")
        }
        if let place = codes.firstIndex(where: { $0 >= 0x80 }) {
            fail("topics[\(place)] is refused: \(MQTTReason.text(codes[place]))")
            return []
        }
        let lowest = codes.min() ?? 0
        granted = lowest
        if lowest < settings.quality.rawValue {
            notes.append(
                "the broker grants QoS \(lowest) in place of \(settings.quality.rawValue)"
                    + (lowest == 0 ? ": messages can be lost" : ""))
        }
        enter(.ready)
        guard let topic = settings.statusTopic else { return [] }
        return MQTTOutput.retained(MQTTSettings.online, to: topic, settings.version)
    }
}
