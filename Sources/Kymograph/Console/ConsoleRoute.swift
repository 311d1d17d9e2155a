import FoundationEssentials

/// One path of the API, below `/console/api/`. All are listed in ``ConsoleRoutes``.
struct ConsoleRoute: Sendable {
    /// What answers, where ``work`` says.
    typealias Answer = @Sendable (Console, ConsoleRequest) throws(ConsoleRefusal) -> HTTPReply

    /// Where it is answered.
    enum Work {
        /// By the listener itself: without a look at the store.
        case atOnce
        /// On the thread of those who look.
        case reading
        /// On the thread of changes, which may take long.
        case change
    }

    /// `GET` or `POST`.
    var method: String
    /// Its segments; one that begins with a colon stands for any, and names it: `letters/:number`.
    var path: String
    /// The least role that may ask.
    var role: ConsoleRole
    var work: Work
    var answer: Answer

    /// A route for reading.
    static func get(
        _ path: String, _ role: ConsoleRole = .view, _ work: Work = .reading, _ answer: @escaping Answer
    ) -> ConsoleRoute {
        ConsoleRoute(method: "GET", path: path, role: role, work: work, answer: answer)
    }

    /// A route for what has a body, or is a change.
    static func post(
        _ path: String, _ role: ConsoleRole, _ work: Work = .reading, _ answer: @escaping Answer
    ) -> ConsoleRoute {
        ConsoleRoute(method: "POST", path: path, role: role, work: work, answer: answer)
    }

    /// What the segments of `path` stand for; nil when it is another path.
    func parameters(_ path: Substring) -> [String: String]? {
        let (mine, theirs) = (self.path.split(separator: "/"), path.split(separator: "/"))
        guard mine.count == theirs.count else { return nil }
        var found: [String: String] = [:]
        for (segment, given) in zip(mine, theirs) {
            if segment.hasPrefix(":") {
                found[String(segment.dropFirst())] = PercentText.decoded(given)
            } else if segment != given {
                return nil
            }
        }
        return found
    }
}

/// A request to a route, by somebody who may make it.
struct ConsoleRequest: Sendable {
    /// What the segments of the path stand for.
    var parameters: [String: String]
    /// The pairs of the query, decoded; of several with one name the last.
    var query: [String: String]
    /// The body.
    var body: ArraySlice<UInt8>
    /// Who asks.
    var session: ConsoleSessions.Session
    /// Whether the client takes gzip.
    var takesGzip = false

    /// The body, which is JSON.
    func decode<Value: Decodable>(_ type: Value.Type) throws(ConsoleRefusal) -> Value {
        try Self.decode(type, body)
    }

    /// `body`, which is JSON.
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ body: ArraySlice<UInt8>
    ) throws(ConsoleRefusal) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw ConsoleRefusal(400, "badBody", "the body is not the JSON that this path takes")
        }
    }

    /// The number called `name` in the path or query; nil when there is none.
    func number(_ name: String) throws(ConsoleRefusal) -> Int64? {
        guard let text = parameters[name] ?? query[name], !text.isEmpty else { return nil }
        guard let number = Int64(text) else { throw ConsoleRefusal(400, "badNumber", "\(name) is no number") }
        return number
    }
}
