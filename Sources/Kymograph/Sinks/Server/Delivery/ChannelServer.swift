import KymographCore
import KymographTemplates

/// Single resources on the server of a channel.
final class ChannelServer: ResourceServer {
    private let channel: ServerChannel
    private let settings: DeliverySettings
    private let hooks: RetryHooks
    /// Whether searches are to look at what is there now, not at what an earlier one has found.
    private let isFresh: Bool
    /// How long the next request waits, in nanoseconds.
    private var wait: Int64
    /// How often what was to be updated was gone, and how often that is believed: after that the set-up is wrong.
    private var absences = 0
    private static let mostAbsences = 5

    init(
        _ channel: ServerChannel, _ settings: DeliverySettings, _ hooks: RetryHooks = RetryHooks(),
        isFresh: Bool = false
    ) {
        self.channel = channel
        self.settings = settings
        self.hooks = hooks
        self.isFresh = isFresh
        wait = hooks.wait
    }

    func search(_ identifier: ServerIdentifier, completion: @escaping (Result<[JSONNode], ServerRefusal>) -> Void) {
        searchAll(identifier) { completion($0.map(\.found)) }
    }

    /// All that a search for `identifier` finds.
    func searchAll(
        _ identifier: ServerIdentifier, completion: @escaping (Result<SearchPages, ServerRefusal>) -> Void
    ) {
        search(identifier, "\(settings.base)/\(identifier.type)?\(identifier.query)", SearchPages(), completion)
    }

    /// Asks for the page of a search at `url`, and for those after it: another resource of the identifier may be there.
    private func search(
        _ identifier: ServerIdentifier, _ url: String, _ earlier: SearchPages,
        _ completion: @escaping (Result<SearchPages, ServerRefusal>) -> Void
    ) {
        var headers = [(name: "Accept", value: settings.version.contentType)]
        if isFresh { headers.append(("Cache-Control", "no-cache")) }
        let request = HTTPRequest("GET", url, headers: headers, timeout: settings.timeout)
        var page: SearchPage?
        send(request) { response in
            page = SearchPage(response.body, type: identifier.type)
            return page != nil
        } completion: { [self] result in
            guard case .success = result, let page else { return completion(result.map { _ in earlier }) }
            var pages = earlier
            pages.add(page, namedBy: identifier, anySystem: settings.compatibility == .iomtFHIR)
            guard let next = page.next else { return completion(.success(pages)) }
            guard let url = pages.url(of: next, base: settings.base) else {
                return completion(.failure(SearchPages.endless(identifier)))
            }
            search(identifier, url, pages, completion)
        }
    }

    func update(
        _ resource: JSONNode, version: String?, completion: @escaping (Result<StoredResource, ServerRefusal>) -> Void
    ) {
        let type = resource.child("resourceType")?.string ?? ""
        let id = resource.child("id")?.string ?? ""
        var headers = writeHeaders
        if let version, !version.isEmpty { headers.append(("If-Match", version)) }
        write(HTTPRequest("PUT", "\(settings.base)/\(type)/\(id)", headers: headers), resource) { result in
            completion(
                result.map {
                    var stored = $0
                    stored.id = stored.id ?? id
                    return stored
                })
        }
    }

    func create(
        _ resource: JSONNode, unless identifier: ServerIdentifier,
        completion: @escaping (Result<StoredResource, ServerRefusal>) -> Void
    ) {
        let query = identifier.query
        let type = resource.child("resourceType")?.string ?? ""
        let headers = writeHeaders + [("If-None-Exist", query)]
        write(HTTPRequest("POST", "\(settings.base)/\(type)", headers: headers), resource, completion)
    }

    /// Deletes the resource of `type` that has `id` on the server; with `version`, only if that is the one that the
    /// server has. Gives the status of its answer.
    func delete(
        _ type: String, id: String, version: String?, completion: @escaping (Result<Int, ServerRefusal>) -> Void
    ) {
        var headers = [(name: "Accept", value: settings.version.contentType)]
        if let version { headers.append(("If-Match", version)) }
        let request = HTTPRequest(
            "DELETE", "\(settings.base)/\(type)/\(id)", headers: headers, timeout: settings.timeout)
        send(request) { _ in
            true
        } completion: { result in
            completion(result.map(\.status))
        }
    }

    private var writeHeaders: [(name: String, value: String)] {
        [
            ("Content-Type", settings.version.contentType), ("Accept", settings.version.contentType),
            ("Prefer", "return=minimal"),
        ]
    }

    private func write(
        _ request: HTTPRequest, _ resource: JSONNode,
        _ completion: @escaping (Result<StoredResource, ServerRefusal>) -> Void
    ) {
        var request = request
        request.body = Array(resource.jsonText.utf8)
        request.timeout = settings.timeout
        send(request) { _ in
            true
        } completion: { result in
            completion(result.map(Self.stored))
        }
    }

