/// Why a UDP socket that speaks DTLS has not taken a datagram, or has ended an association.
package enum AssociationRefusal: String, CaseIterable, Sendable {
    /// As many associations as there may be.
    case associations
    /// As many of one host.
    case associationsPerPeer
    /// As many handshakes a second as there may begin.
    case handshakeRate
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
    /// A datagram of an association that there is not, or not any more.
    case noAssociation
    /// A datagram that is none of DTLS 1.2.
    case noRecord

    /// Whether it is of a handshake that has failed.
    var isOfHandshake: Bool {
        switch self {
        case .handshakeTime, .handshake, .certificate, .pskIdentity, .pskKey: true
        case .associations, .associationsPerPeer, .handshakeRate, .idle, .noAssociation, .noRecord: false
        }
    }

    /// Whether it is of a limit that a new client has met.
    var isOfLimit: Bool {
        switch self {
        case .associations, .associationsPerPeer, .handshakeRate: true
        case .handshakeTime, .handshake, .certificate, .pskIdentity, .pskKey, .idle, .noAssociation, .noRecord: false
        }
    }
}

/// How often each.
package struct AssociationRefusals: Hashable, Sendable {
    private var associations: UInt64 = 0
    private var associationsPerPeer: UInt64 = 0
    private var handshakeRate: UInt64 = 0
    private var handshakeTime: UInt64 = 0
    private var handshake: UInt64 = 0
    private var certificate: UInt64 = 0
    private var pskIdentity: UInt64 = 0
    private var pskKey: UInt64 = 0
    private var idle: UInt64 = 0
    private var noAssociation: UInt64 = 0
    private var noRecord: UInt64 = 0

    /// None.
    package init() {}

    /// Those of one reason.
    package subscript(refusal: AssociationRefusal) -> UInt64 {
        get { self[keyPath: Self.path(refusal)] }
        set { self[keyPath: Self.path(refusal)] = newValue }
    }

    /// Adds others.
    mutating func add(_ other: AssociationRefusals) {
        for refusal in AssociationRefusal.allCases { self[refusal] += other[refusal] }
    }

    private static func path(_ refusal: AssociationRefusal) -> WritableKeyPath<AssociationRefusals, UInt64> {
        switch refusal {
        case .associations: \.associations
        case .associationsPerPeer: \.associationsPerPeer
        case .handshakeRate: \.handshakeRate
        case .handshakeTime: \.handshakeTime
        case .handshake: \.handshake
        case .certificate: \.certificate
        case .pskIdentity: \.pskIdentity
        case .pskKey: \.pskKey
        case .idle: \.idle
        case .noAssociation: \.noAssociation
        case .noRecord: \.noRecord
        }
    }
}
