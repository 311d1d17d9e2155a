import KymographCore

/// A FHIR server: the keys under `server`, or of an element of `sinks`, as they were written.
package struct ServerSettings: SinkAddress {
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

    /// What becomes of an Observation all of whose readings were an error.
    package enum Emptied: String, Sendable, CaseIterable {
        /// It stays, with that status and without values.
        case enteredInError = "entered-in-error"
        /// The server is to delete it.
        case delete
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
    /// What becomes of an Observation all of whose readings were an error.
    package var emptied = Emptied.enteredInError

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
}

extension ServerSettings {
    /// The kind.
    package static let descriptor = SinkDescriptor(
        key: "server", place: keys[0], settings: Array(keys.dropFirst()), start: ServerSettings(),
        capabilities: [.mayBeAway, .answers])

    /// Its settings, that of the place first.
    static let keys: [Setting<ServerSettings>] = [
        .text("url", "URL", \.url, "Base URL of the FHIR server that gets all bundles"),
        .choice(
            "identity", \.identity,
            [("create", .create), ("lookup", .lookup), ("lookupWithEncounter", .lookupWithEncounter)],
            "Where Patients and Devices come from: made by kymo, or looked up; must be said"),
        .choice(
            "authorization", \.authorization,
            ServerSettings.Authorization.allCases.map { ($0.rawValue, $0) }, "Authentication method"),
        .text("tokenFile", "file", \.tokenFile, "Bearer token"),
        .text("user", "text", \.user, "User of basic authorization"),
        .text("passwordFile", "file", \.passwordFile, "Password of basic authorization"),
        .text("clientId", "text", \.clientID, "Client of OAuth 2 and SMART Backend Services"),
        .text("secretFile", "file", \.secretFile, "Client secret of OAuth 2"),
        .text("keyFile", "file", \.keyFile, "Private key of SMART Backend Services, PEM"),
        .text("keyId", "text", \.keyID, "`kid` of that key in the registered key set"),
        .text("scope", "text", \.scope, "Scopes to ask for, such as `system/*.cruds`"),
        .text("tokenUrl", "URL", \.tokenURL, "Token endpoint; left out, the one that the server names"),
        .text("caFile", "file", \.caFile, "Authorities to trust in place of the system's, PEM"),
        .text("certificateFile", "file", \.certificateFile, "Client certificate, PEM"),
        .text("certificateKeyFile", "file", \.certificateKeyFile, "Key of the client certificate, PEM"),
        .choice("gzip", \.gzip, [("true", true), ("false", false)], "Whether bodies are compressed"),
        .duration("timeout", \.timeout, atLeast: 1_000_000, "Longest time of a request"),
        .count("connections", \.connections, 1...1_000, "Most requests at once"),
        .duration(
            "identityMaxAge", \.identityMaxAge, atLeast: 1_000_000_000,
            "How long the server's answer about a Device, Patient or Encounter is used before it is asked again"),
        .choice(
            "emptied", \.emptied, Emptied.allCases.map { ($0.rawValue, $0) },
            "What becomes of an Observation that has lost all readings: it stays as `entered-in-error`, or is deleted"
        ),
    ]

    /// Those of the server that gets AuditEvents.
    static let auditKeys: [Setting<ServerSettings>] =
        [
            .text(
                "url", "URL", \.url,
                "Base URL of a FHIR server that gets the audit trail as AuditEvents ([audit](audit.md))")
        ]
        + keys.filter { key in
            key.key == "authorization" || key.key == "timeout"
                || ["File", "Id", "Url"].contains { key.key.hasSuffix($0) } || ["user", "scope"].contains(key.key)
        }

    /// The base URL.
    package var text: String { base }
    /// Several sinks can send to one server.
    package var claim: String? { nil }

    /// Takes entries from the outbox, once there is one.
    package func open(_ opening: SinkOpening) -> OpenedSink {
        let (name, output, compatibility) = (opening.name, opening.output, opening.compatibility)
        let (entries, bytes) = (opening.bundleEntries, opening.bundleBytes)
        let keepsSubjects = opening.keepsReceipts
        return .delivery { (outbox) throws(PipelineError) in
            guard let identity else {
                throw PipelineError(message: "\(name): identity is not said", exitCode: ExitStatus.config)
            }
            var delivery = DeliverySettings(base: url ?? "", identity: identity)
            delivery.version = output.version
            delivery.compatibility = compatibility
            delivery.maxEntries = entries
            delivery.maxBytes = bytes
            delivery.keepsSubjects = keepsSubjects
            delivery.maxConcurrency = connections
            delivery.timeout = Int(timeout / 1_000_000)
            delivery.identityMaxAge = identityMaxAge
            delivery.deletesEmptied = emptied == .delete
            delivery.systems = ReferenceSystems(output, compatibility: compatibility)
            return try OpenedServer(self, name: name, delivery, outbox)
        }
    }
}
