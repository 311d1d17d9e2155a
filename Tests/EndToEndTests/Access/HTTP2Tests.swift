import CommandSupport
import Kymograph
import KymographTestKit
import Testing

/// HTTP/2 over TLS; skipped without Python's `h2`, which Tests/Validation/requirements.txt names.
@Suite(.enabled(if: TestServer.canSpeakHTTP2)) struct HTTP2Tests {
    private let folder = TemporaryFolder()
    private let server: TestServer
    private let settings: HTTPSettings

    init() throws {
        let authority = try TestAuthority()
        server = try TestServer("http2_server.py", try authority.serverArguments())
        // The authority's own folder ends with this initialiser.
        var settings = HTTPSettings()
        settings.caFile = folder.write("ca.pem", Files.text(authority.certificate))
        self.settings = settings
    }

    private func post(_ path: String, bytes: Int = 10) -> HTTPRequest {
        let type = [("Content-Type", "application/fhir+json")]
        return HTTPRequest(
            "POST", server.secureURL(path), headers: type, body: [UInt8](repeating: 0x20, count: bytes))
    }

    @Test func speaksIt() async throws {
        let sizes = [0, 10, 3_000_000]
        for (bytes, answer) in zip(sizes, await answers(to: sizes.map { post("/echo", bytes: $0) })) {
            let seen = try answer.get().json
            #expect(seen["method"]?.text == "POST")
            #expect(seen["bytes"]?.digits == "\(bytes)")
            #expect(seen["type"]?.text == "application/fhir+json")
            #expect(seen["connection"]?.digits == "1")
        }
    }

    /// Sends one after the other, each from the completion of the one before: among many other tests, a task may be
    /// resumed so late that libcurl has closed the idle connection (after 118 s).
    private func answers(to requests: [HTTPRequest]) async -> [Result<HTTPResponse, HTTPFailure>] {
        let transport = CurlTransport(settings)
        return await withCheckedContinuation { continuation in
            HTTP2Tests.send(requests[...], by: transport, after: []) { continuation.resume(returning: $0) }
        }
    }

    private static func send(
        _ requests: ArraySlice<HTTPRequest>, by transport: CurlTransport,
        after answers: [Result<HTTPResponse, HTTPFailure>],
        completion: @escaping @Sendable ([Result<HTTPResponse, HTTPFailure>]) -> Void
    ) {
        guard let request = requests.first else { return completion(answers) }
        transport.submit(request) { answer in
            send(requests.dropFirst(), by: transport, after: answers + [answer], completion: completion)
        }
    }

    @Test func carriesManyOnOneConnection() async throws {
        var settings = settings
        settings.connectionsPerHost = 1
        let transport = CurlTransport(settings)
        let request = post("/together")
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<3 { group.addTask { try? await transport.send(request).get().status } }
            for await status in group { #expect(status == 200) }
        }
    }

    @Test(arguments: ["/refuse", "/goaway"]) func leavesRepeatingToTheCaller(_ path: String) async throws {
        let transport = CurlTransport(settings)
        #expect(try await transport.failure(post(path)).kind == .lost)
        #expect(try await transport.send(post("/echo")).get().status == 200)
    }

    @Test func canDoWithout() async throws {
        var settings = settings
        settings.usesHTTP2 = false
        // The server speaks nothing else, and closes.
        let failure = try await CurlTransport(settings).failure(post("/echo"))
        #expect(failure.kind == .lost || failure.kind == .security || failure.kind == .unreachable)
    }
}
