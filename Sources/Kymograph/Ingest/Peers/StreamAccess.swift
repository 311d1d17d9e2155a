import KymographCore

/// Who sent what comes again, in place of who sends it now.
struct FormerPeer {
    /// The name of the peer; nil for none.
    var name: IdentifierText?
    /// Whose its readings were, where that was fixed.
    var patient: FixedPatient
    /// The device that the certificate of its client named, where that said what it may bring.
    var device: CertifiedDevice?
}

/// Who sends on one stream, by the list of peers of its source. Of the lane's thread.
final class StreamAccess {
    private let book: PeerBook
    /// The peer that sent it once, in place of who sends it now.
    private let former: FormerPeer?
    private var list: PeerList?
    private var identity: PeerIdentity?
    private var peer: PeerList.Peer?
    /// Whether what comes is requests, each of which may bear a token.
    private let hasRequests: Bool

    /// A stream of a source with the peers of `book`.
    init(_ book: PeerBook, former: FormerPeer?, hasRequests: Bool) {
        self.book = book
        self.former = former
        self.hasRequests = hasRequests
    }

    /// Whether nothing that comes can be let in.
    var isRefused: Bool { former == nil && peer == nil && !(hasRequests && list?.hasCredentials ?? false) }

    /// What is taken that bears no token.
    var admission: PeerAdmission {
        guard let peer else { return former.map(PeerAdmission.init(unknown:)) ?? .nobody }
        return hasRequests ? peer.requested : peer.single
    }

    /// What is taken of a request that bears `credential`, or none, at `now`; nil when it is not known who sends it.
    func admission(bearing credential: RequestCredential?, at now: Instant) -> PeerAdmission? {
        guard let credential else { return peer?.requested }
        return list?.peer(bearing: credential, at: now)?.requested
    }

    /// Looks who it is, by `identity`, and whether the list is still the same.
    func refresh(_ identity: () -> PeerIdentity, note: (String) -> Void) {
        let current = book.current(note: note)
        guard current !== list else { return }
        list = current
        if let former {
            let found = former.name.flatMap { current.peer(named: $0, device: former.device) }
            // Readings of another's time are none of whom the list names now.
            peer = found.flatMap { former.patient.permits($0.fixedPatient) ? $0 : nil }
            return
        }
        let known = self.identity ?? identity()
        self.identity = known
        peer = current.peer(known)
    }
}
