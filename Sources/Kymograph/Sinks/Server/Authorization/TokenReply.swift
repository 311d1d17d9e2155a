import KymographCore
import KymographTemplates

/// What a token endpoint answered (RFC 6749, sections 5.1 and 5.2).
struct TokenReply {
    /// The endpoint, for messages.
    var origin: String
    /// Texts that must not appear in messages, should the endpoint repeat them.
    var secrets: [String]
    var response: HTTPResponse

    /// The token that was asked for at `now`.
    func token(at now: Instant) throws(AuthorizationFailure) -> AccessToken {
        let object = JSONNode.response(response.body)
        guard response.status == 200 else { throw refusal(object) }
        guard let token = object?.text("access_token"), BearerToken.isValid(token) else {
            throw failure("answers without a token", isRetriable: true)
        }
        let type = object?.text("token_type") ?? "bearer"
        guard type.lowercased() == "bearer" else { throw failure("gives a token that is no bearer token") }
        let seconds = object?.text("expires_in").flatMap(Double.init).flatMap { Int64(exactly: $0.rounded(.down)) }
        return AccessToken(token, seconds: seconds ?? AccessToken.usualLife, at: now)
    }

    private func refusal(_ object: JSONNode?) -> AuthorizationFailure {
        let code = object?.text("error").map(shown) ?? ""
        let isPassing =
            response.status >= 500 || [408, 425, 429].contains(response.status)
            || ["temporarily_unavailable", "server_error", "slow_down"].contains(code)
        let detail = object?.text("error_description").map(shown) ?? ""
        let words = [code, detail].filter { !$0.isEmpty }.joined(separator: ": ")
        let reason = words.isEmpty ? "status \(response.status)" : "\(words) (status \(response.status))"
        return failure("gives no token: \(reason)\(advice(code))", isRetriable: isPassing)
    }

    private func advice(_ code: String) -> String {
        switch code {
        case "invalid_client": "; check client, secret or key, its registration with the server, and the clock"
        case "invalid_scope": "; ask for a scope that the server grants this client"
        case "unauthorized_client", "unsupported_grant_type": "; allow client credentials for it on the server"
        default: (300...399).contains(response.status) || response.status == 404 ? "; check the token URL" : ""
        }
    }

    /// A text of the endpoint in one short line, and nothing when it repeats a secret or looks like a token.
    private func shown(_ text: String) -> String {
        guard !text.contains("eyJ"), !secrets.contains(where: { !$0.isEmpty && text.contains($0) }) else {
            return "(not shown: it repeats what is secret)"
        }
        return String(PrintableText.line(text).prefix(200))
    }

    private func failure(_ what: String, isRetriable: Bool = false) -> AuthorizationFailure {
        AuthorizationFailure(isRetriable: isRetriable, "the token endpoint \(origin) \(what)")
    }
}

extension JSONNode {
    /// The object that a server answered with; nil when it is none, or longer than `most`, which is more than any
    /// answer about tokens has.
    static func response(_ body: [UInt8], most: Int = 1 << 20) -> JSONNode? {
        guard body.count <= most else { return nil }
        var log = DiagnosticLog(file: "answer")
        guard let node = parse(body, log: &log), node.members != nil else { return nil }
        return node
    }

    /// The member called `name`, when it is a string or number: some servers write numbers as strings.
    func text(_ name: String) -> String? {
        switch members?.last(where: { $0.name == name })?.node.value {
        case .string(let text), .number(let text): text
        case .object, .array, .bool, .null, nil: nil
        }
    }

    /// The strings of the array called `name`; nil when there is none.
    func texts(_ name: String) -> [String]? {
        members?.last { $0.name == name }?.node.elements?.compactMap(\.string)
    }
}
