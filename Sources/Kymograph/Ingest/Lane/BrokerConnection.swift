import KymographCore

/// A broker that a lane reads from: whether there is a connection, and when the next attempt is due.
struct BrokerConnection {
    /// How far it is.
    enum Phase {
        /// The next attempt is due then.
        case waiting(until: ContinuousClock.Instant)
        /// The host is being looked up.
        case lookup(NameLookup)
        /// A connection is open, or being made, in this slot.
        case open(slot: Int)
    }

    private static let backoff = Backoff(first: 500_000_000, longest: 30_000_000_000)
    /// How long messages must have come for the next attempt to be due as soon as after the first failure.
    private static let steady = Duration.seconds(30)

    let broker: OpenedSource.Broker
    /// The session, which lasts over connections.
    let messages: MQTTProtocol
    var phase: Phase
    /// Addresses of the host that have not been tried yet.
    private var addresses: [NetworkAddress] = []
    /// Whether messages have come for long enough.
    private var isSteady = false
    private var failures = 0
    /// Why there is no connection, as the operator knows it.
    private var told: String?

    /// A broker that is due at `now`.
    init(_ broker: OpenedSource.Broker, longest: Int, at now: ContinuousClock.Instant) {
        self.broker = broker
        messages = MQTTProtocol(broker.settings, clientID: broker.clientID, longest: longest)
        phase = .waiting(until: now)
    }

    /// The next address to try; nil when the host is to be looked up.
    mutating func nextAddress() -> NetworkAddress? {
        if broker.address.isNumeric { return broker.address }
        return addresses.isEmpty ? nil : addresses.removeFirst()
    }

    /// Takes what was looked up.
    ///
    /// - Throws: ``SourceError`` when the host has no address that may be used.
    mutating func take(_ answer: Result<[NetworkAddress], SourceError>) throws(SourceError) {
        let found = try answer.get()
        addresses = broker.mayBeRemote ? found : found.filter(\.isLoopback)
        guard addresses.isEmpty else { return }
        throw SourceError(
            kind: .missing,
            message: "the host is not this machine, and the connection is not encrypted: say insecure: true")
    }

    /// Notes that messages come, for `age` by now.
    mutating func noteReady(_ age: Duration) {
        (told, addresses) = (nil, [])
        isSteady = age >= Self.steady
    }

    /// Decides when the next attempt is due, now that there is no connection for `reason`; what to tell the operator,
    /// who hears of each reason once.
    mutating func lose(_ reason: String, wasReady: Bool, at now: ContinuousClock.Instant) -> String? {
        failures = isSteady ? 1 : failures + 1
        isSteady = false
        var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
        // Another address of the same host is tried at once.
        let wait = addresses.isEmpty ? Self.backoff.wait(failures: failures, using: &random) : 0
        phase = .waiting(until: now + .nanoseconds(wait))
        guard wasReady || told != reason else { return nil }
        told = reason
        return wasReady ? "connection lost: \(reason); connecting again" : "no connection: \(reason); trying again"
    }
}
