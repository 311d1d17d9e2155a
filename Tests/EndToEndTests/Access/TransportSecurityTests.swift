import CommandSupport
import Kymograph
import KymographTestKit
import Testing

/// TLS with certificates of an authority that nobody knows.
@Suite struct TransportSecurityTests {
    private let authority: TestAuthority

    init() throws {
        authority = try TestAuthority()
    }

    private func settings(ca: String?, client: (certificate: String, key: String)? = nil) -> HTTPSettings {
        var settings = HTTPSettings()
        settings.caFile = ca
        settings.clientCertificate = client.map { .init(certificateFile: $0.certificate, keyFile: $0.key) }
        return settings
    }

    @Test func acceptsTheAuthorityOfItsFileOnly() async throws {
        let server = try TestServer("http_server.py", try authority.serverArguments())
        let request = HTTPRequest("GET", server.secureURL("/echo"))
        #expect(try await CurlTransport(settings(ca: authority.certificate)).send(request).get().status == 200)
        let other = try TestAuthority()
        for ca in [nil, other.certificate] {
            let failure = try await CurlTransport(settings(ca: ca)).failure(request)
            #expect(failure.kind == .security, "\(failure)")
            #expect(failure.message.hasPrefix("no secure connection to https://localhost:\(server.port): "))
            #expect(failure.message.hasSuffix("; name the authority of its certificate in the CA file"))
        }
        let missing = try await CurlTransport(settings(ca: "/nowhere/ca.pem")).failure(request)
        #expect(missing.kind == .security)
        #expect(missing.message.contains("/nowhere/ca.pem"))
    }

    /// Its end is that of its own certificate, also where it shows that of its authority, which ends sooner.
    @Test func tellsWhenTheCertificateOfAServerEnds() async throws {
        let transport = CurlTransport(settings(ca: authority.certificate))
        let plain = try TestServer("http_server.py")
        _ = try await transport.send(HTTPRequest("GET", plain.url("/echo"))).get()
        #expect(transport.serverCertificateExpiry == nil)
        let server = try TestServer("http_server.py", try authority.serverArguments(showsAuthority: true))
        let now = Double(WallClock.now().nanoseconds) / 1e9
        for _ in 0..<2 {
            #expect(try await transport.send(HTTPRequest("GET", server.secureURL("/echo"))).get().status == 200)
            let expiry = try #require(transport.serverCertificateExpiry)
            // Made for two days, a moment ago.
            #expect(abs(expiry - now - 2 * 86_400) < 3_600)
        }
    }

    @Test func wantsTheRightName() async throws {
        let (certificate, key) = try authority.issue("other", hosts: "DNS:fhir.hospital.example")
        let wrong = try TestServer("http_server.py", ["--cert", certificate, "--key", key])
        let failure = try await CurlTransport(settings(ca: authority.certificate)).failure(
            HTTPRequest("GET", wrong.secureURL("/echo")))
        #expect(failure.kind == .security, "\(failure)")
        #expect(failure.message.hasSuffix("; name it by a name that its certificate has"), "\(failure)")
    }

    @Test(arguments: [[], ["--tls12"]]) func showsItsCertificate(_ version: [String]) async throws {
        let arguments = try authority.serverArguments() + ["--client-ca", authority.certificate] + version
        let server = try TestServer("http_server.py", arguments)
        let request = HTTPRequest("GET", server.secureURL("/echo"))
        let ca = authority.certificate
        let client = try authority.issue("ward-7")
        let seen = try await CurlTransport(settings(ca: ca, client: client)).send(request).get().json
        #expect(seen["client"]?.text == "ward-7")
        let other = try TestAuthority()
        for client in [nil, try other.issue("stranger")] {
            let failure = try await CurlTransport(settings(ca: ca, client: client)).failure(request)
            #expect(failure.kind == .security, "\(failure)")
        }
    }

    @Test func asksNobodyForThePasswordOfAKey() async throws {
        let server = try TestServer("http_server.py", try authority.serverArguments())
        let (certificate, key) = try authority.issue("ward-7")
        try OpenSSLCommand.run(["pkey", "-in", key, "-out", "\(key).enc", "-aes128", "-passout", "pass:hunter2"])
        let settings = settings(ca: authority.certificate, client: (certificate, "\(key).enc"))
        let failure = try await CurlTransport(settings).failure(HTTPRequest("GET", server.secureURL("/echo")))
        #expect(failure.kind == .security, "\(failure)")
        let faults = ServerAccess(url: server.secureURL("/"), http: settings).faults()
        #expect(faults.map(\.setting) == ["http.clientCertificate.keyFile"])
        #expect(faults[0].message.contains("is encrypted"))
    }
}
