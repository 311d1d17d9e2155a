import FoundationEssentials

/// Why a request to the console is not answered with what it asks for.
struct ConsoleRefusal: Error {
    /// Status of the reply.
    var status: Int
    /// For programs.
    var code: String
    /// For people: what is wrong, and what to do.
    var message: String
    /// The methods that the path takes; nil when that is not what is wrong.
    var allow: String?

    init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    /// The path takes `methods` only.
    static func wrongMethod(_ methods: String) -> ConsoleRefusal {
        var refusal = ConsoleRefusal(405, "methodNotAllowed", "this path takes \(methods)")
        refusal.allow = methods
        return refusal
    }

    /// What is asked for cannot be read.
    init(_ error: PipelineError) { self.init(503, "unreadable", error.message) }
}

extension HTTPReply {
    private struct ErrorBody: Encodable {
        var error: String
        var message: String
    }

    /// `value` as JSON.
    static func json(_ value: some Encodable, status: Int = 200) -> HTTPReply {
        var reply = HTTPReply(status, type: "application/json", "")
        // Encoding fails for numbers that JSON does not have, of which there are none here.
        reply.body = (try? JSONEncoder().encode(value)).map { [UInt8]($0) } ?? []
        return reply
    }

    init(_ refusal: ConsoleRefusal) {
        self = .json(ErrorBody(error: refusal.code, message: refusal.message), status: refusal.status)
        if let allow = refusal.allow { fields.append(.init(name: "Allow", value: allow)) }
    }
}
