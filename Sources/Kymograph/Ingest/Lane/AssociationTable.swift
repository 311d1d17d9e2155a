import KymographCore

/// The clients of a UDP socket that speaks DTLS, by their addresses. Of the lane's thread.
final class AssociationTable {
    /// What a datagram is for.
    enum Route {
        /// An association to read, or the handshake beside it.
        case established(Association, Association.Established)
        /// A handshake to begin, by the ClientHello that it has.
        case begun(Association, Association.Handshake)
        /// A handshake to go on with.
        case handshake(Association, Association.Handshake)
        /// It has been answered, or has come before.
        case nothing
        /// It is not taken.
        case refused(AssociationRefusal)
    }

    /// How far a handshake has come.
    enum Progress {
        case done(Association.Established)
        case waiting
        case failed(AssociationRefusal, String)
    }

    /// How long a handshake may take: on a mobile network several of its datagrams may get lost, and each is sent again
    /// after 1, 2, 4 and 8 seconds.
    static let handshakeTime = Duration.seconds(20)
    /// How long a ClientHello may be on its way.
    private static let helloTime = Duration.seconds(120)

    private let socket: Int32
    private var all: [DatagramEndpoint: Association] = [:]
    private var handshaking: Set<DatagramEndpoint> = []
    private var countsOfHosts: [DatagramEndpoint: Int] = [:]
    /// What waits for the next client, with the certificate and keys of this context.
    private var waiting: (context: TLSContext, connection: DatagramTLSConnection)?
    private var rate: (perSecond: Int, limit: RateLimit?)?
    /// Where payloads are decrypted to.
    var plain = ReceiveMemory(capacity: DatagramTLSConnection.maxBytes)

    /// No clients of `socket`.
    init(at socket: Int32) { self.socket = socket }

    /// Clients there are now, those whose handshake goes on included.
    var count: Int { all.count }

    /// Clients whose handshake is done.
    private(set) var establishedCount = 0

    // MARK: Datagrams

    /// What `datagram` of `sender` is for. A ClientHello is answered, and one whose sender has shown that it receives
    /// answers begins a handshake. `address` is asked for the sender then.
    func route(
        _ datagram: ByteView, of sender: DatagramEndpoint, _ context: TLSContext, _ limits: AssociationLimits,
        at now: ContinuousClock.Instant, address: () -> NetworkAddress?
    ) -> Route {
        guard let epoch = DatagramTLSConnection.epoch(datagram) else { return .refused(.noRecord) }
        let association = all[sender]
        if epoch == 0, let random = DatagramTLSConnection.random(ofHello: datagram) {
            if let association, let handshake = association.handshake, handshake.random == random {
                return .handshake(association, handshake)
            }
            if let established = association?.established, established.random == random,
                now - established.begun < Self.helloTime
            {
                // It was sent twice, or has lost its way for a while.
                return .nothing
            }
            return listen(datagram, of: sender, random, context, limits, at: now, address: address)
        }
        guard let association else { return .refused(.noAssociation) }
        if let handshake = association.handshake, epoch == 0 || association.established == nil {
            return .handshake(association, handshake)
        }
        guard let established = association.established else { return .refused(.noAssociation) }
        return .established(association, established)
    }

    private func listen(
        _ datagram: ByteView, of sender: DatagramEndpoint, _ random: [UInt8], _ context: TLSContext,
        _ limits: AssociationLimits, at now: ContinuousClock.Instant, address: () -> NetworkAddress?
    ) -> Route {
        if waiting?.context !== context { waiting = context.association(at: socket).map { (context, $0) } }
        guard let connection = waiting?.connection, connection.listen(datagram, of: sender) else { return .nothing }
        if let refusal = passedLimit(sender, limits) { return .refused(refusal) }
        waiting = nil
        let association = all[sender] ?? add(Association(sender, address()))
        let handshake = Association.Handshake(connection: connection, random: random, begun: now)
        association.handshake = handshake
        handshaking.insert(sender)
        return .begun(association, handshake)
    }

    /// The limit that a new handshake of `sender` passes.
    private func passedLimit(_ sender: DatagramEndpoint, _ limits: AssociationLimits) -> AssociationRefusal? {
        if all[sender] == nil {
            if all.count >= limits.most { return .associations }
            if countsOfHosts[sender.host, default: 0] >= limits.mostOfHost { return .associationsPerPeer }
        }
        if rate?.perSecond != limits.handshakesPerSecond {
            let perSecond = limits.handshakesPerSecond
            rate = (perSecond, RateLimit(rate: perSecond, burst: perSecond))
        }
        return rate?.limit?.take() ?? true ? nil : .handshakeRate
    }