    private func send(
        _ request: HTTPRequest, isWhole: @escaping (HTTPResponse) -> Bool,
        completion: @escaping (Result<HTTPResponse, ServerRefusal>) -> Void
    ) {
        var isTaken = false
        let takesBack: (Exchange) -> Bool = { [self] exchange in
            guard exchange.attempts > 0, hooks.isOutdated(exchange) else { return false }
            completion(.failure(.outdated))
            return true
        }
        let isWrite = request.method != "GET"
        defer { wait = 0 }
        channel.send(request, after: wait, rebuffs: isWrite ? hooks.rebuffs : nil, takesBack: takesBack) {
            [self] outcome, exchange in
            if isWrite, outcome.mayHaveStored { hooks.whenUncertain() }
            return judge(outcome, exchange) {
                isTaken = isWhole($0)
                return isTaken
            }
        } completion: { [self] outcome, exchange in
            if isTaken, case .success(let response) = outcome { return completion(.success(response)) }
            var refusal = Self.refusal(outcome)
            if case .success(let response) = outcome {
                refusal.isGone = isGone(response, ServerOutcome(body: response.body), exchange.request)
            }
            if refusal.isGone { waitForSearches() }
            completion(.failure(refusal))
        }
    }

    /// Whether a server says, with `said`, that what was to be updated was deleted; an empty answer or a page may be of
    /// a proxy that leads nowhere.
    private func isGone(_ response: HTTPResponse, _ said: ServerOutcome?, _ request: HTTPRequest) -> Bool {
        hooks.updatesWhatWasThere && request.method == "PUT" && said != nil && [404, 410].contains(response.status)
            && absences < Self.mostAbsences
    }

    /// Has the next request, which is a search, wait if the one before has found what is gone: searches may lag behind
    /// what is deleted.
    private func waitForSearches() {
        wait = absences == 0 ? 0 : channel.wait(afterFailures: absences)
        absences += 1
    }

    private func judge(
        _ outcome: Exchange.Outcome, _ exchange: Exchange, _ isWhole: (HTTPResponse) -> Bool
    ) -> Exchange.Verdict {
        guard case .success(let response) = outcome else { return retry(outcome, exchange, Rebuffs.isOwn(outcome)) }
        let isDeletion = exchange.request.method == "DELETE"
        // A conflict is an answer: what was to be changed has changed.
        if response.status == 409, !isDeletion { return .final }
        let said = ServerOutcome(body: response.body)
        if isGone(response, said, exchange.request) { return .final }
        // It is another one by now, or not under this id: the server is to be searched again.
        if isDeletion, said != nil, [404, 410, 412].contains(response.status) { return retry(outcome, exchange, true) }
        switch AnswerKind(status: response.status, outcome: said, failures: exchange.rebuffs.count, isWhole: true) {
        case .stored: return isWhole(response) ? .final : retry(outcome, exchange, false)
        case .refused, .tooLarge: return .final
        case .later: return retry(outcome, exchange, Rebuffs.isOwn(outcome))
        // The set-up may be wrong, unless others get through.
        case .doubtful: return retry(outcome, exchange, false)
        }
    }

    /// Again, unless it is to blame itself.
    private func retry(_ outcome: Exchange.Outcome, _ exchange: Exchange, _ isOwn: Bool?) -> Exchange.Verdict {
        if let isOwn { channel.note(&exchange.rebuffs, isOwn: isOwn) }
        if channel.isExhausted(exchange.rebuffs) { return .final }
        if exchange.rebuffs.isDoubtful { exchange.isDetached = hooks.whenDoubtful() }
        return .retry("\(exchange.request.method): \(EntryAnswer.text(outcome))")
    }

    private static func refusal(_ outcome: Exchange.Outcome) -> ServerRefusal {
        var refusal = ServerRefusal(status: 0, message: EntryAnswer.text(outcome), reason: .serverFailed)
        guard case .success(let response) = outcome else { return refusal }
        let said = ServerOutcome(body: response.body)
        refusal.status = response.status
        refusal.message = EntryAnswer.text(response.status, said)
        refusal.reason = EntryAnswer.rejection(response.status, said)
        return refusal
    }

    private static func stored(_ response: HTTPResponse) -> StoredResource {
        let location = response.header("Location") ?? ""
        let parts = location.split(separator: "/").map(String.init)
        let place = parts.firstIndex(of: "_history") ?? parts.count
        return StoredResource(
            status: response.status, location: location, version: response.header("ETag") ?? "",
            id: place > 0 && place <= parts.count && !location.isEmpty ? parts[place - 1] : nil)
    }
}
