import CommandSupport
import Glibc
import Kymograph
import Testing

/// What is wrong with settings is said before anything is sent.
@Suite struct ServerAccessTests {
    private let folder = TemporaryFolder()

    private func file(_ name: String, _ text: String, mode: mode_t = 0o600) -> SecretFile {
        let path = folder.write(name, text)
        unsafe chmod(path, mode)
        return SecretFile(path)
    }

    private func settings(_ access: ServerAccess, readingFiles: Bool = true) -> [String] {
        access.faults(readingFiles: readingFiles).map(\.setting)
    }

    @Test func wantsEncryptionForSecrets() throws {
        let token = file("token", "abc")
        for (url, isSafe) in [
            ("https://fhir.example/r4", true), ("http://127.0.0.1:8080", true), ("http://fhir.example/r4", false),
        ] {
            var access = ServerAccess(url: url, authorization: .bearer(token))
            #expect(settings(access) == (isSafe ? [] : ["url"]))
            access.allowsUnencryptedSecrets = true
            #expect(settings(access).isEmpty)
            #expect(settings(ServerAccess(url: url)).isEmpty)
        }
    }

    @Test func wantsURLsWithoutSecrets() {
        let faults = ServerAccess(url: "https://kymo:hunter2@fhir.example").faults()
        #expect(
            faults.map(\.description) == ["url: has a user name or password in it; remove them and use a file"])
        #expect(settings(ServerAccess(url: "https://fhir.example/r4?x=1")) == ["url"])
        #expect(throws: ServerAccess.Fault.self) { try ServerAccess(url: "fhir.example").validate() }
    }

    @Test func checksNumbers() {
        var access = ServerAccess(url: "https://fhir.example")
        access.requestTimeout = 0
        access.http.connectTimeout = -1
        access.http.connectionsPerHost = 0
        access.http.maxResponseBytes = 10
        #expect(
            settings(access) == [
                "requestTimeout", "http.connectTimeout", "http.connectionsPerHost", "http.maxResponseBytes",
            ])
    }

    @Test func readsSecrets() {
        let open = file("open", "abc", mode: 0o644)
        let none = SecretFile(folder.file("none"))
        let url = "https://fhir.example"
        for (authorization, setting) in [
            (.bearer(open), "authorization.tokenFile"), (.bearer(none), "authorization.tokenFile"),
            (.basic(user: "ward", password: open), "authorization.passwordFile"),
            (.oauth(OAuthClient(identifier: "a", proof: .secret(open), scope: "")), "authorization.secretFile"),
            (
                .oauth(OAuthClient(identifier: "a", proof: .signature(key: open, identifier: "k"), scope: "s")),
                "authorization.keyFile"
            ),
        ] as [(ServerAuthorization, String)] {
            let access = ServerAccess(url: url, authorization: authorization)
            #expect(settings(access) == [setting])
            #expect(settings(access, readingFiles: false).isEmpty)
        }
        #expect(
            settings(ServerAccess(url: url, authorization: .basic(user: "a:b", password: file("ok", "abc"))))
                == ["authorization.user"])
    }

    @Test func readsKeysThatSign() throws {
        func fault(_ kind: [String]) throws -> String? {
            let key = folder.file("key.pem")
            try OpenSSLCommand.key(key, kind)
            let proof = OAuthClient.Proof.signature(key: SecretFile(key), identifier: "key-1")
            let client = OAuthClient(identifier: "ward", proof: proof, scope: "system/*.cu")
            return ServerAccess(url: "https://fhir.example", authorization: .oauth(client)).faults().first?.message
        }
        #expect(try fault(OpenSSLCommand.rsa) == nil)
        #expect(try fault(OpenSSLCommand.p384) == nil)
        #expect(try fault(OpenSSLCommand.p256)?.contains("is on the curve prime256v1; use RSA or P-384") ?? false)
        #expect(try fault(["-algorithm", "ED25519"])?.contains("is of another kind; use RSA or P-384") ?? false)
        let short = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]
        #expect(try fault(short)?.contains("is an RSA key of 1024 bits") ?? false)
        let locked = OpenSSLCommand.p384 + ["-aes128", "-pass", "pass:hunter2"]
        #expect(try fault(locked)?.contains("is encrypted; write it without a password") ?? false)
    }

    @Test func wantsAllOfASigningClient() {
        let key = file("key.pem", "no key")
        let proof = OAuthClient.Proof.signature(key: key, identifier: "")
        let client = OAuthClient(identifier: "", proof: proof, scope: "", tokenURL: "http://login.example")
        let access = ServerAccess(url: "https://fhir.example", authorization: .oauth(client))
        #expect(
            settings(access) == [
                "authorization.client", "authorization.tokenURL", "authorization.scope", "authorization.keyIdentifier",
                "authorization.keyFile",
            ])
    }

    @Test func readsCertificates() throws {
        let authority = try TestAuthority()
        let (certificate, key) = try authority.issue("ward-7")
        let (_, otherKey) = try authority.issue("ward-8")
        var access = ServerAccess(url: "https://fhir.example")
        access.http.caFile = authority.certificate
        access.http.clientCertificate = .init(certificateFile: certificate, keyFile: key)
        #expect(access.faults().isEmpty)
        access.http.clientCertificate?.keyFile = otherKey
        #expect(access.faults().map(\.message) == ["\(otherKey) is not the key of the client certificate"])
        access.http.caFile = key
        access.http.clientCertificate?.certificateFile = "/nowhere"
        #expect(settings(access) == ["http.caFile", "http.clientCertificate.certificateFile"])
    }
}
