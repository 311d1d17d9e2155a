extension AssociationRefusal {
    /// The log message for the first one: of `client`, with OpenSSL's `fault`.
    func text(_ client: String, _ fault: String, _ limits: AssociationLimits) -> String {
        switch self {
        case .associations: "rejected \(client): there are \(limits.most) associations; raise associations"
        case .associationsPerPeer:
            "rejected \(client): its host has \(limits.mostOfHost) associations; raise associationsPerPeer"
        case .handshakeRate: Self.rateText(client, limits.handshakesPerSecond)
        case .handshakeRatePerPeer: Self.rateText(client, limits.handshakesOfHostPerSecond, " by its host")
        case .handshakeTime, .handshake, .certificate, .pskIdentity, .pskKey:
            "rejected \(client): DTLS handshake failed: \(fault)"
        case .idle: "closed the association of \(client): idle for longer than associationIdle"
        case .withdrawn: "closed the association of \(client): \(fault)"
        case .failed: "closed the association of \(client): OpenSSL error"
        case .noAssociation:
            "dropped a datagram of \(client): there is no association; the client must start with a handshake"
        case .noRecord: "dropped a datagram of \(client): it is not DTLS 1.2"
        case .badRecord:
            "dropped a record from \(client): it is too short for its cipher, or malformed, and may be forged"
        case .earlyRecord:
            "dropped a record from \(client): too many encrypted records before the end of its handshake"
        }
    }

    private static func rateText(_ client: String, _ most: Int, _ ofWhom: String = "") -> String {
        "delayed \(client): more than \(most) handshakes per second\(ofWhom); the client retries, or raise "
            + "handshakeRate"
    }
}
