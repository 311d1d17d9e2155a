import CommandSupport
import Glibc
import Testing

/// Settings of sealed datagrams that cannot work are said with their place before anything runs.
@Suite struct SealedMistakesTests {
    private let folder = TemporaryFolder()
    private static let key = "5ec4e7030405060708090a0b0c0d0e0f"

    private func keys(_ text: String, mode: mode_t = 0o600) -> String {
        let file = folder.write("sealed.keys", text)
        unsafe chmod(file, mode)
        return file
    }

    private func mistakes(_ settings: [String]) throws -> [String] {
        let file = folder.write("mistake.yaml", "sources:\n\(TLSText.source("udp", settings))\n")
        return try ["check", "run"].map { command in
            let done = try Kymo.run([command, "--config", file])
            #expect(done.end == .exit(78), "\(command) \(settings): \(done.error)")
            return done.error + done.text
        }
    }

    @Test func settingsThatDoNotGoTogether() throws {
        let file = keys("0000000a:\(Self.key):pump-1\n")
        let sealed = "sealedKeyFile: \(file)"
        let psk = folder.write("psk.keys", "a:\(Self.key)\n")
        func peers(_ proof: String) -> String {
            "peers: " + folder.write("\(proof.utf8.count)-peers.yaml", "peers:\n  - \(proof)\n")
        }
        let cases: [(settings: [String], message: String)] = [
            ([sealed, "pskFile: \(psk)"], "a source takes either sealed datagrams or DTLS"),
            ([sealed, "certificateFile: \(psk)"], "a source takes either sealed datagrams or DTLS"),
            ([sealed, peers("pskIdentity: a")], "no client has one here"),
            ([sealed, peers("addresses: [127.0.0.1]")], "sealed datagrams are known by their keys alone"),
            (
                [peers("sealedKey: pump-1")],
                "a peer is known by the key of its sealed datagrams, and this source takes none"
            ),
            ([sealed, peers("sealedKey: a\n  - sealedKey: a")], "another peer has the same"),
        ]
        for (settings, message) in cases {
            for text in try mistakes(settings) { #expect(text.contains(message), "\(settings): \(text)") }
        }
        let elsewhere = folder.write("tcp.yaml", "sources:\n  - tcp: 127.0.0.1:0\n    sealedKeyFile: x\n")
        let done = try Kymo.run(["check", "--config", elsewhere])
        #expect(done.error.contains("it is for udp only"), "\(done.error)")
    }

    /// A line that holds no key is named by its place, and nothing of it is told.
    @Test func filesOfKeys() throws {
        let key = Self.key
        let long = String(repeating: "n", count: 129)
        let other = String(key.reversed())
        let half = "the line is the last one and not complete: end it with a line break"
        let cases: [(text: String, message: String)] = [
            ("", "holds no key"), ("# nothing\n\n", "holds no key"),
            ("0000000a\n", ":1:9: the line must have a ':' after 8 digits of key id"),
            ("\n0000000:\(key)\n", ":2:8: the line must begin with a key id of 8 hexadecimal digits"),
            ("pump-1:\(key)\n", ":1:1: the line must begin with a key id of 8 hexadecimal digits"),
            ("# a\n0000000a:\(key):pump-1", ":2:49: \(half)"), ("0000000a:\(key)\n# wa", ":2:5: \(half)"),
            ("0000000aa:\(key)\n", ":1:9: the line must have a ':' after 8 digits of key id"),
            (
                "0000000a:\(key.dropLast())\n",
                ":1:41: the line must have a key of 32 hexadecimal digits after the key id"
            ),
            ("0000000a:\(key)0\n", ":1:42: the line must have a key of 32 hexadecimal digits after the key id"),
            ("0000000a:\(key.dropLast())g\n", ":1:41: the line must have a key of 32 hexadecimal digits"),
            ("0000000a:" + String(repeating: "0", count: 32) + "\n", ":1:10: the line has a key of zeros"),
            ("0000000a:\(key):\n", ":1:43: the line has no name after the second ':'"),
            ("0000000a:\(key):\(long)\n", ":1:43: the line has a name of more than 128 bytes"),
            ("0000000a:\(key):0000000B\n", ":1:43: the line has a name of 8 hexadecimal digits"),
            ("0000000a:\(key):pump\t1\n", ":1:47: the line has a comma or control character in its name"),
            ("0000000a:\(key):a, the peer b\n", ":1:44: the line has a comma or control character in its name"),
            ("0000000a:\(key)\r\n0000000A:\(other)\n", ":2:1: the line repeats the key id of another line"),
            ("0000000a:\(key)\n\n0000000b:\(key.uppercased())\n", ":3:10: the line repeats the key of another line"),
        ]
        for (text, message) in cases {
            let file = keys(text)
            for said in try mistakes(["sealedKeyFile: \(file)"]) {
                #expect(said.contains(message) && said.contains("sealed.keys"), "\(text): \(said)")
                #expect(said.contains("openssl rand -hex 16"), "\(said)")
                #expect(!said.lowercased().contains("5ec4e7"), "\(said)")
            }
        }
        for said in try mistakes(["sealedKeyFile: \(keys("0000000a:\(key)\n", mode: 0o644))"]) {
            #expect(said.contains("run 'chmod 600' on it"), "\(said)")
        }
        let good = keys("# ward 3\n\n0000000A:\(key):Pümpe 3: left\r\nffffffff:\(other)\n")
        let file = folder.write("good.yaml", "sources:\n\(TLSText.source("udp", ["sealedKeyFile: \(good)"]))\n")
        let done = try Kymo.run(["check", "--config", file])
        #expect(done.end == .exit(0), "\(done.error)")
    }

    /// A file that is being replaced is no mistake of settings: whoever starts the process starts it again.
    @Test func aFileThatIsMissing() throws {
        let source = TLSText.source("udp", ["sealedKeyFile: \(folder.file("none"))"])
        let file = folder.write("missing.yaml", "sources:\n\(source)\n")
        for command in ["check", "run"] {
            let done = try Kymo.run([command, "--config", file])
            #expect(done.end == .exit(71), "\(command): \(done.error)")
            #expect((done.error + done.text).contains("cannot be read"), "\(done.error)")
        }
    }

    /// A name that is not UTF-8 is none.
    @Test func namesAreText() throws {
        let file = folder.file("bytes.keys")
        Files.write(Array("0000000a:\(Self.key):".utf8) + [0xFF, 0x0A], to: file)
        unsafe chmod(file, 0o600)
        for said in try mistakes(["sealedKeyFile: \(file)"]) {
            #expect(said.contains(":1:43: the line has a name that is not UTF-8"), "\(said)")
        }
    }
}
