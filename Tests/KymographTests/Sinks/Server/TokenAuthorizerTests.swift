import Kymograph
import KymographCore
import Synchronization
import Testing

/// Fetching, keeping and renewing tokens, with a clock that stands still.
@Suite struct TokenAuthorizerTests {
    private final class Clock: Sendable {
        private let seconds = Mutex<Int64>(1_800_000_000)

        var now: Instant { Instant(seconds: seconds.withLock { $0 }) }

        func advance(_ count: Int64) { seconds.withLock { $0 += count } }
    }

    private let scratch = Scratch()
    private let clock = Clock()
    private let transport = ScriptedTransport()
    private let record = AuthorizationRecord()

    private static let tokenURL = "https://login.example/token"

    private func authorizer(
        tokenURL: String? = tokenURL, placement: OAuthClient.SecretPlacement = .header, secret: String = "hunter2"
    ) throws -> TokenAuthorizer {
        let path = scratch.file("secret")
        Files.write(path, Array(secret.utf8))
        setMode(path, 0o600)
        let client = OAuthClient(
            identifier: "ward 7", proof: .secret(SecretFile(path), placement), scope: "system/Observation.cu",
            tokenURL: tokenURL)
        let base = try ServerURL("https://fhir.example/r4/")
        return try TokenAuthorizer(client, base: base, transport: transport, timeout: 7_000) { [clock] in clock.now }
    }

    private func token(_ name: String, life: String = "300") -> String {
        #"{"access_token":"\#(name)","token_type":"Bearer","expires_in":\#(life)}"#
    }

    // MARK: Requests

