import CommandSupport
import Glibc
import Testing

/// Settings of DTLS that cannot work are said with their place before anything runs.
@Suite struct DTLSMistakesTests {
    private let folder = TemporaryFolder()
    private let authority: TestAuthority
    private static let key = "000102030405060708090a0b0c0d0e0f"

    init() throws { authority = try TestAuthority() }

    private func mistakes(_ settings: [String]) throws -> [String] {
        let file = folder.write("mistake.yaml", "sources:\n\(TLSText.source("udp", settings))\n")
        return try ["check", "run"].map { command in
            let done = try Kymo.run([command, "--config", file])
            #expect(done.end != .exit(0), "\(command) \(settings)")
            return done.error + done.text
        }
    }

    @Test func settingsThatDoNotGoTogether() throws {
        let (certificate, key) = try authority.issue("localhost")
        let both = ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"]
        let keys = DTLSText.keys("a:\(Self.key)\n", in: folder)
        let byCertificate = folder.write("certificate.yaml", "peers:\n  - certificate: a\n")
        let byKey = folder.write("key.yaml", "peers:\n  - pskIdentity: a\n")
        let cases: [(settings: [String], message: String)] = [
            (["pskCCM8: true"], "pskCCM8 has no effect without pskFile"),
            (["certificateKeyFile: \(key)"], "without certificateFile there is no TLS"),
            (["pskFile: \(keys)", "clientCAFile: \(certificate)"], "without certificateFile there is no TLS"),
            (["certificateFile: \(certificate)"], "or name its key's own file as certificateKeyFile"),
            (both + ["clientCRLFile: \(keys)"], "clientCRLFile has no effect without clientCAFile"),
            (both + ["peers: \(byCertificate)"], "a peer is known by its certificate, and no client shows one"),
            (both + ["peers: \(byKey)"], "a peer is known by its pre-shared key, and no client has one here"),
            (both + ["associations: 0"], "mistake.yaml:5:19: error: sources[0].associations"),
            (both + ["handshakeRate: many"], "mistake.yaml:5:20: error: sources[0].handshakeRate"),
            (both + ["associationIdle: 1"], "mistake.yaml:5:22: error: sources[0].associationIdle"),
        ]
        for (settings, message) in cases {
            for text in try mistakes(settings) { #expect(text.contains(message), "\(settings): \(text)") }
        }
        let elsewhere = folder.write("tcp.yaml", "sources:\n  - tcp: 127.0.0.1:0\n    pskFile: x\n")
        let done = try Kymo.run(["check", "--config", elsewhere])
        #expect(done.error.contains("it is for udp only"), "\(done.error)")
    }

    /// A line that holds no key is named by its number, and nothing of it is told.
    @Test func filesOfKeys() throws {
        let secret = "5ec4e7" + Self.key.dropFirst(6)
        let long = String(repeating: "i", count: 129)
        let cases: [(text: String, message: String)] = [
            ("", "holds no key"),
            ("# nothing\n\n", "holds no key"),
            ("a:\(secret)\nb\n", ":2:1: the line is not 'identity:key'"),
            (":\(secret)\n", ":1:1: the line has no identity"),
            ("a:\(secret.dropLast(2))\n", ":1:1: the line must have a key of 16 to 64 bytes"),
            ("a:\(secret)0\n", ":1:1: the line must have a key of 16 to 64 bytes"),
            ("a:\(secret)zz\n", ":1:1: the line has characters other than hexadecimal digits"),
            ("\(long):\(secret)\n", ":1:1: the line has an identity of more than 128 bytes"),
            ("a\tb:\(secret)\n", ":1:1: the line has a control character"),
            (
                "a:\(secret)\r\nb:\(secret)\nA:\(secret)\na:\(secret)ff\n",
                ":4:1: the line repeats the identity of another line"
            ),
        ]
        for (text, message) in cases {
            let file = DTLSText.keys(text, in: folder)
            for said in try mistakes(["pskFile: \(file)"]) {
                #expect(said.contains(message) && said.contains("psk.keys"), "\(text): \(said)")
                #expect(!said.contains("5ec4e7"), "\(said)")
            }
        }
        let open = folder.write("open.keys", "a:\(secret)\n")
        unsafe chmod(open, 0o644)
        for said in try mistakes(["pskFile: \(open)"]) { #expect(said.contains("run 'chmod 600' on it"), "\(said)") }
        for said in try mistakes(["pskFile: \(folder.file("none"))"]) {
            #expect(said.contains("cannot be read"), "\(said)")
        }
        let good = DTLSText.keys("a:\(secret)\r\nb:\(secret)", in: folder)
        let file = folder.write("good.yaml", "sources:\n\(TLSText.source("udp", ["pskFile: \(good)"]))\n")
        #expect(try Kymo.run(["check", "--config", file]).end == .exit(0))
    }
}
