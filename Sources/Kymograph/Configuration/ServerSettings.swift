import KymographCore

/// The FHIR server of the configuration: the keys under `server`, as they were written.
package struct ServerSettings: Sendable {
    /// Authentication method.
    package enum Authorization: String, Sendable, CaseIterable {
        /// It does not ask.
        case none
        /// A token in `tokenFile`.
        case bearer
        /// `user` and `passwordFile`.
        case basic
        /// OAuth 2 client credentials: `clientId` and `secretFile`.
        case oauth
        /// SMART Backend Services: `clientId`, `keyFile` and `keyId`.
        case smart
    }

    /// Base URL; nil when there is no server.
    package var url: String?
    /// Where Patients and Devices come from; there is no default.
    package var identity: ResourceIdentityMode?
    /// Authentication method.
    package var authorization = Authorization.none
    /// File of the bearer token; like all secrets, one that nobody else can read.
    package var tokenFile: String?
    /// User of basic authorization.
    package var user: String?
    /// File of that user's password.
    package var passwordFile: String?
    /// Client of OAuth 2 and SMART Backend Services.
    package var clientID: String?
    /// File of the client's secret.
    package var secretFile: String?
    /// File of the client's private key, PEM.
    package var keyFile: String?
    /// `kid` of that key in the registered key set.
    package var keyID: String?
    /// Scopes to ask for.
    package var scope: String?
    /// Token endpoint; nil for the one that the server names.
    package var tokenURL: String?
    /// Authorities to trust in place of the system's.
    package var caFile: String?
    /// File of the certificate that the server is shown.
    package var certificateFile: String?
    /// File of that certificate's key; nil when it is in the same file.
    package var certificateKeyFile: String?
    /// Whether bodies are sent compressed.
    package var gzip = false
    /// Longest time of a request, in nanoseconds.
    package var timeout: Int64 = 30_000_000_000
    /// Most requests at once.
    package var connections = 8
    /// How long an answer about a Device, Patient or Encounter is used, in nanoseconds.
    package var identityMaxAge: Int64 = 600_000_000_000

    /// No server.
    package init() {}

    /// Whether there is one.
    package var isNamed: Bool { url != nil }

    /// Access to the server, which must be named.
    var access: ServerAccess {
        var http = HTTPSettings()
        http.caFile = caFile
        http.connectionsPerHost = connections
        http.compressesBodies = gzip
        if let certificateFile {
            http.clientCertificate = HTTPSettings.ClientCertificate(
                certificateFile: certificateFile, keyFile: certificateKeyFile ?? certificateFile)
        }
        var access = ServerAccess(url: url ?? "", authorization: authorized, http: http)
        access.requestTimeout = Int(timeout / 1_000_000)
        return access
    }

    private var authorized: ServerAuthorization {
        func file(_ path: String?) -> SecretFile { SecretFile(path ?? "") }
        switch authorization {
        case .none: return .open
        case .bearer: return .bearer(file(tokenFile))
        case .basic: return .basic(user: user ?? "", password: file(passwordFile))
        case .oauth: return .oauth(client(.secret(file(secretFile))))
        case .smart: return .oauth(client(.signature(key: file(keyFile), identifier: keyID ?? "")))
        }
    }

    private func client(_ proof: OAuthClient.Proof) -> OAuthClient {
        OAuthClient(identifier: clientID ?? "", proof: proof, scope: scope ?? "", tokenURL: tokenURL)
    }

    /// The base URL as sinks are named by it: without final slash.
    var base: String {
        var base = url ?? ""
        while base.hasSuffix("/") { base.removeLast() }
        return base
    }

    /// The key, without `server.`, whose value a fault of ``ServerAccess`` is about.
    static func key(ofFault setting: String) -> String {
        let names = [
            "http.caFile": "caFile", "http.clientCertificate.certificateFile": "certificateFile",
            "http.clientCertificate.keyFile": "certificateKeyFile", "http.connectionsPerHost": "connections",
            "requestTimeout": "timeout", "authorization.client": "clientId", "authorization.tokenURL": "tokenUrl",
            "authorization.keyIdentifier": "keyId",
        ]
        return names[setting] ?? setting.split(separator: ".").last.map(String.init) ?? "url"
    }
}

extension PipelineSettings {
    /// How `server` is delivered to.
    func deliverySettings(_ server: ServerSettings, _ mode: ResourceIdentityMode) -> DeliverySettings {
        var delivery = DeliverySettings(base: server.url ?? "", identity: mode)
        delivery.version = output.version
        delivery.compatibility = compatibility
        delivery.maxEntries = bundleEntries
        delivery.maxBytes = bundleBytes
        delivery.maxConcurrency = server.connections
        delivery.timeout = Int(server.timeout / 1_000_000)
        delivery.identityMaxAge = server.identityMaxAge
        delivery.systems = ReferenceSystems(output, compatibility: compatibility)
        return delivery
    }
}
