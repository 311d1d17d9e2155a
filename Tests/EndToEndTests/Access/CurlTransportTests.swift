import CommandSupport
import Kymograph
import KymographTestKit
import Synchronization
import Testing

/// libcurl against a server that answers as it is asked to.
@Suite struct CurlTransportTests {
    private let server: TestServer

    init() throws {
        server = try TestServer("http_server.py")
    }

    private func get(_ path: String, timeout: Int = 30_000) -> HTTPRequest {
        HTTPRequest("GET", server.url(path), timeout: timeout)
    }

    // MARK: What is sent and received

    @Test func carriesRequestsAndAnswers() async throws {
        let transport = CurlTransport()
        let body = Array("{\"é\":1}".utf8)
        let headers = [("Content-Type", "application/fhir+json"), ("Prefer", "return=minimal"), ("X-Empty", "")]
        let response = try await transport.send(
            HTTPRequest("PUT", server.url("/echo?a=b%20c"), headers: headers, body: body)
        ).get()
        #expect(response.status == 200)
        #expect(response.header("content-TYPE") == "application/json")
        let seen = try response.json
        #expect(seen["method"]?.text == "PUT")
        #expect(seen["path"]?.text == "/echo?a=b%20c")
        #expect(seen["body"]?.text == "{\"é\":1}")
        let fields = try #require(seen["headers"])
        #expect(fields["content-type"]?.text == "application/fhir+json")
        #expect(fields["prefer"]?.text == "return=minimal")
        #expect(fields["x-empty"]?.text == "")
        #expect(fields["user-agent"]?.text == "kymo/\(KymographVersion.number)")
        #expect(fields["expect"] == nil)
    }

