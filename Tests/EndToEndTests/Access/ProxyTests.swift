import CommandSupport
import Glibc
import Kymograph
import KymographTestKit
import Testing

/// Proxies that the environment names. Each test is a process of its own: the environment belongs to a process.
@Suite struct ProxyTests {
    @Test func carriesPlainRequests() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer("http_server.py")
            let proxy = try TestServer("proxy.py", ["--upstream", server.port])
            unsafe setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            unsafe setenv("no_proxy", "127.0.0.1", 1)
            let transport = CurlTransport()
            let url = "http://server.kymograph.test/echo"
            let response = try await transport.send(HTTPRequest("GET", url)).get()
            try #require(response.status == 200)
            try #require(proxy.lines.count == 1 && proxy.lines[0].hasPrefix("GET \(url) HTTP/1.1;"))
            // Not by the proxy.
            try #require(try await transport.send(HTTPRequest("GET", server.url("/echo"))).get().status == 200)
            try #require(proxy.lines.count == 1)
        }
    }

    @Test func carriesTunnels() async {
        await #expect(processExitsWith: .success) {
            let authority = try TestAuthority()
            let server = try TestServer("http_server.py", try authority.serverArguments())
            let proxy = try TestServer("proxy.py", ["--upstream", server.port])
            unsafe setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            var settings = HTTPSettings()
            settings.caFile = authority.certificate
            let request = HTTPRequest("GET", "https://server.kymograph.test/echo", headers: [("X-Ward", "7")])
            let seen = try await CurlTransport(settings).send(request).get().json
            try #require(seen["headers"]?["x-ward"]?.text == "7")
            try #require(proxy.lines.count == 1)
            try #require(proxy.lines[0].hasPrefix("CONNECT server.kymograph.test:443 HTTP/1.1;"))
            try #require(!proxy.lines[0].lowercased().contains("x-ward"))
        }
    }

    @Test func knowsThatARefusedTunnelCarriedNothing() async {
        await #expect(processExitsWith: .success) {
            let proxy = try TestServer("proxy.py", ["--upstream", "1", "--deny"])
            unsafe setenv("https_proxy", "http://kymo:hunter2@127.0.0.1:\(proxy.port)", 1)
            let transport = CurlTransport()
            let request = HTTPRequest("POST", "https://server.kymograph.test/", body: [1])
            let failure = try await transport.failure(request)
            try #require(failure.kind == .unreachable)
            try #require(failure.message.contains("403"))
            try #require(!failure.message.contains("hunter2"))
            unsafe setenv("https_proxy", "http://kymo:hunter2@127.0.0.1:1", 1)
            let gone = try await transport.failure(request)
            try #require(gone.kind == .unreachable)
            try #require(!gone.message.contains("hunter2"))
        }
    }
}
