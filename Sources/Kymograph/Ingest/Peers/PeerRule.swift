package import KymographCore

/// Who a peer is, and what it may bring: one entry of a list of peers, see docs/peers.md.
package struct PeerRule: Sendable {
    /// By what it is known.
    package enum Proof: Sendable {
        /// Nothing is stated.
        case nothing
        /// A name in the certificate of a client: its common name, or a subject alternative name. All names that begin
        /// alike are those of ``PeerRule/deviceFrom``.
        case certificate(IdentifierPattern)
        /// The identity of its pre-shared key.
        case pskIdentity([UInt8])
        /// The name of the key by which its datagrams are sealed.
        case sealedKey([UInt8])
        /// The SHA-256 of the token that requests bear.
        case token([UInt8])
        /// The key by which it signs its requests, in the name of ``PeerRule/name``, as clients of Azure do.
        case sharedAccess(key: [UInt8])
        /// The key by which it signs the bodies of its requests, as Standard Webhooks says.
        case webhook(key: [UInt8])
        /// The SHA-256 of what its requests have in `api-secret`, as clients of Nightscout send it.
        case nightscout([UInt8])
        /// Where it sends from.
        case addresses([NetworkRange])
        /// The user of a process of this machine.
        case user(UInt32)
    }

    /// By what it is known.
    package var proof = Proof.nothing
    /// What it is called in messages and dead letters.
    package var name = ""
    /// Devices that its readings may name; empty for any.
    package var devices: [IdentifierPattern] = []
    /// The name in a client's certificate that is its one device; nil where certificates do not say it.
    package var deviceFrom: CertificateName.Kind?
    /// Patients that its readings may name, one of which they must name; empty for any and none.
    package var patients: [IdentifierPattern] = []
    /// The patient of all its readings; nil when they may be of others.
    package var patient: [UInt8]?
    /// Mappings of its source that its payloads may use; empty for all.
    package var mappings: [IdentifierText] = []
    /// Tags that its readings get (``ReadingTags``).
    package var tags: [UInt8] = []
    /// Readings a second, and at once.
    package var readings = Rate(burst: 1_000)
    /// Readings of each of its devices a second, and at once.
    package var readingsOfDevice = Rate(burst: 1_000)
    /// Bytes of its payloads a second, and at once.
    package var bytes = Rate(burst: 1 << 20)

    /// What dead letters keep of ``patient``.
    var fixedPatient: FixedPatient { patient.map(FixedPatient.patient) ?? .absent }

    /// How much of something may come.
    package struct Rate: Sendable {
        /// A second; 0 for any number.
        package var perSecond = 0
        /// At once.
        package var burst: Int
    }

    /// What peers are called of which nothing is stated that others may hear.
    package static let (ofAddress, ofToken) = ("of its address", "of its token")

    /// Nothing stated.
    package init() {}
}
