package import KymographCore

/// What is known of the other end of a connection, or of the sender of a datagram.
struct PeerIdentity: Hashable, Sendable {
    /// Names in its certificate.
    var names: [CertificateName] = []
    /// The identity of its pre-shared key.
    var pskIdentity: [UInt8]?
    /// The name of the key by which its datagram is sealed.
    var sealedKey: [UInt8]?
    /// Bytes of its network address.
    var address: [UInt8]?
    /// The user of its process.
    var user: UInt32?

    /// What is counted of one that is none of the list.
    var failure: AuthFailure {
        if !names.isEmpty { return .certificate }
        if pskIdentity != nil { return .psk }
        return user == nil ? .address : .user
    }
}

/// Who may bring readings to a source. It never changes: ``PeerBook`` has another one when the file has changed.
package final class PeerList: Sendable {
    /// One of them.
    struct Peer: Sendable {
        /// Its readings that come one by one.
        let single: PeerAdmission
        /// Its readings in requests.
        let requested: PeerAdmission
        fileprivate let rule: PeerRule
        /// Whose its readings are, where that is fixed.
        var fixedPatient: FixedPatient { rule.fixedPatient }

        private let grant: PeerGrant

        fileprivate init(_ rule: PeerRule) { self.init(PeerGrant(rule)) }

        private init(_ grant: PeerGrant, _ device: CertifiedDevice? = nil) {
            (self.grant, rule) = (grant, grant.rule)
            single = PeerAdmission(grant, isCharged: false, device: device)
            requested = PeerAdmission(grant, isCharged: true, device: device)
        }

        /// Whether a certificate with `names` is of it. One with a name that cannot be read may be of all whose names
        /// begin alike.
        fileprivate func isNamed(_ names: [CertificateName]) -> Bool {
            guard case .certificate(let pattern) = rule.proof else { return false }
            return names.contains { name in
                guard pattern.isPrefix else {
                    return name.kind != .serialNumber && name.bytes?.withByteView(pattern.matches) ?? false
                }
                return name.kind == rule.deviceFrom && name.bytes?.withByteView(pattern.matches) ?? true
            }
        }

        /// The same for the one client whose certificate has `names`; nil when they do not say which device it is.
        fileprivate func certified(by names: [CertificateName]) -> Peer? {
            guard let kind = rule.deviceFrom else { return self }
            return CertifiedDevice(names, kind).flatMap(certified(as:))
        }

        /// The same for a client whose certificate names `device`; nil for one that is none of its.
        fileprivate func certified(as device: CertifiedDevice) -> Peer? {
            guard let kind = rule.deviceFrom else { return Peer(grant, device) }
            guard case .certificate(let pattern) = rule.proof, device.kind == kind,
                !pattern.isPrefix || device.bytes.withByteView(pattern.matches)
            else { return nil }
            return Peer(grant, device)
        }

        /// Whether it may bring readings of the series `key`: where certificates say of which device, by that of its.
        fileprivate func allows(_ key: ByteView) -> Bool {
            guard let kind = rule.deviceFrom else { return grant.allows(key, by: nil) }
            guard let device = CertifiedDevice(kind, SeriesKey.device(of: key).array), certified(as: device) != nil
            else { return false }
            return grant.allows(key, by: device)
        }
    }

    private let peers: [Peer]
    /// Those that are known by the name of a key: all keys of a file are looked up at once.
    private let ofSealedKeys: [[UInt8]: Peer]

    /// A list of `rules`, no two of which are of the same proof.
    package init(_ rules: [PeerRule]) {
        peers = rules.map(Peer.init)
        ofSealedKeys = peers.reduce(into: [:]) { known, peer in
            if case .sealedKey(let name) = peer.rule.proof { known[name] = peer }
        }
    }

    /// Whether a client of Nightscout, of whose readings the source says whose they are, is one of several peers, and
    /// no patient is stated for it: by another source it could bring readings of another's patient.
    package var hasUnboundUploader: Bool {
        peers.count > 1
            && peers.contains { peer in
                guard case .nightscout = peer.rule.proof else { return false }
                return peer.rule.patients.isEmpty && peer.rule.patient == nil
            }
    }

    /// How many there are.
    var count: Int { peers.count }

    /// Mappings that its peers may use, where not all of their source.
    package var mappings: [IdentifierText] { peers.flatMap(\.rule.mappings) }

    /// Tags that its peers give to their readings.
    var tagTexts: [String] { peers.flatMap { $0.rule.tags.withByteView(ReadingTags.texts) } }

    /// By what they are known.
    package var proofs: [PeerRule.Proof] { peers.map(\.rule.proof) }

    /// Whether requests may prove who sends them.
    var hasCredentials: Bool {
        peers.contains { peer in
            switch peer.rule.proof {
            case .token, .sharedAccess, .webhook, .nightscout: true
            case .nothing, .certificate, .pskIdentity, .sealedKey, .addresses, .user: false
            }
        }
    }

    /// The peer that `identity` is of: the one that its certificate names, or the identity of its pre-shared key, or
    /// else its process's user, or else the one with the smallest range of addresses. None when a certificate has the
    /// names of several, or does not say which device it is where it has to: it is not known which is meant. Of a
    /// sealed datagram nothing counts but its key.
    func peer(_ identity: PeerIdentity) -> Peer? {
        if let sealedKey = identity.sealedKey { return ofSealedKeys[sealedKey] }
        let named = peers.filter { $0.isNamed(identity.names) }
        guard named.isEmpty else { return named.count == 1 ? named[0].certified(by: identity.names) : nil }
        let ofKey = peers.first {
            if case .pskIdentity(let bytes) = $0.rule.proof { bytes == identity.pskIdentity } else { false }
        }
        if let ofKey { return ofKey }
        let ofUser = peers.first { if case .user(let user) = $0.rule.proof { user == identity.user } else { false } }
        return ofUser ?? identity.address.flatMap(peer(at:))
    }

    /// Whether any of them may bring readings of the series `key`, for its patient.
    func allows(_ key: ByteView) -> Bool { peers.contains { $0.allows(key) } }

    /// The peer called `name`, of which a letter says that it came, by a client whose certificate named `device`.
    func peer(named name: IdentifierText, device: CertifiedDevice?) -> Peer? {
        guard name.text != PeerRule.ofAddress, name.text != PeerRule.ofToken else { return nil }
        let found = peers.filter { $0.rule.name.utf8.elementsEqual(name.utf8) }
        guard found.count == 1 else { return nil }
        // Without a device nothing is taken that certificates have to bring.
        return device.map(found[0].certified(as:)) ?? found[0]
    }

    private func peer(at address: [UInt8]) -> Peer? {
        var (found, bits): (Peer?, Int) = (nil, -1)
        for peer in peers {
            guard case .addresses(let ranges) = peer.rule.proof else { continue }
            for range in ranges where range.bits > bits && range.contains(address) {
                (found, bits) = (peer, range.bits)
            }
        }
        return found
    }

    /// The peer that `credential` proves at `now`.
    func peer(bearing credential: RequestCredential, at now: Instant) -> Peer? {
        switch credential {
        case .token(let token): peer(bearing: token)
        case .signature(let signature, let target):
            peers.first { peer in
                guard case .sharedAccess(let key) = peer.rule.proof,
                    peer.rule.name.utf8.elementsEqual(signature.policy.utf8)
                else {
                    return false
                }
                return signature.isValid(for: target, key: key, at: now)
            }
        case .webhook(let signature, let body):
            peer(signing: body.map(signature.message), signature, at: now)
        case .hashedSecret(let text): peer(bearingHash: text)
        case .unknown, .malformedWebhook: nil
        }
    }

    /// The peer whose key has signed `message`; without one, the first that may have.
    private func peer(signing message: [UInt8]?, _ signature: WebhookSignature, at now: Instant) -> Peer? {
        guard signature.isTimely(at: now) else { return nil }
        return peers.first { peer in
            guard case .webhook(let key) = peer.rule.proof else { return false }
            return message.map { signature.isValid(for: $0, key: key) } ?? true
        }
    }

    /// The peer of whose secret `text` is the SHA-1 in hexadecimal digits.
    private func peer(bearingHash text: String) -> Peer? {
        let digest = TokenDigest.of(Array(text.lowercased().utf8))
        return peers.first { if case .nightscout(let known) = $0.rule.proof { known == digest } else { false } }
    }

    /// The peer whose token this is. Digests are compared, so that the time it takes tells nothing of a token.
    private func peer(bearing token: String) -> Peer? {
        let digest = TokenDigest.of(Array(token.utf8))
        return peers.first { if case .token(let known) = $0.rule.proof { known == digest } else { false } }
    }
}

