/// Why a UDP socket that speaks DTLS has not taken a datagram, or has ended an association.
package enum AssociationRefusal: String, CaseIterable, Sendable {
    /// As many associations as there may be.
    case associations
    /// As many of one host.
    case associationsPerPeer
    /// As many handshakes a second as there may begin.
    case handshakeRate
    /// As many of one host.
    case handshakeRatePerPeer
    /// A handshake that took too long.
    case handshakeTime
    /// A handshake that does not follow the protocol, or has no cipher that is here.
    case handshake
    /// A client without a good certificate.
    case certificate
    /// A client whose pre-shared key has an identity that is not known.
    case pskIdentity
    /// A client that has shown nothing that is sealed with the key of its identity.
    case pskKey
    /// An association that was silent for too long.
    case idle
    /// An association whose key or certificate is not good any more.
    case withdrawn
    /// An association that OpenSSL has given up.
    case failed
    /// A datagram of an association that there is not, or not any more.
    case noAssociation
    /// A datagram that is none of DTLS 1.2.
    case noRecord
    /// A record that no client sends.
    case badRecord
    /// An encrypted record of a handshake that is not done, beyond those that it may have.
    case earlyRecord

    /// Whether it is of a handshake that has failed.
    var isOfHandshake: Bool {
        [.handshakeTime, .handshake, .certificate, .pskIdentity, .pskKey].contains(self)
    }

    /// Whether it is of a client that has not shown who it is.
    var isOfLogin: Bool { [.certificate, .pskIdentity, .pskKey].contains(self) }

    /// Whether it is of a limit that a new client has met.
    var isOfLimit: Bool {
        [.associations, .associationsPerPeer, .handshakeRate, .handshakeRatePerPeer].contains(self)
    }
}

/// How often each.
package struct AssociationRefusals: Hashable, Sendable {
    private var counts: [AssociationRefusal: UInt64] = [:]

    /// None.
    package init() {}

    /// Those of one reason.
    package subscript(refusal: AssociationRefusal) -> UInt64 {
        get { counts[refusal, default: 0] }
        set { counts[refusal] = newValue }
    }

    /// Adds others.
    mutating func add(_ other: AssociationRefusals) { counts.merge(other.counts, uniquingKeysWith: +) }
}