    private func add(_ association: Association) -> Association {
        all[association.endpoint] = association
        countsOfHosts[association.endpoint.host, default: 0] += 1
        return association
    }

    // MARK: Handshakes

    /// Goes on with the handshake of `association` by `datagram`, or by the ClientHello that it has. `access` says by
    /// what the client is looked for in the list of peers.
    func advance(
        _ association: Association, _ handshake: Association.Handshake, by datagram: ByteView?,
        at now: ContinuousClock.Instant, access: () -> StreamAccess?
    ) -> Progress {
        switch handshake.connection.establish(by: datagram) {
        case .waiting: return .waiting
        case .failed(let fault, let text):
            abandonHandshake(of: association)
            return .failed(AssociationRefusal(fault), text)
        case .done:
            if association.established == nil { establishedCount += 1 }
            let established = Association.Established(
                connection: handshake.connection, random: handshake.random, begun: now, access: access(),
                lastReceived: now)
            association.established = established
            association.handshake = nil
            handshaking.remove(association.endpoint)
            return .done(established)
        }
    }

    /// Forgets the handshake of `association`, and with it the association if nothing was established before.
    private func abandonHandshake(of association: Association) {
        association.handshake = nil
        handshaking.remove(association.endpoint)
        if association.established == nil { forget(association) }
    }

    /// Sends again what was not answered in time, and gives up handshakes that take too long: those, with the reason.
    func tendHandshakes(_ now: ContinuousClock.Instant) -> [(Association, AssociationRefusal, String)] {
        var failed: [(Association, AssociationRefusal, String)] = []
        for endpoint in handshaking {
            guard let association = all[endpoint], let handshake = association.handshake else { continue }
            let isLate = now - handshake.begun > Self.handshakeTime
            if !isLate, handshake.connection.sendAgain() { continue }
            let (refusal, text) = Self.lateness(handshake.connection)
            abandonHandshake(of: association)
            failed.append((association, refusal, text))
        }
        return failed
    }

    /// Why a handshake has not come to its end in time. Whoever names a key that it does not have sends what cannot be
    /// decrypted, which is as good as lost.
    private static func lateness(_ connection: DatagramTLSConnection) -> (AssociationRefusal, String) {
        if case .failed(let fault, let text) = connection.failure, case .key = fault { return (.pskKey, text) }
        return (.handshakeTime, "the handshake did not come to its end in time")
    }

    // MARK: Ends

    /// Ends `association`; its client hears of it, unless it has ended it.
    func end(_ association: Association, tells: Bool) {
        if tells { association.established?.connection.end() }
        if association.established != nil { establishedCount -= 1 }
        association.established = nil
        if association.handshake == nil { forget(association) }
    }

    /// Ends the associations that have been silent since before `limit`; those.
    func endIdle(since limit: ContinuousClock.Instant) -> [Association] {
        let idle = all.values.filter { ($0.established?.lastReceived).map { $0 < limit } ?? false }
        for association in idle { end(association, tells: true) }
        return idle
    }

    /// Ends all of them.
    func endAll() {
        for association in all.values where association.established != nil { end(association, tells: true) }
        (all, handshaking, countsOfHosts) = ([:], [], [:])
    }

    private func forget(_ association: Association) {
        all[association.endpoint] = nil
        let host = association.endpoint.host
        let left = countsOfHosts[host, default: 1] - 1
        countsOfHosts[host] = left > 0 ? left : nil
    }
}

extension AssociationRefusal {
    /// What is counted of a handshake that has failed.
    init(_ fault: DatagramTLSConnection.Fault) {
        self =
            switch fault {
            case .broken: .handshake
            case .certificate: .certificate
            case .identity: .pskIdentity
            case .key: .pskKey
            }
    }
}

extension AssociationRefusal {
    /// What the operator is told of the first one: of `client`, with what OpenSSL says.
    func text(_ client: String, _ fault: String, _ limits: AssociationLimits) -> String {
        switch self {
        case .associations: "refused \(client): there are \(limits.most) associations; raise associations"
        case .associationsPerPeer:
            "refused \(client): its host has \(limits.mostOfHost) associations; raise associationsPerPeer"
        case .handshakeRate:
            "refused \(client): \(limits.handshakesPerSecond) handshakes have begun within a second; it tries again, "
                + "or raise handshakeRate"
        case .handshakeTime, .handshake, .certificate, .pskIdentity, .pskKey:
            "refused \(client): no DTLS with it: \(fault)"
        case .idle: "ended the association of \(client), which was silent for longer than associationIdle"
        case .noAssociation:
            "a datagram of \(client), with which there is no association: it has to begin with a handshake"
        case .noRecord: "a datagram of \(client), which is none of DTLS 1.2"
        }
    }
}
