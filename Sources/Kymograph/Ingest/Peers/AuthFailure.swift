/// What did not show that a sender is one of the source's list of peers.
package enum AuthFailure: String, CaseIterable, Sendable {
    /// A token or secret of a request, or none where one is wanted.
    case token
    /// The signature of a request.
    case signature
    /// The certificate of a client.
    case certificate
    /// The identity of the pre-shared key of a client.
    case psk
    /// The key of a sealed datagram.
    case sealedKey
    /// The user of a process.
    case user
    /// The address of a client or datagram.
    case address
}

/// How many failures of each kind there were.
package struct AuthFailures: Hashable, Sendable {
    private var token: UInt64 = 0
    private var signature: UInt64 = 0
    private var certificate: UInt64 = 0
    private var psk: UInt64 = 0
    private var sealedKey: UInt64 = 0
    private var user: UInt64 = 0
    private var address: UInt64 = 0

    /// None.
    package init() {}

    /// Those of one kind.
    package subscript(failure: AuthFailure) -> UInt64 {
        get { self[keyPath: Self.path(failure)] }
        set { self[keyPath: Self.path(failure)] = newValue }
    }

    /// Adds others.
    mutating func add(_ other: AuthFailures) {
        for failure in AuthFailure.allCases { self[failure] += other[failure] }
    }

    private static func path(_ failure: AuthFailure) -> WritableKeyPath<AuthFailures, UInt64> {
        switch failure {
        case .token: \.token
        case .signature: \.signature
        case .certificate: \.certificate
        case .psk: \.psk
        case .sealedKey: \.sealedKey
        case .user: \.user
        case .address: \.address
        }
    }
}
