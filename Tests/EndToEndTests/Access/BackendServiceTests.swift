import CommandSupport
import Foundation
import Kymograph
import KymographTestKit
import Testing

/// SMART Backend Services against the strict server, which verifies signatures and claims; skipped without it.
@Suite(.enabled(if: SharedMaterial.canRunPython)) struct BackendServiceTests {
    private let folder = TemporaryFolder()

    /// Starts a server that knows the public part of `key` as `kid`; its key set is in `folder`.
    static func server(
        _ key: String, _ folder: TemporaryFolder, kid: String = "key-1", life: Int = 300
    ) async throws -> FHIRServer {
        let script = """
            import json, sys
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
            from jwt.algorithms import ECAlgorithm, RSAAlgorithm
            key = load_pem_private_key(open(sys.argv[1], "rb").read(), None).public_key()
            kind = RSAAlgorithm if hasattr(key.public_numbers(), "n") else ECAlgorithm
            print(json.dumps({"keys": [dict(json.loads(kind.to_jwk(key)), kid=sys.argv[2])]}))
            """
        let made = try ChildProcess(SharedMaterial.python, ["-c", script, key, kid]).finish()
        try #require(made.end == .exit(0), "\(made.error)")
        let keys = folder.write("jwks.json", made.text)
        let server = try FHIRServer(arguments: ["--auth", "ward=\(keys)", "--token-ttl", "\(life)"])
        try await server.waitUntilReady()
        return server
    }

    private func server(_ key: String) async throws -> FHIRServer { try await Self.server(key, folder) }

    private func access(_ server: FHIRServer, key: String, kid: String = "key-1") -> ServerAccess {
        let proof = OAuthClient.Proof.signature(key: SecretFile(key), identifier: kid)
        let client = OAuthClient(identifier: "ward", proof: proof, scope: "system/Observation.cu")
        return ServerAccess(url: server.base, authorization: .oauth(client))
    }

    private func tokens(_ server: FHIRServer) async throws -> String {
        let (data, _) = try await server.get("/_stats")
        return try JSONTree(parsing: Array(data))["tokens"]?.digits ?? "0"
    }

    @Test(arguments: [OpenSSLCommand.rsa, OpenSSLCommand.p384]) func signsAsTheServerWantsIt(
        _ kind: [String]
    ) async throws {
        let key = folder.file("key.pem")
        try OpenSSLCommand.key(key, kind)
        let server = try await server(key)
        let access = access(server, key: key)
        try access.validate()
        let transport = access.makeTransport()
        let authorizer = try access.makeAuthorizer(transport)
        // Often: in DER, one signature of 128 is shorter, and one of two has a number that begins with a zero byte.
        for round in 1...20 {
            let value = try await authorizer.value().get()
            let request = HTTPRequest(
                "GET", "\(server.base)/Observation", headers: [("Authorization", try #require(value))])
            #expect(try await transport.send(request).get().status == 200)
            #expect(try await tokens(server) == "\(round)")
            authorizer.refused(value)
        }
    }

    @Test func sharesOneFetch() async throws {
        let key = folder.file("key.pem")
        try OpenSSLCommand.key(key, OpenSSLCommand.p384)
        let server = try await server(key)
        let access = access(server, key: key)
        let authorizer = try access.makeAuthorizer(access.makeTransport())
        let values = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<50 { group.addTask { try? await authorizer.value().get() } }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(values.count == 1 && values.first != .some(nil))
        #expect(try await tokens(server) == "1")
    }

    @Test func tellsWhatIsWrongWithAKey() async throws {
        let key = folder.file("key.pem")
        let other = folder.file("other.pem")
        try OpenSSLCommand.key(key, OpenSSLCommand.p384)
        try OpenSSLCommand.key(other, OpenSSLCommand.p384)
        let server = try await server(key)
        for access in [access(server, key: key, kid: "key-2"), access(server, key: other)] {
            let failure = try await access.makeAuthorizer(access.makeTransport()).failure()
            #expect(!failure.isRetriable)
            #expect(failure.message.contains("invalid_client"))
        }
        #expect(try await tokens(server) == "0")
    }

    @Test func triesAgainWhenTheServerIsBack() async throws {
        let key = folder.file("key.pem")
        try OpenSSLCommand.key(key, OpenSSLCommand.p384)
        var gone = access(try await server(key), key: key)
        let first = try await gone.makeAuthorizer(gone.makeTransport()).failure()
        #expect(first.isRetriable)
        gone.url = try TestServer("http_server.py").url("/fhir")
        let second = try await gone.makeAuthorizer(gone.makeTransport()).failure()
        #expect(second.isRetriable)
    }
}
