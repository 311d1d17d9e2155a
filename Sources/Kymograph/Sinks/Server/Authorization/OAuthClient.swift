/// A client that gets tokens by the OAuth 2 client credentials grant (RFC 6749, section 4.4), which SMART Backend
/// Services are a form of.
package struct OAuthClient: Hashable, Sendable {
    /// Where a secret stands in the request for a token.
    package enum SecretPlacement: Hashable, Sendable {
        /// In the `Authorization` field (`client_secret_basic`), which every server must understand.
        case header
        /// In the form (`client_secret_post`).
        case form
    }

    /// How the client proves who it is.
    package enum Proof: Hashable, Sendable {
        /// By a secret that the token endpoint knows, too.
        case secret(SecretFile, SecretPlacement = .header)
        /// By a signature, as SMART Backend Services want it: the key (PEM; RSA signs RS384, P-384 signs ES384) and its
        /// name (`kid`) in the key set that is registered with the server.
        case signature(key: SecretFile, identifier: String)
    }

    /// `client_id`.
    package var identifier: String
    /// How it proves who it is.
    package var proof: Proof
    /// What it asks to be allowed, such as `system/Observation.cu system/Device.cu system/Patient.cu`; empty for
    /// whatever the server gives it.
    package var scope: String
    /// URL of the token endpoint; nil when the server names it in `.well-known/smart-configuration`.
    package var tokenURL: String?

    /// A client.
    package init(identifier: String, proof: Proof, scope: String, tokenURL: String? = nil) {
        self.identifier = identifier
        self.proof = proof
        self.scope = scope
        self.tokenURL = tokenURL
    }
}
