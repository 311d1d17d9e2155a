import Kymograph
import Synchronization

/// A transport whose answers a test gives, when it wants to.
final class ScriptedTransport: HTTPTransport {
    private struct Exchange {
        var request: HTTPRequest
        var completion: (@Sendable (Result<HTTPResponse, HTTPFailure>) -> Void)?
    }

    private let exchanges = Mutex<[Exchange]>([])

    func submit(
        _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
    ) {
        exchanges.withLock { $0.append(Exchange(request: request, completion: completion)) }
    }

    /// All that was sent.
    var requests: [HTTPRequest] { exchanges.withLock { $0.map(\.request) } }

    /// How many wait for an answer.
    var waiting: Int { exchanges.withLock { $0.count { $0.completion != nil } } }

    /// Answers the oldest request that waits.
    func answer(_ result: Result<HTTPResponse, HTTPFailure>) {
        let completion = exchanges.withLock { exchanges in
            guard let place = exchanges.firstIndex(where: { $0.completion != nil }) else {
                preconditionFailure("nothing was asked")
            }
            defer { exchanges[place].completion = nil }
            return exchanges[place].completion
        }
        completion?(result)
    }

    /// Answers with a status and a body.
    func answer(_ status: Int, _ body: String) {
        answer(.success(HTTPResponse(status: status, body: Array(body.utf8))))
    }
}

/// What an authorizer gave, each answer in its turn.
final class AuthorizationRecord: Sendable {
    private let results = Mutex<[Result<String?, AuthorizationFailure>]>([])

    /// Asks, and keeps the answer when it comes.
    func ask(_ authorizer: any RequestAuthorizer) {
        authorizer.authorize { result in self.results.withLock { $0.append(result) } }
    }

    /// All values so far; nil for failures.
    var values: [String?] { results.withLock { $0.map { try? $0.get() } } }

    /// All failures so far.
    var failures: [AuthorizationFailure] {
        results.withLock { results in
            results.compactMap { if case .failure(let failure) = $0 { failure } else { nil } }
        }
    }
}
