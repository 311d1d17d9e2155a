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
    private var ratesOfHosts: [DatagramEndpoint: RateLimit] = [:]
    /// The present files.
    private var context: TLSContext
    /// Associations whose key or certificate was not looked for in the present files yet, however silent they are.
    private var unchecked: [Association] = []
    /// No certificate of a client ends before, in seconds since 1970.
    private var nextEnd = Int64.max
    /// Where payloads are decrypted to.
    var plain = ReceiveMemory(capacity: DatagramTLSConnection.maxBytes)

    /// No clients of `socket` yet, which get the certificate and keys of `context`.
    init(at socket: Int32, _ context: TLSContext) { (self.socket, self.context) = (socket, context) }

    /// Goes on with the files of `context`.
    func follow(_ context: TLSContext) {
        guard context !== self.context else { return }
        (self.context, unchecked) = (context, Array(all.values))
    }

    /// Clients there are now, those whose handshake goes on included.
    var count: Int { all.count }

    /// Clients whose handshake is done.
    private(set) var establishedCount = 0

    // MARK: Datagrams

    /// What `datagram` of `sender` is for. A ClientHello is answered, and one whose sender has shown that it receives
    /// answers begins a handshake. `local` is where it was sent to; `address` is asked for the sender then.
    func route(
        _ datagram: ByteView, of sender: DatagramEndpoint, to local: DatagramEndpoint?, _ limits: AssociationLimits,
        at now: ContinuousClock.Instant, address: () -> NetworkAddress?
    ) -> Route {
        guard let epoch = DatagramTLSConnection.epoch(datagram) else { return .refused(.noRecord) }
        let association = all[sender]
        if epoch == 0, let random = DatagramTLSConnection.random(ofHello: datagram) {
            // OpenSSL sends its answers again by its own clock.
            if association?.handshake?.random == random { return .nothing }
            if let established = association?.established, established.random == random,
                now - established.begun < Self.helloTime
            {
                // It was sent twice, or has lost its way for a while.
                return .nothing
            }
            return listen(datagram, of: sender, to: local, random, limits, at: now, address: address)
        }
        guard let association else { return .refused(.noAssociation) }
        if let handshake = association.handshake, epoch == 0 || association.established == nil {
            return .handshake(association, handshake)
        }
        guard let established = association.established else { return .refused(.noAssociation) }
        return .established(association, established)
    }

    private func listen(
        _ datagram: ByteView, of sender: DatagramEndpoint, to local: DatagramEndpoint?, _ random: [UInt8],
        _ limits: AssociationLimits, at now: ContinuousClock.Instant, address: () -> NetworkAddress?
    ) -> Route {
        if waiting?.context !== context { waiting = context.association(at: socket).map { (context, $0) } }
        guard let connection = waiting?.connection, connection.listen(datagram, of: sender, to: local) else {
            return .nothing
        }
        if let refusal = passedLimit(sender, limits) { return .refused(refusal) }
        waiting = nil
        let association = all[sender] ?? add(Association(sender, address()))
        let handshake = Association.Handshake(
            connection: connection, context: context, random: random, begun: now)
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
            (rate, ratesOfHosts) = ((perSecond, RateLimit(rate: perSecond, burst: perSecond)), [:])
        }
        let most = limits.handshakesOfHostPerSecond
        let ofHost = ratesOfHosts[sender.host] ?? RateLimit(rate: most, burst: most)
        ratesOfHosts[sender.host] = ofHost
        guard ofHost?.take() ?? true else { return .handshakeRatePerPeer }
        return rate?.limit?.take() ?? true ? nil : .handshakeRate
    }

    private func add(_ association: Association) -> Association {
        all[association.endpoint] = association
        countsOfHosts[association.endpoint.host, default: 0] += 1
        return association
    }

    // MARK: Handshakes

    /// Goes on with the handshake of `association` by what it was given, or by the ClientHello that it has. `access`
    /// says by what the client is looked for in the list of peers.
    func advance(
        _ association: Association, _ handshake: Association.Handshake, at now: ContinuousClock.Instant,
        access: () -> StreamAccess?
    ) -> Progress {
        switch handshake.connection.establish() {
        case .waiting: return .waiting
        case .failed(let fault, let text):
            abandonHandshake(of: association)
            return .failed(AssociationRefusal(fault), text)
        case .done:
            if association.established == nil { establishedCount += 1 }
            let established = Association.Established(
                connection: handshake.connection, context: handshake.context, random: handshake.random, begun: now,
                access: access(), goodUntil: handshake.connection.goodUntil(withAuthorities: true),
                lastReceived: now)
            nextEnd = min(nextEnd, established.goodUntil)
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
        ratesOfHosts = ratesOfHosts.filter { !$0.value.isUnused }
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
        return (.handshakeTime, "the handshake did not complete in time")
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

    /// Ends the associations whose certificates have ended at `now`, in seconds since 1970; those.
    func endExpired(at now: Int64) -> [Association] {
        guard now > nextEnd else { return [] }
        let expired = all.values.filter { ($0.established?.goodUntil).map { $0 < now } ?? false }
        for association in expired { end(association, tells: true) }
        nextEnd = all.values.compactMap { $0.established?.goodUntil }.min() ?? .max
        return expired
    }

    /// Ends `association` when its key or certificate is not good any more by the present files; why.
    func endIfWithdrawn(_ association: Association) -> String? {
        guard let established = association.established, established.context !== context else { return nil }
        guard let reason = context.withdrawal(of: established.connection) else {
            association.established?.context = context
            // By authorities that may be others now.
            association.established?.goodUntil = established.connection.goodUntil(withAuthorities: false)
            return nil
        }
        end(association, tells: true)
        return reason
    }

    /// The same of some of those that were not looked for in the present files yet: those that have ended. A
    /// certificate takes some time.
    func endWithdrawn() -> [(Association, String)] {
        let some = unchecked.suffix(Self.mostChecks)
        unchecked.removeLast(some.count)
        return some.compactMap { association in endIfWithdrawn(association).map { (association, $0) } }
    }

    private static let mostChecks = 256

    /// Ends all of them.
    func endAll() {
        for association in all.values where association.established != nil { end(association, tells: true) }
        (all, handshaking, countsOfHosts, unchecked) = ([:], [], [:], [])
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
