import CommandSupport
import KymographTestKit
import Testing

/// Files of TLS that a listener, or a broker's client, cannot use: a mistake of the configuration, as any other.
@Suite struct ListenerFileTests {
    private let folder = TemporaryFolder()

    /// `kymo run` and `kymo check` exit with `status` and say `words`, and `check` says them of `place`.
    private func expectMistake(_ text: String, _ place: String, _ words: String, status: Int32 = 78) throws {
        folder.write("kymo.yaml", "data: data\n" + text)
        for command in ["check", "run"] {
            let done = try Kymo.run([command, "--config", "kymo.yaml"], directory: folder.path)
            #expect(done.end == .exit(status), "\(command) \(text): \(done.error)")
            let isSaid = done.lines(of: command == "check" ? place : "").contains { $0.contains(words) }
            #expect(isSaid, "\(command) \(words): \(done.error)")
        }
    }

    private static let listeners = [
        "tcp: '127.0.0.1:0'", "http: '127.0.0.1:0'", "mllp: '127.0.0.1:0', mappings: [pcd-01]", "udp: '127.0.0.1:0'",
    ]

    @Test(arguments: listeners) func sources(_ listener: String) throws {
        let authority = try TestAuthority()
        let (own, other) = (try authority.issue("own"), try authority.issue("other"))
        folder.write("empty", "nothing")
        let key = "certificateKeyFile: \(own.key)"
        for (settings, words) in [
            ("certificateFile: none.pem, \(key)", "none.pem"), ("certificateFile: empty, \(key)", "empty"),
            ("certificateFile: \(own.certificate), certificateKeyFile: none.key", "none.key"),
            ("certificateFile: \(own.certificate), certificateKeyFile: empty", "empty"),
            ("certificateFile: \(own.certificate), \(key), clientCAFile: none.pem", "none.pem"),
            ("certificateFile: \(own.certificate), \(key), clientCAFile: empty", "empty"),
            (
                "certificateFile: \(own.certificate), \(key), clientCAFile: \(authority.certificate), "
                    + "clientCRLFile: none.crl", "none.crl"
            ),
        ] {
            try expectMistake("sources: [{\(listener), \(settings)}]\n", "sources[0].", words)
        }
        // A renewal may have written the one, and not yet the other: a service is started again.
        let renewed = "certificateFile: \(own.certificate), certificateKeyFile: \(other.key)"
        try expectMistake("sources: [{\(listener), \(renewed)}]\n", "sources[0].", other.key, status: 71)
    }

    @Test func sharedKeys() throws {
        try expectMistake("sources: [{udp: '127.0.0.1:0', pskFile: none.psk}]\n", "sources[0].udp", "none.psk")
    }

    @Test func brokers() throws {
        let settings = "name: b, topics: a, caFile: none.pem"
        try expectMistake("sources: [{mqtt: 'mqtts://localhost:1', \(settings)}]\n", "sources[0].mqtt", "none.pem")
    }

    @Test func theAdminListener() throws {
        let http = "http: {admin: '127.0.0.1:0', certificateFile: none.pem, certificateKeyFile: none.key}\n"
        try expectMistake("sources: [{tcp: '127.0.0.1:0'}]\n" + http, "http.certificateFile", "none.pem")
    }
}

extension Kymo.Finished {
    /// The lines of standard error that name `place`.
    fileprivate func lines(of place: String) -> [String] {
        error.split(separator: "\n").map(String.init).filter { place.isEmpty || $0.contains(place) }
    }
}