/// By what a request proves who sends it.
enum RequestCredential {
    /// `Authorization: Bearer …`.
    case token(String)
    /// `Authorization: SharedAccessSignature …`, for what the request is sent to.
    case signature(SharedAccessSignature, RequestTarget)
    /// A signature of the body, and the body; nil while it has not come: then it is the peer that may be.
    case webhook(WebhookSignature, body: ArraySlice<UInt8>?)
    /// Fields of a signed webhook that are not there once each, or not well-formed.
    case malformedWebhook
    /// `api-secret: …`, the SHA-1 of a secret.
    case hashedSecret(String)
    /// A form that is not known.
    case unknown

    /// What is counted of a request with `credential`, or none, that is of none of the list.
    static func failure(of credential: RequestCredential?) -> AuthFailure {
        switch credential {
        case .signature, .webhook, .malformedWebhook: .signature
        case .token, .hashedSecret, .unknown, nil: .token
        }
    }

    /// Whether the body is needed to know who sends it.
    var isOfBody: Bool { if case .webhook = self { true } else { false } }
}

/// What is kept of a token.
package enum TokenDigest {
    /// The SHA-256 of `token`.
    package static func of(_ token: [UInt8]) -> [UInt8] {
        let digest = token.withByteView { Digest256.openSSL.of($0) }
        return digest.indices.map { digest[$0] }
    }
}
