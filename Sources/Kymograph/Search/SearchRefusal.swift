/// Why a search is not answered: an OperationOutcome.
struct SearchRefusal: Error, Equatable {
    /// Status of the reply.
    var status: Int
    /// Of the value set IssueType.
    var code: String
    /// What is wrong, and what to do. Without anything of the request but names of parameters.
    var message: String
    /// The parameter; nil when it is none.
    var parameter: String?
    /// The methods that the path takes; nil when that is not what is wrong.
    var allow: String?

    init(_ status: Int, _ code: String, _ message: String, of parameter: String? = nil) {
        (self.status, self.code, self.message, self.parameter) = (status, code, message, parameter)
    }

    /// The value of `parameter` cannot be read.
    static func malformed(_ parameter: String, _ message: String) -> SearchRefusal {
        SearchRefusal(400, "value", "\(parameter): \(message)", of: parameter)
    }

    /// A parameter that is not known: to leave it out would show more than was asked for.
    static func unknown(_ parameter: String, _ message: String) -> SearchRefusal {
        SearchRefusal(400, "not-supported", message, of: parameter)
    }

    /// The path takes `methods` only.
    static func wrongMethod(_ methods: String) -> SearchRefusal {
        var refusal = SearchRefusal(405, "not-supported", "this path takes \(methods)")
        refusal.allow = methods
        return refusal
    }

    /// It would take longer than a search may.
    static func tooCostly(_ message: String) -> SearchRefusal { SearchRefusal(503, "too-costly", message) }
}