    @Test func asksAsOAuthWantsIt() throws {
        record.ask(try authorizer())
        let request = try #require(transport.requests.first)
        #expect(request.method == "POST" && request.url == Self.tokenURL && request.timeout == 7_000)
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "grant_type=client_credentials&scope=system%2FObservation.cu")
        // ward%207:hunter2
        #expect(request.headers.contains { $0.name == "Authorization" && $0.value == "Basic d2FyZCUyMDc6aHVudGVyMg==" })
        #expect(
            request.headers.contains { $0.name == "Content-Type" && $0.value == "application/x-www-form-urlencoded" })
    }

    @Test func canPutTheSecretIntoTheForm() throws {
        record.ask(try authorizer(placement: .form, secret: "a&b=ü\n"))
        let request = try #require(transport.requests.first)
        #expect(!request.headers.contains { $0.name == "Authorization" })
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "grant_type=client_credentials&scope=system%2FObservation.cu&client_id=ward%207"
                + "&client_secret=a%26b%3D%C3%BC")
    }

    // MARK: Life of a token

    @Test func sharesOneFetch() throws {
        let authorizer = try authorizer()
        for _ in 0..<100 { record.ask(authorizer) }
        #expect(transport.requests.count == 1 && record.values.isEmpty)
        transport.answer(200, token("one"))
        #expect(record.values == [String?](repeating: "Bearer one", count: 100))
        record.ask(authorizer)
        #expect(record.values.count == 101 && transport.requests.count == 1)
    }

    @Test func sharesAFailureToo() throws {
        let authorizer = try authorizer()
        for _ in 0..<3 { record.ask(authorizer) }
        transport.answer(.failure(HTTPFailure(.unreachable, "https://login.example cannot be reached")))
        #expect(record.failures.count == 3 && transport.requests.count == 1)
        record.ask(authorizer)
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [("300", 240), ("\"100\"", 80), ("10.9", 8), ("null", 240)] as [(String, Int64)])
    func renewsAfterFourFifths(_ life: String, _ seconds: Int64) throws {
        let authorizer = try authorizer()
        record.ask(authorizer)
        transport.answer(200, token("one", life: life))
        clock.advance(seconds - 1)
        record.ask(authorizer)
        #expect(transport.requests.count == 1)
        clock.advance(1)
        record.ask(authorizer)
        #expect(transport.requests.count == 2 && record.values.count == 2)
        transport.answer(200, token("two"))
        #expect(record.values.last == "Bearer two")
    }

    @Test func usesATokenToItsEndWhileThereIsNoOther() throws {
        let authorizer = try authorizer()
        record.ask(authorizer)
        transport.answer(200, token("one"))
        clock.advance(240)
        record.ask(authorizer)
        transport.answer(503, "")
        #expect(record.values.last == "Bearer one")
        // Not before every request: after half of what is left.
        clock.advance(29)
        record.ask(authorizer)
        #expect(transport.requests.count == 2 && record.values.count == 3)
        clock.advance(31)
        record.ask(authorizer)
        transport.answer(503, "")
        #expect(record.failures.map(\.isRetriable) == [true])
    }

    @Test func fetchesAnotherWhenOneIsRefused() throws {
        let authorizer = try authorizer()
        record.ask(authorizer)
        transport.answer(200, token("one"))
        // Of another token, or of none.
        authorizer.refused("Bearer zero")
        authorizer.refused(nil)
        record.ask(authorizer)
        #expect(transport.requests.count == 1)
        authorizer.refused("Bearer one")
        record.ask(authorizer)
        transport.answer(200, token("two"))
        #expect(record.values == ["Bearer one", "Bearer one", "Bearer two"])
        // Late news of the first token do not concern the second.
        authorizer.refused("Bearer one")
        record.ask(authorizer)
        #expect(transport.requests.count == 2)
    }

    // MARK: Discovery

    @Test func findsTheTokenEndpoint() throws {
        let authorizer = try authorizer(tokenURL: nil)
        record.ask(authorizer)
        #expect(transport.requests.map(\.url) == ["https://fhir.example/r4/.well-known/smart-configuration"])
        transport.answer(200, #"{"token_endpoint":"https://login.example/oauth"}"#)
        transport.answer(200, token("one"))
        #expect(record.values == ["Bearer one"])
        clock.advance(300)
        record.ask(authorizer)
        #expect(transport.requests.map(\.method) == ["GET", "POST", "POST"])
        transport.answer(404, "")
        // It may have moved.
        record.ask(authorizer)
        #expect(transport.requests.map(\.method) == ["GET", "POST", "POST", "GET"])
    }

    private func statement(_ token: String) -> String {
        """
        {"resourceType":"CapabilityStatement","rest":[{"mode":"server","security":{"extension":[{"url":"http://other"},
        {"url":"http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris","extension":[
        {"url":"authorize","valueUri":"https://login.example/authorize"},\(token)]}]}}]}
        """
    }

    /// Older servers name it in their CapabilityStatement only.
    @Test func findsItInTheCapabilityStatement() throws {
        record.ask(try authorizer(tokenURL: nil))
        transport.answer(404, "")
        transport.answer(200, statement(#"{"url":"token","valueUri":"https://login.example/oauth"}"#))
        transport.answer(200, token("one"))
        #expect(record.values == ["Bearer one"])
        #expect(
            transport.requests.map(\.url) == [
                "https://fhir.example/r4/.well-known/smart-configuration", "https://fhir.example/r4/metadata",
                "https://login.example/oauth",
            ])
    }

    @Test(arguments: [
        (404, "", false), (503, "", true), (200, "<html>", true), (200, "{}", false),
        (200, #"{"url":"authorize","valueUri":"https://login.example/oauth"}"#, false),
        (200, #"{"url":"token","valueUri":"http://login.example/oauth"}"#, false),
        (200, #"{"url":"token","valueUri":"https://kymo:hunter2@login.example/token"}"#, false),
    ]) func refusesWhatIsNoStatement(_ status: Int, _ body: String, _ isRetriable: Bool) throws {
        record.ask(try authorizer(tokenURL: nil))
        transport.answer(410, "")
        transport.answer(status, body.contains("url") ? statement(body) : body)
        #expect(record.failures.map(\.isRetriable) == [isRetriable])
        let message = try #require(record.failures.first?.message)
        #expect(message.hasPrefix("https://fhir.example /metadata, since there is no .well-known/"))
        #expect(!message.contains("hunter2") && transport.requests.count == 2)
    }

    @Test(arguments: [
        (503, "", true), (200, "<html>", true), (200, "{}", false),
        (200, #"{"token_endpoint":"http://login.example/token"}"#, false),
        (200, #"{"token_endpoint":"https://kymo:hunter2@login.example/token"}"#, false),
    ]) func refusesWhatIsNoDiscovery(_ status: Int, _ body: String, _ isRetriable: Bool) throws {
        record.ask(try authorizer(tokenURL: nil))
        transport.answer(status, body)
        #expect(record.failures.map(\.isRetriable) == [isRetriable])
        #expect(record.failures.first?.message.hasPrefix("https://fhir.example .well-known/") ?? false)
        #expect(!(record.failures.first?.message.contains("hunter2") ?? true))
        #expect(transport.requests.count == 1)
    }

    // MARK: Refusals

    @Test(arguments: [
        (400, #"{"error":"invalid_client"}"#, false), (401, #"{"error":"invalid_client"}"#, false),
        (400, #"{"error":"invalid_scope"}"#, false), (400, #"{"error":"temporarily_unavailable"}"#, true),
        (403, "", false), (302, "", false), (429, "", true), (500, "<html>", true), (503, "", true),
        (200, "<html>", true), (200, "{}", true), (200, #"{"access_token":"a b"}"#, true),
        (200, #"{"access_token":"a","token_type":"mac"}"#, false),
    ]) func tellsWhetherToTryAgain(_ status: Int, _ body: String, _ isRetriable: Bool) throws {
        record.ask(try authorizer())
        transport.answer(status, body)
        #expect(record.failures.map(\.isRetriable) == [isRetriable])
        #expect(record.failures[0].message.hasPrefix("the token endpoint https://login.example "))
    }

    @Test(arguments: [HTTPFailure.Kind.unreachable, .security, .lost, .timeout, .tooLong])
    func triesAgainAfterFailures(_ kind: HTTPFailure.Kind) throws {
        record.ask(try authorizer())
        transport.answer(.failure(HTTPFailure(kind, "why")))
        #expect(record.failures == [AuthorizationFailure(isRetriable: true, "no token: why")])
    }

    @Test func repeatsNoSecret() throws {
        let authorizer = try authorizer()
        for words in ["no hunter2 here", "bad eyJhbGciOiJSUzM4NCJ9.e30.x"] {
            record.ask(authorizer)
            transport.answer(400, #"{"error":"invalid_client","error_description":"\#(words)"}"#)
        }
        record.ask(authorizer)
        transport.answer(400, #"{"error":"invalid_client","error_description":"the client is\nlocked"}"#)
        let messages = record.failures.map(\.message)
        #expect(messages.allSatisfy { !$0.contains("hunter2") && !$0.contains("eyJ") })
        #expect(messages[2].contains("invalid_client: the client is\\u000alocked (status 400)"))
    }

    @Test func readsTheSecretWhenItAsks() throws {
        let authorizer = try authorizer()
        setMode(scratch.file("secret"), 0o644)
        record.ask(authorizer)
        #expect(transport.requests.isEmpty)
        #expect(record.failures.map(\.isRetriable) == [false])
        setMode(scratch.file("secret"), 0o600)
        record.ask(authorizer)
        #expect(transport.requests.count == 1)
    }
}
