import KymographCore
import KymographTemplates

/// An Azure event hub, or another door that takes the same requests: `eventhub: vitals`.
package struct EventHubSettings: SinkAddress {
    /// Name of the hub.
    package var hub = ""
    /// File with the connection string; like all secrets, one that nobody else can read.
    package var connectionStringFile: String?
    /// Variable of the environment with the connection string.
    package var connectionStringVariable: String?
    /// Which events are in one request.
    package var partitioning = EventPartitioning.device
    /// Most bytes of a request.
    package var maxBytes = 1 << 20
    /// Most requests at once.
    package var connections = 32

    /// No hub.
    init() {}

    /// The kind.
    package static let descriptor = SinkDescriptor(
        key: "eventhub",
        place: .single(
            "eventhub", "name", "Azure event hub that gets readings, or resources, as events",
            read: { (text, settings) throws(SettingProblem) in
                guard ConnectionString.isHub(text) else {
                    throw SettingProblem(
                        message: "'\(text)' is no name of an event hub",
                        advice: "write letters, digits, '.', '-' or '_'")
                }
                settings.hub = text
            },
            shown: { $0.hub }),
        settings: [
            .single(
                "connectionStringFile", "file",
                "Connection string of the hub or its namespace: `Endpoint=sb://…;SharedAccessKeyName=…;…`",
                read: { (text, settings) throws(SettingProblem) in
                    try EventHubSettings.refuseSecret(text, "write it into a file of mode 0600, and name that here")
                    settings.connectionStringFile = text
                },
                shown: { $0.connectionStringFile ?? "" }),
            .single(
                "connectionStringVariable", "name",
                "Variable of the environment with the connection string, in place of a file",
                read: { (text, settings) throws(SettingProblem) in
                    try EventHubSettings.refuseSecret(text, "name a variable that holds it")
                    settings.connectionStringVariable = text
                },
                shown: { $0.connectionStringVariable ?? "" }),
            .choice(
                "partitionKey", \.partitioning, [("device", .device), ("none", .none)],
                "What requests to a hub have in common: `device` sends those of each device with its identifier as "
                    + "partition key, `none` those of many without one"),
            .size(
                "maxRequestBytes", \.maxBytes, 1_024...(1 << 20),
                "Most bytes of a request to a hub: 1 MiB, and 256 KiB in the tier Basic"),
            .count("hubConnections", \.connections, 1...1_000, "Most requests to a hub at once"),
        ],
        start: EventHubSettings(), capabilities: [.mayBeAway, .events, .prefersEvents, .answers])

    /// Refuses a connection string in the place of where it is, without saying anything of it.
    private static func refuseSecret(_ text: String, _ advice: String) throws(SettingProblem) {
        let lower = text.lowercased()
        guard !text.isEmpty, !text.contains(";"), !lower.contains("sharedaccess"), !lower.hasPrefix("endpoint=") else {
            throw SettingProblem(
                message: text.isEmpty ? "the value is empty" : "it is the connection string itself", advice: advice)
        }
    }

    /// The name of the hub.
    package var text: String { hub }
    /// Several sinks can send to one hub.
    package var claim: String? { nil }

    private var secret: HubSecret? {
        connectionStringFile.map { .file(SecretFile($0)) } ?? connectionStringVariable.map { .variable($0) }
    }

    /// The setting that names the connection string.
    private var secretKey: String {
        connectionStringFile == nil ? "connectionStringVariable" : "connectionStringFile"
    }

    /// There must be one connection string.
    package func findings(_ circumstances: SinkCircumstances) -> [SinkFinding] {
        var found: [SinkFinding] = []
        if secret == nil {
            found.append(
                SinkFinding(
                    .error, "an event hub needs a connection string",
                    advice: "write it into a file of mode 0600, and name that as connectionStringFile"))
        } else if connectionStringFile != nil, connectionStringVariable != nil {
            found.append(
                SinkFinding(
                    .error, key: "connectionStringVariable", "the connection string is given by a file, too",
                    advice: "remove one of them"))
        }
        if circumstances.keepsNothing {
            found.append(
                SinkFinding(
                    .error, pipelineKey: "ephemeral", "what a hub has not taken must wait on the disk",
                    advice: "remove ephemeral, or name a directory with data"))
        }
        return found
    }

    /// What is wrong with the connection string.
    package func obstacles(_ opening: SinkOpening) -> [SinkObstacle] {
        guard let secret else { return [] }
        if let problem = CurlText.loadingProblem {
            return [
                SinkObstacle(
                    "\(opening.name): libcurl cannot be loaded: \(problem); install it (on Debian: libcurl4)",
                    exitCode: ExitStatus.config)
            ]
        }
        do throws(SecretFault) {
            _ = try access(secret)
            return []
        } catch {
            return [
                SinkObstacle(
                    key: secretKey, "\(opening.name): \(secretKey): \(error.message)", exitCode: ExitStatus.config)
            ]
        }
    }

    /// Sends the hub a batch without events, which brings nothing: a policy that may only send may ask nothing else.
    /// Waits for the answer.
    package func answer(_ opening: SinkOpening) -> [SinkObstacle] {
        guard let secret else { return [] }
        let settings: HubSettings
        do throws(SecretFault) { settings = try access(secret) } catch { return [] }
        let transport = CurlTransport(HTTPSettings())
        defer { transport.close() }
        var request = HubRequest.of([], key: nil, settings)
        let signed = AwaitedValue<Result<String?, AuthorizationFailure>>.waiting {
            HubAuthorizer(secret, resource: settings.url).authorize(completion: $0)
        }
        switch signed {
        case .failure(let failure):
            let text = "\(opening.name): \(secretKey): \(failure.message)"
            return [SinkObstacle(key: secretKey, text, exitCode: ExitStatus.config)]
        case .success(let value): if let value { request.headers.append(("Authorization", value)) }
        }
        let reply = AwaitedValue<Result<HTTPResponse, HTTPFailure>>.waiting {
            transport.submit(request, completion: $0)
        }
        switch reply {
        case .failure(let failure):
            return [SinkObstacle("\(opening.name): \(failure.message)", exitCode: ExitStatus.unavailable)]
        case .success(let response): return [judge(response.status, settings, opening)]
        }
    }

    /// Says what is wrong with the hub, or that it answers: that it does not like a batch without events is an answer,
    /// of which nobody knows whether it was given before or after a look at the credentials.
    private func judge(_ status: Int, _ settings: HubSettings, _ opening: SinkOpening) -> SinkObstacle {
        switch status {
        case 200..<300: SinkObstacle("\(settings.url) answers, and takes the credentials", exitCode: 0)
        case 400:
            SinkObstacle(
                "\(settings.url) answers 400: it refuses a batch without events, and may not have looked at the "
                    + "credentials", exitCode: 0)
        case 401, 403:
            SinkObstacle(
                key: secretKey,
                "\(opening.name): the hub refuses the credentials (\(status)); check the policy, which must have the "
                    + "right to send, and its key", exitCode: ExitStatus.noPermission)
        case 404, 410:
            SinkObstacle(
                "\(opening.name): there is no hub at \(settings.url) (\(status)); check its name",
                exitCode: ExitStatus.config)
        default:
            SinkObstacle(
                "\(opening.name): the hub answers \(status)",
                exitCode: status == 408 || status == 429 || status >= 500 ? ExitStatus.unavailable : ExitStatus.config)
        }
    }

    /// How the hub is delivered to, and the URL that is signed.
    private func access(_ secret: HubSecret, keepsReceipts: Bool = false) throws(SecretFault) -> HubSettings {
        let string = try secret.read().value
        if let path = string.entityPath, path.lowercased() != hub.lowercased() {
            throw SecretFault(isRetriable: false, message: "its EntityPath is another hub than \(hub)")
        }
        var settings = HubSettings(url: "\(string.endpoint)/\(hub)")
        settings.partitioning = partitioning
        settings.maxBytes = maxBytes
        settings.connections = connections
        settings.keepsReceipts = keepsReceipts
        settings.timeout = string.timeout ?? settings.timeout
        return settings
    }

    /// Takes entries from the outbox, once there is one.
    package func open(_ opening: SinkOpening) -> OpenedSink {
        let (name, keepsReceipts) = (opening.name, opening.keepsReceipts)
        return .delivery { (outbox) throws(PipelineError) in
            guard let secret else {
                throw PipelineError(message: "\(name): there is no connection string", exitCode: ExitStatus.config)
            }
            if let obstacle = obstacles(opening).first {
                throw PipelineError(message: obstacle.message, exitCode: obstacle.exitCode)
            }
            let settings: HubSettings
            do throws(SecretFault) {
                settings = try access(secret, keepsReceipts: keepsReceipts)
            } catch {
                throw PipelineError(message: "\(name): \(error.message)", exitCode: ExitStatus.config)
            }
            return try EventHubSettings.deliver(outbox, settings, secret)
        }
    }

    private static func deliver(
        _ outbox: any OutboxQueue, _ settings: HubSettings, _ secret: HubSecret
    ) throws(PipelineError) -> any SinkDelivery {
        var http = HTTPSettings()
        http.connectionsPerHost = settings.connections
        let transport = CurlTransport(http)
        let authorizer = HubAuthorizer(secret, resource: settings.url)
        do throws(SystemError) {
            let delivery = try ServerDelivery(base: settings.url) { inbox in
                HubEngine(settings, queue: outbox, transport: transport, authorizer: authorizer, inbox: inbox)
            }
            return OpenedServer(delivery, transport)
        } catch {
            throw PipelineError(error)
        }
    }
}
