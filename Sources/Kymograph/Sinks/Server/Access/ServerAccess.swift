/// How to get at a FHIR server: its address, how to connect, and who asks. Secrets are in files only.
package struct ServerAccess: Hashable, Sendable {
    /// What is wrong with the settings.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The setting at fault: `url`, `http.caFile`, `authorization.keyFile`, …
        package var setting: String
        /// What is wrong and what to do; never with secrets.
        package var message: String

        /// Setting and message.
        package var description: String { "\(setting): \(message)" }
    }

    /// Base URL of the server, such as `https://fhir.hospital.example/r4`.
    package var url: String
    /// Authentication method.
    package var authorization: ServerAuthorization
    /// How to connect.
    package var http: HTTPSettings
    /// Longest time for one request, from begin to end, in milliseconds.
    package var requestTimeout = 30_000
    /// Whether secrets may be sent without encryption to other machines. Only for networks where nobody else listens.
    package var allowsUnencryptedSecrets = false

    /// Access to the server at `url`.
    package init(
        url: String, authorization: ServerAuthorization = .open, http: HTTPSettings = HTTPSettings()
    ) {
        self.url = url
        self.authorization = authorization
        self.http = http
    }

    /// Checks everything that can be known without asking the server.
    ///
    /// - Throws: The first of ``faults(readingFiles:)``.
    package func validate() throws(Fault) {
        if let fault = faults().first { throw fault }
    }

    /// Starts a transport that connects as these settings say. Files are read when connections are made.
    package func makeTransport() -> CurlTransport {
        CurlTransport(http)
    }

    /// Makes what authorizes requests to this server; tokens are fetched by `transport`.
    ///
    /// - Throws: When a URL is none.
    package func makeAuthorizer(_ transport: any HTTPTransport) throws(Fault) -> any RequestAuthorizer {
        switch authorization {
        case .open: return OpenAuthorizer()
        case .bearer(let file): return SecretFileAuthorizer(.bearer, file: file)
        case .basic(let user, let file): return SecretFileAuthorizer(.basic(user: user), file: file)
        case .oauth(let client):
            let base = try Self.server(url, "url")
            do throws(ServerURL.Fault) {
                return try TokenAuthorizer(client, base: base, transport: transport, timeout: requestTimeout)
            } catch {
                throw Fault(setting: "authorization.tokenURL", message: error.description)
            }
        }
    }

    /// `text` as a URL.
    static func server(_ text: String, _ setting: String) throws(Fault) -> ServerURL {
        do throws(ServerURL.Fault) {
            return try ServerURL(text)
        } catch {
            throw Fault(setting: setting, message: error.description)
        }
    }
}

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
