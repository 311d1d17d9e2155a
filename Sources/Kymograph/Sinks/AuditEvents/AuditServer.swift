import KymographCore
import KymographTemplates

/// The FHIR server that gets AuditEvents: one request at a time, each waited for.
struct AuditServer {
    /// What became of a request.
    enum Answer: Equatable {
        /// The server has the event.
        case stored
        /// It says that it will not take the event as it is, for this reason.
        case refused(String)
        /// It may take it later.
        case failed(Failure)
    }

    /// Why a request has not got its answer.
    struct Failure: Error, Equatable {
        /// What is the same of two failures that are one news.
        var kind: String
        /// For people: never with what the server says about content.
        var message: String
        /// How long the server asks to be left alone, in nanoseconds.
        var wait: Int64?
        /// Whether the server says that it has no time now (429, 503): that tells nothing of an event.
        var isLater = false
    }

    private let base: String
    private let timeout: Int
    private let transport: any HTTPTransport
    private let authorizer: any RequestAuthorizer

    /// The one at `base`; `timeout` is the longest time of a request in milliseconds.
    init(base: String, timeout: Int, _ transport: any HTTPTransport, _ authorizer: any RequestAuthorizer) {
        (self.base, self.timeout, self.transport, self.authorizer) = (base, timeout, transport, authorizer)
    }

    /// Why AuditEvents of R4 cannot be sent there now; nil when they can, as far as its CapabilityStatement says.
    func ask() -> Failure? {
        switch send("GET", "/metadata", []) {
        case .failure(let failure): return failure
        case .success(let response):
            guard response.status == 200, let found = ServerCapabilities(JSONNode.answer(response.body)) else {
                return setUpFailure(response, "gives no CapabilityStatement: is it the base URL of a FHIR server?")
            }
            guard !found.isR4 else { return nil }
            return Failure(
                kind: "version",
                message: "\(base) is FHIR \(found.version), and AuditEvents are of R4: take another server")
        }
    }

    /// Sends `event`, whose id is the digest of its record: what is sent again is the same resource. A server that
    /// makes none under ids of others gives it one of its own.
    func store(_ event: AuditEvent, id: String) -> Answer {
        let path = "/AuditEvent/\(id)"
        let result = send("PUT", path, event.resource(id: id))
        guard case .success(let response) = result, [400, 404, 405, 409, 410, 412, 422].contains(response.status) else {
            return judge(result)
        }
        switch send("GET", path, []) {
        case .failure(let failure): return .failed(failure)
        case .success(let found):
            // It has it already, and takes no change of it; or it was deleted there.
            let node = JSONNode.answer(found.body)
            let has = node?.child("resourceType")?.string == "AuditEvent" && node?.child("id")?.string == id
            if found.status == 200, has { return .stored }
            if found.status == 410, ServerOutcome(node) != nil { return .stored }
            guard [403, 404, 405].contains(found.status) else {
                return .failed(setUpFailure(found, "does not say whether it has an AuditEvent"))
            }
        }
        return judge(send("POST", "/AuditEvent", event.resource(id: nil)))
    }

    /// The failure of an event that it refuses, for `reason`, and may not have been asked about.
    func refusal(_ reason: String) -> Failure {
        Failure(kind: reason, message: "\(base) refuses an AuditEvent (\(reason))")
    }

    private func isRefusal(_ status: Int, _ outcome: ServerOutcome) -> Bool {
        switch AnswerKind(status: status, outcome: outcome, failures: 0, isWhole: false) {
        case .refused, .tooLarge: true
        case .stored, .later, .doubtful: false
        }
    }

    private func judge(_ result: Result<HTTPResponse, Failure>) -> Answer {
        switch result {
        case .failure(let failure): return .failed(failure)
        case .success(let response):
            switch response.status {
            case 200, 201, 204:
                return isOfFHIR(response)
                    ? .stored : .failed(setUpFailure(response, "answers with something that is not of FHIR"))
            case 400, 413, 422:
                // Proxies say so, too.
                guard let outcome = ServerOutcome(body: response.body), isRefusal(response.status, outcome) else {
                    return .failed(setUpFailure(response, "takes no AuditEvents now"))
                }
                return .refused("status \(response.status)")
            case 404, 405:
                return .failed(
                    setUpFailure(response, "takes no AuditEvents: take another server, or remove audit.url"))
            default: return .failed(setUpFailure(response, "takes no AuditEvents now"))
            }
        }
    }

    /// Whether the body is a resource, or there is none: a proxy's page is no answer of a FHIR server.
    private func isOfFHIR(_ response: HTTPResponse) -> Bool {
        response.body.isEmpty || JSONNode.answer(response.body)?.child("resourceType")?.string != nil
    }

    private func setUpFailure(_ response: HTTPResponse, _ text: String) -> Failure {
        let status = response.status
        let isAccess = status == 401 || status == 403
        return Failure(
            kind: "status \(status)",
            message: "\(base) \(isAccess ? "refuses the credentials: check them" : text) (status \(status))",
            wait: pause(response), isLater: status == 429 || status == 503)
    }

    /// How long the answer asks to wait, in nanoseconds.
    private func pause(_ response: HTTPResponse) -> Int64? {
        RetryTimes(now: WallClock.now(), longest: 600_000_000_000).retryAfter(response)
    }

    /// Sends a request; once more with another token where the first one is refused.
    private func send(_ method: String, _ path: String, _ body: [UInt8]) -> Result<HTTPResponse, Failure> {
        let (result, mayRenew) = sendOnce(method, path, body)
        guard mayRenew, case .success(let response) = result, response.status == 401 else { return result }
        return sendOnce(method, path, body).result
    }

    /// Sends a request; and whether there may be another token.
    private func sendOnce(
        _ method: String, _ path: String, _ body: [UInt8]
    ) -> (result: Result<HTTPResponse, Failure>, mayRenew: Bool) {
        let authorized = AwaitedValue<Result<String?, AuthorizationFailure>>.waiting {
            authorizer.authorize(completion: $0)
        }
        var headers: [(name: String, value: String)] = [("Accept", "application/fhir+json")]
        if !body.isEmpty { headers.append(("Content-Type", "application/fhir+json")) }
        let secret: String?
        switch authorized {
        case .failure(let failure):
            return (.failure(Failure(kind: "authorization", message: failure.message)), false)
        case .success(let value): secret = value
        }
        if let secret { headers.append(("Authorization", secret)) }
        let request = HTTPRequest(method, base + path, headers: headers, body: body, timeout: timeout)
        let reply = AwaitedValue<Result<HTTPResponse, HTTPFailure>>.waiting {
            transport.submit(request, completion: $0)
        }
        switch reply {
        case .failure(let failure):
            return (.failure(Failure(kind: "\(failure.kind)", message: failure.message)), false)
        case .success(let response):
            if response.status == 401 { authorizer.refused(secret) }
            return (.success(response), secret != nil)
        }
    }
}
