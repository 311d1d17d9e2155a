@testable import Kymograph
import KymographTestKit
import Synchronization
import Testing

/// What answers of a server mean for an AuditEvent.
@Suite struct AuditServerTests {
    private static let id = String(repeating: "a", count: 64)
    private static let refusal = #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"invalid"}]}"#
    private static let passing =
        #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"transient"}]}"#
    private static let stored = "{\"resourceType\":\"AuditEvent\",\"id\":\"\(id)\"}"
    private static func outcome(_ code: String) -> String {
        "{\"resourceType\":\"OperationOutcome\",\"issue\":[{\"severity\":\"error\",\"code\":\"\(code)\"}]}"
    }
    private static let page = "<html>Maintenance</html>"

    /// Answers requests by their methods, each answer in its turn, and notes them.
    private final class Server: HTTPTransport {
        private let answers: Mutex<[(method: String, status: Int, body: String)]>
        private let asked = Mutex<[String]>([])

        init(_ answers: [(String, Int, String)]) { self.answers = Mutex(answers) }

        var methods: [String] { asked.withLock { $0 } }

        func submit(
            _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
        ) {
            asked.withLock { $0.append(request.method) }
            let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next, next.method == request.method, next.status > 0 else {
                return completion(.failure(HTTPFailure(.timeout, "no answer")))
            }
            completion(.success(HTTPResponse(status: next.status, body: Array(next.body.utf8))))
        }
    }

    /// A token that is another one after a refusal.
    private final class Tokens: RequestAuthorizer {
        private let number = Atomic(1)

        func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void) {
            completion(.success("Bearer \(number.load(ordering: .relaxed))"))
        }

        func refused(_ value: String?) { number.add(1, ordering: .relaxed) }
    }

    private func store(_ answers: [(String, Int, String)]) -> (answer: AuditServer.Answer, methods: [String]) {
        let server = Server(answers)
        let audit = AuditServer(base: "https://a.example/fhir", timeout: 1_000, server, Tokens())
        let event = AuditEvent(AuditRecord(AuditDeed(.query, "shows"), after: .origin))
        return (audit.store(event, id: Self.id), server.methods)
    }

    private func isFailed(_ answer: AuditServer.Answer) -> Bool {
        if case .failed = answer { true } else { false }
    }

    @Test func storedIsWhatAServerOfFHIRSays() {
        for (status, body) in [(200, Self.stored), (201, ""), (204, "")] {
            #expect(store([("PUT", status, body)]).answer == .stored, "\(status)")
        }
        for (status, body) in [(200, Self.page), (202, ""), (302, ""), (200, "{}")] {
            #expect(isFailed(store([("PUT", status, body)]).answer), "\(status) \(body)")
        }
    }

    /// What the server has already is stored; an event comes twice only where the server says that it has none.
    @Test func eventsComeOnce() {
        #expect(store([("PUT", 409, ""), ("GET", 200, Self.stored)]).answer == .stored)
        #expect(store([("PUT", 412, ""), ("GET", 410, Self.refusal)]).answer == .stored)
        for (status, body) in [
            (200, Self.page), (200, Self.refusal), (200, ""), (410, ""), (503, ""), (401, ""), (0, ""),
        ] {
            let (answer, methods) = store([("PUT", 409, ""), ("GET", status, body), ("GET", status, body)])
            #expect(isFailed(answer) && !methods.contains("POST"), "\(status) \(body)")
        }
        let own = store([("PUT", 405, ""), ("GET", 404, Self.refusal), ("POST", 201, "")])
        #expect(own.answer == .stored && own.methods == ["PUT", "GET", "POST"])
    }

    /// A refusal is an OperationOutcome that does not speak of later.
    @Test func refusals() {
        func answers(_ status: Int, _ body: String) -> [(String, Int, String)] {
            [("PUT", status, body), ("GET", 404, Self.refusal), ("POST", status, body)]
        }
        #expect(store(answers(422, Self.refusal)).answer == .refused("status 422"))
        #expect(store(answers(400, Self.refusal)).answer == .refused("status 400"))
        #expect(store([("PUT", 413, Self.refusal)]).answer == .refused("status 413"))
        for (status, body) in [(400, Self.page), (400, ""), (422, Self.passing), (413, ""), (404, Self.refusal)] {
            #expect(isFailed(store(answers(status, body)).answer), "\(status) \(body)")
        }
        for status in [403, 408, 429, 500, 503] {
            let (answer, methods) = store([("PUT", status, Self.refusal)])
            #expect(isFailed(answer) && methods == ["PUT"], "\(status)")
        }
    }

    /// A token that is refused is renewed once.
    @Test func anotherToken() {
        let renewed = store([("PUT", 401, ""), ("PUT", 201, "")])
        #expect(renewed.answer == .stored && renewed.methods == ["PUT", "PUT"])
        let refused = store([("PUT", 401, ""), ("PUT", 401, "")])
        #expect(isFailed(refused.answer) && refused.methods.count == 2)
    }

    @Test func theServerSaysWhatItIs() {
        func ask(_ status: Int, _ body: String) -> AuditServer.Failure? {
            let server = Server([("GET", status, body)])
            return AuditServer(base: "https://a.example/fhir", timeout: 1_000, server, OpenAuthorizer()).ask()
        }
        func statement(_ version: String) -> String {
            "{\"resourceType\":\"CapabilityStatement\",\"fhirVersion\":\"\(version)\"}"
        }
        #expect(ask(200, statement("4.0.1")) == nil && ask(200, statement("4.3.0")) == nil)
        for (status, body) in [(200, statement("5.0.0")), (200, Self.page), (403, ""), (503, ""), (0, "")] {
            #expect(ask(status, body) != nil, "\(status) \(body)")
        }
    }
}