    @Test func carriesRequestsWithoutBody() async throws {
        let transport = CurlTransport()
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let seen = try await transport.send(HTTPRequest(method, server.url("/echo"))).get().json
            #expect(seen["method"]?.text == method)
            #expect(seen["headers"]?["content-type"] == nil, "\(method)")
            #expect(seen["headers"]?["content-length"]?.text == (method == "POST" ? "0" : nil), "\(method)")
        }
        let head = try await transport.send(HTTPRequest("HEAD", server.url("/echo"))).get()
        #expect(head.status == 200 && head.body.isEmpty)
    }

    @Test func givesEveryStatusAsAnswer() async throws {
        let transport = CurlTransport()
        for status in [204, 400, 401, 412, 429, 503] {
            #expect(try await transport.send(get("/status?n=\(status)")).get().status == status)
        }
    }

    @Test func compressesWhereItIsAskedTo() async throws {
        var settings = HTTPSettings()
        settings.compressesBodies = true
        let transport = CurlTransport(settings)
        let text = String(repeating: "{\"value\":72.5}", count: 10_000)
        func encoding(_ text: String, type: String, _ transport: CurlTransport) async throws -> JSONTree {
            let request = HTTPRequest(
                "POST", server.url("/echo"), headers: [("Content-Type", type)], body: Array(text.utf8))
            return try await transport.send(request).get().json
        }
        let seen = try await encoding(text, type: "application/fhir+json", transport)
        #expect(seen["headers"]?["content-encoding"]?.text == "gzip")
        #expect(seen["body"]?.text == text)
        #expect(try #require(Int(seen["raw"]?.digits ?? "")) < text.utf8.count / 20)
        for (text, type, transport) in [
            ("{}", "application/fhir+json", transport), (text, "application/x-www-form-urlencoded", transport),
            (text, "application/fhir+json", CurlTransport()),
        ] {
            let seen = try await encoding(text, type: type, transport)
            #expect(seen["headers"]?["content-encoding"] == nil)
            #expect(seen["body"]?.text == text)
        }
    }

    @Test func decompressesAnswers() async throws {
        let response = try await CurlTransport().send(get("/large?n=100000&gzip=1")).get()
        #expect(response.header("Content-Encoding") == "gzip")
        #expect(response.body == [UInt8](repeating: UInt8(ascii: "x"), count: 100_000))
    }

    @Test func followsNoRedirect() async throws {
        let response = try await CurlTransport().send(get("/redirect?to=\(server.url("/echo"))")).get()
        #expect(response.status == 302)
        #expect(response.header("Location") == server.url("/echo"))
        #expect(try await server.count("/echo") == "0")
    }

    // MARK: Connections

    @Test func keepsConnections() async throws {
        let transport = CurlTransport()
        var connections: Set<String> = []
        for _ in 0..<5 {
            connections.insert(try #require(try await transport.send(get("/echo")).get().json["connection"]?.digits))
        }
        // A connection that was quiet for too long, on a busy machine, is made anew.
        #expect(connections.count < 5)
    }

    @Test func noticesConnectionsThatHaveEnded() async throws {
        let transport = CurlTransport()
        for _ in 0..<5 {
            #expect(try await transport.send(get("/bye")).get().status == 200)
            try await server.wait(for: "1") { $0["open"] }
        }
        #expect(try await server.count("/bye") == "5")
    }

    @Test func limitsConnections() async throws {
        var settings = HTTPSettings()
        settings.connectionsPerHost = 3
        let transport = CurlTransport(settings)
        let server = server
        let request = get("/large?n=2000000")
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<24 {
                group.addTask { (try? await transport.send(request).get().body.count) == 2_000_000 }
            }
            for await isWhole in group { #expect(isWhole) }
        }
        #expect(try await server.count("/large") == "24")
        let stats = try await transport.send(get("/stats")).get().json
        let most = try #require(Int(stats["most"]?.digits ?? ""))
        #expect(most > 1 && most <= 4, "three, and that of the count: \(most)")
    }

    // MARK: Failures

    @Test func refusesLongAnswers() async throws {
        var settings = HTTPSettings()
        settings.maxResponseBytes = 50_000
        let transport = CurlTransport(settings)
        #expect(try await transport.send(get("/large?n=50000")).get().body.count == 50_000)
        for path in ["/large?n=50001", "/large?n=5000000&chunked=1", "/large?n=50000000&gzip=1"] {
            let failure = try await transport.failure(get(path))
            #expect(failure.kind == .tooLong)
            #expect(failure.message.contains("more than 50000 bytes"))
        }
    }

    @Test func givesUpInTime() async throws {
        let failure = try await CurlTransport().failure(get("/stall", timeout: 300))
        #expect(failure.kind == .timeout)
        #expect(failure.message == "http://127.0.0.1:\(server.port) has not answered GET within 300 ms")
    }

    @Test func knowsWhatSurelyWasNotSent() async throws {
        let transport = CurlTransport()
        let gone = try TestServer("http_server.py").url("/echo")
        #expect(try await transport.failure(HTTPRequest("GET", gone)).kind == .unreachable)
        let unknown = try await transport.failure(HTTPRequest("GET", "http://server.invalid/"))
        #expect(unknown.kind == .unreachable)
        #expect(unknown.message.hasPrefix("http://server.invalid cannot be reached: "))
        #expect(unknown.message.hasSuffix("; check the host name, and the name service of this machine"), "\(unknown)")
        // TLS with a server that speaks none.
        let plain = try await transport.failure(HTTPRequest("GET", server.secureURL("/echo")))
        #expect(plain.kind == .security || plain.kind == .unreachable)
        #expect(try await server.count("/echo") == "0")
    }

    @Test func givesUpConnectingInTime() async throws {
        var settings = HTTPSettings()
        settings.connectTimeout = 300
        let silent = try TestServer("http_server.py", ["--silent"])
        let failure = try await CurlTransport(settings).failure(HTTPRequest("GET", silent.secureURL("/")))
        // TLS was not agreed on, so nothing was sent: better news than a timeout.
        #expect(failure.kind == .unreachable, "\(failure)")
    }

    @Test(arguments: ["/reset", "/cut"]) func sendsOnceWhatMayBeLost(_ path: String) async throws {
        let transport = CurlTransport()
        // On a connection that was used before, libcurl by itself would send again after a reset.
        #expect(try await transport.send(get("/echo")).get().status == 200)
        let failure = try await transport.failure(HTTPRequest("POST", server.url(path), body: [1, 2, 3]))
        #expect(failure.kind == .lost, "\(failure)")
        #expect(try await server.count(path) == "1")
        #expect(try await transport.send(get("/echo")).get().status == 200)
    }

    @Test func hearsWhatIsSaidBeforeTheEndOfARequest() async throws {
        let transport = CurlTransport()
        let body = [UInt8](repeating: 0x20, count: 20_000_000)
        for _ in 0..<20 {
            let response = try await transport.send(HTTPRequest("POST", server.url("/early?n=413"), body: body)).get()
            #expect(response.status == 413)
        }
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/passwd", "http://kymo:hunter2@127.0.0.1/", "http:///", "http://127.0.0.1:0/",
        "http://127.0.0.1/ a", "http://127.0.0.1/\r\nX: hunter2", "http://127.0.0.1/#hunter2", "",
    ]) func refusesOtherURLs(_ url: String) async throws {
        let failure = try await CurlTransport().failure(HTTPRequest("GET", url))
        #expect(failure.kind == .unreachable)
        #expect(!failure.message.contains("hunter2"))
    }

    @Test func refusesHeadersThatWouldBeMore() async throws {
        for (name, value) in [("X", "hunter2\r\nY: 1"), ("X: Y", "hunter2"), ("", "hunter2"), ("X", "hunter2\u{0}")] {
            let request = HTTPRequest("GET", server.url("/echo"), headers: [(name, value)])
            let failure = try await CurlTransport().failure(request)
            #expect(failure.kind == .unreachable)
            #expect(!failure.message.contains("hunter2"))
        }
        #expect(try await CurlTransport().failure(HTTPRequest("GET /x", server.url("/echo"))).kind == .unreachable)
        #expect(try await server.count("/echo") == "0")
    }

    // MARK: End

    @Test func leavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer("http_server.py")
            func use() async throws {
                let transport = CurlTransport()
                for path in ["/echo", "/reset", "/cut", "/large?n=100000"] {
                    _ = await transport.send(HTTPRequest("POST", server.url(path), body: [1]))
                }
                transport.submit(HTTPRequest("GET", server.url("/stall"))) { _ in }
                transport.close()
            }
            try await use()
            let before = Files.names("/proc/self/fd").count
            for _ in 0..<50 { try await use() }
            try #require(Files.names("/proc/self/fd").count <= before)
        }
    }

    @Test func failsWhatWaitsWhenClosed() async throws {
        var settings = HTTPSettings()
        settings.connectionsPerHost = 1
        let transport = CurlTransport(settings)
        let ends = Mutex<[HTTPFailure.Kind?]>([])
        let note: @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void = { result in
            let kind: HTTPFailure.Kind? = if case .failure(let failure) = result { failure.kind } else { nil }
            ends.withLock { $0.append(kind) }
        }
        transport.submit(get("/stall", timeout: 600_000), completion: note)
        try await server.wait(for: "1") { $0["paths"]?["/stall"] }
        transport.submit(get("/echo", timeout: 600_000), completion: note)
        transport.close()
        #expect(ends.withLock { $0.map { $0 == .lost ? 1 : $0 == .closed ? 2 : 3 }.sorted() } == [1, 2])
        #expect(try await transport.failure(get("/echo")).kind == .closed)
        transport.close()
        #expect(try await server.count("/echo") == "0")
    }

    @Test func endsWithItsLastReference() async throws {
        let isDone = Mutex(false)
        do {
            let transport = CurlTransport()
            transport.submit(get("/stall")) { _ in isDone.withLock { $0 = true } }
        }
        #expect(isDone.withLock { $0 })
    }

    @Test func canBeClosedByACompletion() async throws {
        let transport = CurlTransport()
        let request = get("/echo")
        await withCheckedContinuation { continuation in
            transport.submit(request) { _ in
                transport.close()
                continuation.resume()
            }
        }
        #expect(try await transport.failure(request).kind == .closed)
    }
}
