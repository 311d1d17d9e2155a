/// How to get at a FHIR server: its address, how to connect, and who asks. Secrets are in files only.
public struct ServerAccess: Hashable, Sendable {
    /// What is wrong with the settings.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The setting at fault: `url`, `http.caFile`, `authorization.keyFile`, …
        public var setting: String
        /// What is wrong and what to do; never with secrets.
        public var message: String

        /// Setting and message.
        public var description: String { "\(setting): \(message)" }
    }

    /// Base URL of the server, such as `https://fhir.hospital.example/r4`.
    public var url: String
    /// Authentication method.
    public var authorization: ServerAuthorization
    /// How to connect.
    public var http: HTTPSettings
    /// Longest time for one request, from begin to end, in milliseconds.
    public var requestTimeout = 30_000
    /// Whether secrets may be sent without encryption to other machines. Only for networks where nobody else listens.
    public var allowsUnencryptedSecrets = false

    /// Access to the server at `url`.
    public init(
        url: String, authorization: ServerAuthorization = .open, http: HTTPSettings = HTTPSettings()
    ) {
        self.url = url
        self.authorization = authorization
        self.http = http
    }

    /// Checks everything that can be known without asking the server.
    ///
    /// - Throws: The first of ``faults(readingFiles:)``.
    public func validate() throws(Fault) {
        if let fault = faults().first { throw fault }
    }

    /// Starts a transport that connects as these settings say. Files are read when connections are made.
    public func makeTransport() -> CurlTransport {
        CurlTransport(http)
    }

    /// Makes what authorizes requests to this server; tokens are fetched by `transport`.
    ///
    /// - Throws: When a URL is none.
    public func makeAuthorizer(_ transport: any HTTPTransport) throws(Fault) -> any RequestAuthorizer {
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
