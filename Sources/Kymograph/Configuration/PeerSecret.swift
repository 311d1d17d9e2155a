import KymographCore

/// A secret by which the requests of a peer prove who sends them, by the key that names its file in a list of peers.
enum PeerSecret: String, Sendable {
    case token = "tokenFile"
    case sharedAccess = "sharedAccessKeyFile"
    case webhook = "webhookSecretFile"
    case nightscout = "nightscoutSecretFile"

    /// Fewest characters of a secret; of one of Nightscout as many as Nightscout demands (API_SECRET).
    private static let (least, leastOfNightscout) = (16, 12)

    /// What the file is, for people.
    var about: String {
        switch self {
        case .token: "File with the token that its requests bear; http only"
        case .sharedAccess: "File with the key by which it signs its requests, in its name; http only"
        case .webhook: "File with the secret by which it signs its requests as Standard Webhooks says; http only"
        case .nightscout: "File with the API_SECRET of a client of Nightscout; http only"
        }
    }

    /// What to do about a file without a good one.
    var advice: String {
        switch self {
        case .token, .sharedAccess: "make one with 'openssl rand -hex 32'"
        case .webhook: "copy the sender's secret, which begins with whsec_"
        case .nightscout: "make one with 'openssl rand -hex 32', and enter the same in the app"
        }
    }

    /// What is known of the secret in `file`, of the peer called `name`.
    ///
    /// - Throws: ``SecretFault`` when others can read it, or it is none.
    func proof(in file: SecretFile, of name: String) throws(SecretFault) -> PeerRule.Proof {
        switch self {
        case .token: return .token(try Self.token(file))
        case .sharedAccess:
            guard !name.isEmpty else {
                throw file.failure("is of no policy: state the SharedAccessKeyName as name")
            }
            // The text is the key, as Azure has it.
            return .sharedAccess(key: Array(try Self.text(file, "key", Self.least).utf8))
        case .webhook:
            guard let key = WebhookSignature.key(try file.line().0) else {
                throw file.failure("must hold 'whsec_' with Base64 of 24 bytes or more behind it, and nothing else")
            }
            return .webhook(key: key)
        case .nightscout:
            let secret = try Self.text(file, "secret", Self.leastOfNightscout)
            return .nightscout(TokenDigest.of(Array(SHA1Text.of(Array(secret.utf8)).utf8)))
        }
    }

    /// The digest of the token in `file`.
    private static func token(_ file: SecretFile) throws(SecretFault) -> [UInt8] {
        let token = try text(file, "token", least)
        guard BearerToken.isValid(token) else { throw file.failure("must hold a token and nothing else") }
        return TokenDigest.of(Array(token.utf8))
    }

    private static func text(_ file: SecretFile, _ word: String, _ least: Int) throws(SecretFault) -> String {
        let (text, _) = try file.line()
        guard text.utf8.count >= least else { throw file.failure("has a \(word) of less than \(least) characters") }
        return text
    }
}
