import KymographCore
import KymographTemplates

/// Reads the Observations of a FHIR server by a search, page by page.
struct ServerObservations {
    private let settings: ServerSettings
    private let base: String
    private let transport: CurlTransport
    private let authorizer: any RequestAuthorizer

    /// How often a request is sent that a server has no time for, and how long it is waited for before the next.
    private static let mostTries = 5
    private static let firstWait = 500

    /// - Throws: ``PipelineError`` for settings with which no server can be asked.
    init(_ settings: ServerSettings) throws(PipelineError) {
        self.settings = settings
        base = settings.base
        transport = settings.access.makeTransport()
        do throws(ServerAccess.Fault) {
            authorizer = try settings.access.makeAuthorizer(transport)
        } catch {
            throw PipelineError(message: error.description, exitCode: ExitStatus.config)
        }
    }

    func forEach(
        _ selection: ComparedSelection, _ body: (JSONNode, ReferencedIdentifiers) -> Void
    ) throws(PipelineError) {
        defer { transport.close() }
        var owners = ReferencedIdentifiers(side: base, base: base)
        var next: String? = first(selection)
        var seen: Set<IdentifierText> = []
        while let url = next {
            guard seen.insert(IdentifierText(url)).inserted else {
                throw PipelineError(
                    message: "\(base): the server's pages go round in a circle", exitCode: ExitStatus.unavailable)
            }
            let bundle = try bundle(url)
            let entries = bundle.child("entry")?.elements ?? []
            for entry in entries {
                if let resource = entry.child("resource") {
                    owners.note(resource, fullURL: entry.child("fullUrl")?.string)
                }
            }
            for case let observation? in entries.map({ $0.child("resource") })
            where observation.child("resourceType")?.string == "Observation" {
                try lookUp(observation, &owners)
                body(observation, owners)
            }
            next = try nextPage(bundle)
        }
    }

    private func first(_ selection: ComparedSelection) -> String {
        var query = "_count=500&_include=Observation:subject&_include=Observation:device"
        // A day more, since servers compare what an Observation covers, and not its beginning.
        let day: Int64 = 86_400_000_000_000
        if let from = selection.from { query += "&date=ge\(from.advanced(by: -day).text)" }
        if let to = selection.to { query += "&date=lt\(to.advanced(by: day).text)" }
        return "\(base)/Observation?\(query)"
    }

    /// Asks for the Patient, Device or Encounter that no page has brought.
    private func lookUp(_ observation: JSONNode, _ owners: inout ReferencedIdentifiers) throws(PipelineError) {
        for name in ["subject", "device", "encounter"] {
            guard let reference = observation.child(name), let unknown = owners.unknown(reference) else { continue }
            let response = try get("\(base)/\(unknown)")
            if response.status == 200, let resource = JSONNode.answer(response.body) {
                owners.note(resource, fullURL: nil)
            }
            if owners.unknown(reference) != nil { owners.note(missing: unknown) }
        }
    }

    private func nextPage(_ bundle: JSONNode) throws(PipelineError) -> String? {
        let links = bundle.child("link")?.elements ?? []
        guard let text = links.first(where: { $0.child("relation")?.string == "next" })?.child("url")?.string else {
            return nil
        }
        if text.hasPrefix(base + "/") || text.hasPrefix(base + "?") { return text }
        // With credentials of this server: another one must not get them.
        guard !text.contains("://"), !text.hasPrefix("/") else {
            throw PipelineError(
                message: "\(base): the next page is at another address; give the server's own base URL",
                exitCode: ExitStatus.config)
        }
        return "\(base)/\(text)"
    }

    private func bundle(_ url: String) throws(PipelineError) -> JSONNode {
        let response = try get(url)
        guard response.status == 200, let bundle = JSONNode.answer(response.body),
            bundle.child("resourceType")?.string == "Bundle"
        else {
            let isDenied = response.status == 401 || response.status == 403
            throw PipelineError(
                message:
                    "\(base)/Observation gives no Bundle (status \(response.status)): is it the base URL of a FHIR "
                    + "server, and may this client search?",
                exitCode: isDenied ? ExitStatus.noPermission : ExitStatus.unavailable)
        }
        return bundle
    }

    private func get(_ url: String) throws(PipelineError) -> HTTPResponse {
        var wait = Self.firstWait
        for _ in 1..<Self.mostTries {
            do throws(PipelineError) {
                let response = try answer(url)
                if !Self.isBusy(response) { return response }
            } catch {
                // Refused credentials stay refused, and each try may count against the client.
                guard error.exitCode == ExitStatus.unavailable else { throw error }
            }
            Wait.milliseconds(wait)
            wait *= 2
        }
        return try answer(url)
    }

    private static func isBusy(_ response: HTTPResponse) -> Bool {
        response.status >= 500 || [408, 425, 429].contains(response.status)
    }

    private func answer(_ url: String) throws(PipelineError) -> HTTPResponse {
        var headers: [(name: String, value: String)] = [("Accept", "application/fhir+json")]
        switch AwaitedValue<Result<String?, AuthorizationFailure>>.waiting({ authorizer.authorize(completion: $0) }) {
        case .failure(let failure):
            throw PipelineError(
                message: failure.message,
                exitCode: failure.isRetriable ? ExitStatus.unavailable : ExitStatus.noPermission)
        case .success(let value):
            if let value { headers.append(("Authorization", value)) }
        }
        let request = HTTPRequest("GET", url, headers: headers, timeout: settings.access.requestTimeout)
        switch AwaitedValue<Result<HTTPResponse, HTTPFailure>>.waiting({ transport.submit(request, completion: $0) }) {
        case .failure(let failure): throw PipelineError(message: failure.message, exitCode: ExitStatus.unavailable)
        case .success(let response): return response
        }
    }
}
