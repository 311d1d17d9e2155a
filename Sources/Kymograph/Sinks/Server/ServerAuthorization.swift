/// Authentication method of a server.
package enum ServerAuthorization: Hashable, Sendable {
    /// It does not ask.
    case open
    /// By a token in a file (RFC 6750).
    case bearer(SecretFile)
    /// By a user's name and a password in a file (RFC 7617).
    case basic(user: String, password: SecretFile)
    /// By tokens of an OAuth 2 token endpoint: client credentials, or SMART Backend Services.
    case oauth(OAuthClient)
}
