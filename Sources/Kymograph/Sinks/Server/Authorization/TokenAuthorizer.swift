package import KymographCore
import Synchronization

/// Authorizes by tokens that an OAuth 2 token endpoint gives: by client credentials or SMART Backend Services.
///
/// A token is used until 80 % of its life have passed, and to its end while no other can be had. Whoever asks while a
/// token is being fetched shares that fetch.
package final class TokenAuthorizer: RequestAuthorizer {
    private typealias Completion = @Sendable (Result<String?, AuthorizationFailure>) -> Void

    /// Where tokens come from, as configured or discovered.
    private struct Endpoint {
        var url: ServerURL
        var algorithms: [String]?
    }

    private struct State {
        var token: AccessToken?
        var endpoint: Endpoint?
        var waiting: [Completion] = []
    }

    private let client: OAuthClient
    private let base: ServerURL
    private let transport: any HTTPTransport
    private let timeout: Int
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())

    /// Tokens of `client` for the FHIR server at `base`; nothing is fetched yet.
    ///
    /// - Parameters:
    ///   - timeout: Longest time for one request, in milliseconds.
    ///   - now: The clock, for tests.
    /// - Throws: When `client` names a token URL that is none.
    package init(
        _ client: OAuthClient, base: ServerURL, transport: any HTTPTransport, timeout: Int = 30_000,
        now: @escaping @Sendable () -> Instant = WallClock.now
    ) throws(ServerURL.Fault) {
        self.client = client
        self.base = base
        self.transport = transport
        self.timeout = timeout
        self.now = now
        guard let text = client.tokenURL else { return }
        let endpoint = Endpoint(url: try ServerURL(text), algorithms: nil)
        state.withLock { $0.endpoint = endpoint }
    }

    /// Gives the token that is known, or fetches one.
    package func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void) {
        let now = now()
        let (value, isFirst) = state.withLock { state -> (String?, Bool) in
            if let token = state.token, now < token.renewal { return (token.value, false) }
            state.waiting.append(completion)
            return (nil, state.waiting.count == 1)
        }
        if let value { return completion(.success(value)) }
        if isFirst { fetch() }
    }

    /// Forgets the token that `value` is of.
    package func refused(_ value: String?) {
        state.withLock { state in
            if state.token?.value == value { state.token = nil }
        }
    }

    // MARK: Fetching

    private func fetch() {
        if let endpoint = state.withLock({ $0.endpoint }) { return fetch(from: endpoint) }
        transport.submit(SMARTConfiguration.request(base, timeout: timeout)) { [self] result in
            if case .success(let response) = result, SMARTConfiguration.isMissing(response) {
                return fetchByStatement()
            }
            fetch { () throws(AuthorizationFailure) in try SMARTConfiguration(try Self.response(result), of: base) }
        }
    }

    /// Asks an older server.
    private func fetchByStatement() {
        transport.submit(SMARTConfiguration.statementRequest(base, timeout: timeout)) { [self] result in
            fetch { () throws(AuthorizationFailure) in
                try SMARTConfiguration(statement: try Self.response(result), of: base)
            }
        }
    }

    /// Fetches from where `find` says.
    private func fetch(_ find: () throws(AuthorizationFailure) -> SMARTConfiguration) {
        do throws(AuthorizationFailure) {
            let found = try find()
            let endpoint = Endpoint(url: found.tokenURL, algorithms: found.algorithms)
            state.withLock { $0.endpoint = endpoint }
            fetch(from: endpoint)
        } catch {
            finish(.failure(error))
        }
    }

    private func fetch(from endpoint: Endpoint) {
        let asked = now()
        do throws(SecretFault) {
            let token = try TokenRequest(
                client, to: endpoint.url, algorithms: endpoint.algorithms, timeout: timeout, at: asked)
            transport.submit(token.request) { [self] result in
                do throws(AuthorizationFailure) {
                    let response = try Self.response(result)
                    let reply = TokenReply(origin: endpoint.url.origin, secrets: token.secrets, response: response)
                    finish(.success(try reply.token(at: asked)))
                } catch {
                    finish(.failure(error))
                }
            }
        } catch {
            finish(.failure(AuthorizationFailure(error)))
        }
    }

    private static func response(
        _ result: Result<HTTPResponse, HTTPFailure>
    ) throws(AuthorizationFailure) -> HTTPResponse {
        switch result {
        case .success(let response): return response
        case .failure(let failure): throw AuthorizationFailure(isRetriable: true, "no token: \(failure.message)")
        }
    }

    private func finish(_ result: Result<AccessToken, AuthorizationFailure>) {
        let now = now()
        let (waiting, answer) = state.withLock { state -> ([Completion], Result<String?, AuthorizationFailure>) in
            defer { state.waiting = [] }
            switch result {
            case .success(let token):
                state.token = token
                return (state.waiting, .success(token.value))
            case .failure(let failure):
                // The server may have moved its token endpoint.
                if client.tokenURL == nil { state.endpoint = nil }
                guard let token = state.token, now < token.end else { return (state.waiting, .failure(failure)) }
                state.token?.postponeRenewal(at: now)
                return (state.waiting, .success(token.value))
            }
        }
        for completion in waiting { completion(answer) }
    }
}
