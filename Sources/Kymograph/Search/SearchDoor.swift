import KymographCore

/// A FHIR server's search of Observations, for reading only, on the listener of ``AdminServer`` (docs/search.md).
///
/// Everything is asked for with a token of the list of peers `search.peers`: without one, nothing is said but that.
/// What takes a look at the store is answered by a thread of its own, one request after the other.
final class SearchDoor: AdminPages {
    /// Below it are the resources.
    static let root = "/fhir"

    private let subject: SearchSubject
    private let places = SearchedPlaces()
    private let work = ConsoleWork("kymo-search")
    private let turns = SearchTurns()

    /// Serves what `subject` has.
    init(_ subject: SearchSubject) { self.subject = subject }

    /// Nothing of it is for browsers.
    static var fields: [ReceivedRequest.Field] { [] }

    func start() {}

    func stop() { work.stop() }

    func answer(_ request: ReceivedRequest) -> HTTPAnswer? {
        guard request.path == Self.root || request.path.hasPrefix("\(Self.root)/") else { return nil }
        guard let client = SearchClient(request, subject) else { return .reply(refused(request)) }
        do throws(SearchRefusal) {
            return try answer(request, client)
        } catch {
            return .reply(SearchWork.reply(error))
        }
    }

    /// What the log and the audit say of a token that is none of `list`. Folded: whoever guesses can go on for ever.
    private static func refusal(_ list: String) -> LogEntry {
        var entry = LogEntry.deed(.clientRefused, by: "", "search: a request without a token of \(list) was refused")
        (entry.kind, entry.isFolded, entry.isDeferred) = ("client.refused search", true, true)
        return entry
    }

    /// Says only that a token is wanted.
    private func refused(_ request: ReceivedRequest) -> HTTPReply {
        let isGiven = !request.values(of: "authorization").isEmpty
        if isGiven { subject.notes(Self.refusal(subject.peers.path)) }
        var reply = HTTPReply(401, "")
        reply.fields = [
            .init(name: "WWW-Authenticate", value: isGiven ? "Bearer error=\"invalid_token\"" : "Bearer")
        ]
        return reply
    }

    private func answer(_ request: ReceivedRequest, _ client: SearchClient) throws(SearchRefusal) -> HTTPAnswer {
        try checkFormat(request)
        let settings = subject.present()
        let base: String
        if let url = settings.search.url { base = url } else { base = try address(request) }
        let work = SearchWork(subject: subject, places: places, client: client, base: base)
        let path = request.path.dropFirst(Self.root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        switch path {
        case ["metadata"]:
            try check(request, "GET", "HEAD")
            let statement = SearchCapabilities.statement(
                settings.output.version, started: subject.started, base: base)
            return .reply(SearchWork.reply(200, statement))
        case ["Observation"]:
            try check(request, "GET", "HEAD")
            return try later(work, try query(request, request.query))
        case ["Observation", "_search"]:
            try check(request, "POST")
            var query = try query(request, try form(request))
            query.isForm = true
            return try later(work, query)
        case _ where path.count == 2 && path[0] == "Observation" && SearchParameters.isID(String(path[1])):
            try check(request, "GET", "HEAD")
            return try later(client) { () throws(SearchRefusal) in try work.read(String(path[1])) }
        default:
            throw SearchRefusal(
                404, "not-found", "there are metadata, Observation, Observation/ID and Observation/_search")
        }
    }

    private func check(_ request: ReceivedRequest, _ methods: String...) throws(SearchRefusal) {
        guard methods.contains(request.method) else { throw .wrongMethod(methods.joined(separator: ", ")) }
    }

    /// Refuses what wants nothing but other forms than JSON.
    private func checkFormat(_ request: ReceivedRequest) throws(SearchRefusal) {
        let wanted = request.elements(of: "accept").map { $0.prefix { $0 != ";" && $0 != " " } }
        let given = ["*/*", "application/*", "application/json", "application/fhir+json", "text/json"]
        guard wanted.isEmpty || wanted.contains(where: { given.contains(String($0)) }) else {
            throw SearchRefusal(406, "not-supported", "Accept: there is application/fhir+json only")
        }
    }

    /// The address by which the client has reached it.
    private func address(_ request: ReceivedRequest) throws(SearchRefusal) -> String {
        let host = request.values(of: "host").first ?? ""
        let isPlain = host.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || ".-:[]".utf8.contains(byte)
        }
        guard isPlain, 1...255 ~= host.utf8.count else { throw SearchRefusal(400, "value", "Host: it is no address") }
        return "\(subject.scheme)://\(host)\(Self.root)"
    }

    // MARK: Search

    private func query(_ request: ReceivedRequest, _ text: String) throws(SearchRefusal) -> SearchQuery {
        let isLenient = request.elements(of: "prefer").contains { element in
            element.split(separator: ";").contains { $0.filter { $0 != " " } == "handling=lenient" }
        }
        return try SearchParameters.query(SearchText.pairs(text), isLenient: isLenient)
    }

    /// The parameters of a search in a body and in the address, which are all meant.
    private func form(_ request: ReceivedRequest) throws(SearchRefusal) -> String {
        let type = request.values(of: "content-type").first?.lowercased() ?? ""
        guard type.prefix(while: { $0 != ";" && $0 != " " }) == "application/x-www-form-urlencoded" else {
            throw SearchRefusal(415, "not-supported", "Content-Type: write application/x-www-form-urlencoded")
        }
        guard let text = String(validating: request.body, as: UTF8.self) else {
            throw SearchRefusal(400, "value", "the body is no UTF-8")
        }
        return request.query.isEmpty ? text : "\(request.query)&\(text)"
    }

    private func later(_ work: SearchWork, _ query: SearchQuery) throws(SearchRefusal) -> HTTPAnswer {
        // Before it waits: a cursor of another query is a mistake of the client.
        if let text = query.cursor { _ = try SearchCursor(key: work.client.key, query: query).place(text) }
        return try later(work.client) { () throws(SearchRefusal) in try work.search(query) }
    }

    private func later(
        _ client: SearchClient, _ body: @escaping @Sendable () throws(SearchRefusal) -> HTTPReply
    ) throws(SearchRefusal) -> HTTPAnswer {
        guard turns.take(client.key) else {
            throw SearchRefusal(
                503, "throttled", "\(SearchTurns.most) searches of this client wait: try again when one is answered")
        }
        let answer = LaterAnswer()
        let isTaken = work.add { [turns] in
            defer { turns.giveBack(client.key) }
            guard !answer.isGone else { return }
            do throws(SearchRefusal) { answer.finish(try body()) } catch { answer.finish(SearchWork.reply(error)) }
        }
        guard isTaken else {
            turns.giveBack(client.key)
            throw SearchRefusal(503, "throttled", "too many searches wait, or it is stopping: try again in a moment")
        }
        return .later(answer)
    }
}
