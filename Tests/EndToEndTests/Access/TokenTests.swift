import CommandSupport
import Kymograph
import KymographTestKit
import Testing

/// Tokens of real servers.
@Suite struct TokenTests {
    private let folder = TemporaryFolder()

    private func secret(_ text: String) -> SecretFile {
        let path = folder.write("secret", text)
        return SecretFile(path)
    }

    @Test func getsTokensByASecret() async throws {
        let server = try TestServer("http_server.py")
        let client = OAuthClient(
            identifier: "kymo", proof: .secret(secret("s3cret\n")), scope: "system/*.cu", tokenURL: server.url("/token")
        )
        let access = ServerAccess(url: server.url("/"), authorization: .oauth(client))
        try access.validate()
        let transport = access.makeTransport()
        let authorizer = try access.makeAuthorizer(transport)
        func guarded() async throws -> Int {
            let value = try #require(try await authorizer.value().get())
            let request = HTTPRequest("GET", server.url("/guarded"), headers: [("Authorization", value)])
            return try await transport.send(request).get().status
        }
        for _ in 0..<3 { #expect(try await guarded() == 200) }
        #expect(try await server.count("/token") == "1")
        #expect(try await transport.send(HTTPRequest("POST", server.url("/revoke"))).get().status == 200)
        #expect(try await guarded() == 401)
        authorizer.refused(try await authorizer.value().get())
        #expect(try await guarded() == 200)
        #expect(try await server.count("/token") == "2")
    }

    @Test func tellsWhatIsWrongWithASecret() async throws {
        let server = try TestServer("http_server.py")
        let client = OAuthClient(
            identifier: "kymo", proof: .secret(secret("hunter2")), scope: "", tokenURL: server.url("/token"))
        let access = ServerAccess(url: server.url("/"), authorization: .oauth(client))
        let failure = try await access.makeAuthorizer(access.makeTransport()).failure()
        #expect(!failure.isRetriable)
        #expect(failure.message.contains("invalid_client (status 401); check client"))
        #expect(!failure.message.contains("hunter2"))
    }
}

extension RequestAuthorizer {
    /// Asks for a value that cannot be had.
    func failure() async throws -> AuthorizationFailure {
        switch await value() {
        case .success: throw WaitError(description: "a value instead of a failure")
        case .failure(let failure): return failure
        }
    }
}
