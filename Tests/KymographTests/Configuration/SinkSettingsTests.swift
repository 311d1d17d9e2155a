import Kymograph
import KymographTemplates
import KymographTestKit
import Testing

/// The `sinks` of a file, and what is wrong with them.
@Suite struct SinkSettingsTests {
    @Test func readsEveryKind() throws {
        let result = load(
            """
            sources: [{udp: 127.0.0.1:5757, name: ward}, {unix: a.sock}]
            sinks:
              - to: /var/lib/out
                types: [heartRate, body*]
                devices: bed-*
              - to: stdout
                sources: [ward, unix *]
                tags: [urn:study|research]
              - server: https://fhir.example/r4/
                name: hospital
                identity: lookup
                authorization: bearer
                tokenFile: /etc/token
            """)
        #expect(result.diagnostics.map(\.text) == [])
        let sinks = result.settings.outgoingSinks
        try #require(sinks.count == 3)
        #expect(sinks.map(\.name) == ["files /var/lib/out", "stdout", "hospital"])
        #expect(sinks[0].address as? DirectoryAddress == DirectoryAddress(path: "/var/lib/out"))
        #expect(sinks[1].address is StandardOutputAddress)
        #expect(sinks[0].types == ["heartRate", "body*"] && sinks[0].devices == ["bed-*"])
        #expect(sinks[1].sources == ["ward", "unix *"] && sinks[1].tags == ["urn:study|research"])
        let server = try #require(sinks[2].address as? ServerSettings)
        #expect(server.url == "https://fhir.example/r4/" && server.identity == .lookup)
        #expect(server.authorization == .bearer && server.tokenFile == "/etc/token")
    }

    /// Without a list, `output.to` and `server` are the sinks.
    @Test func theShortForms() {
        func names(_ file: String) -> [String] { load(file).settings.outgoingSinks.map(\.name) }
        #expect(names("") == ["output"])
        #expect(names("output: {to: out}") == ["output"])
        let server = "server: {url: https://fhir.example/r4/, identity: create}"
        #expect(names(server) == ["output", "server https://fhir.example/r4"])
        #expect(names("output: {to: none}\n\(server)") == ["server https://fhir.example/r4"])
    }

    @Test(arguments: [
        ("sinks: []", "1:8: error: sinks: no sink is named; name one, or remove the key"),
        ("sinks:\n- name: x", "2:3: error: sinks[0]: it says neither where bundles go nor to which server"),
        ("sinks:\n- to: a\n  server: https://h/r4", "3:3: error: sinks[0]: 'server' is given besides 'to'"),
        ("sinks:\n- to: a\n  type: x", "3:3: error: sinks[0]: unknown key 'type'; did you mean 'types'?"),
        ("sinks:\n- to: none", "2:7: error: sinks[0].to: bundles would go nowhere"),
        ("sinks:\n- to: a\n- to: a", "3:7: error: sinks[1].to: two sinks are called 'files a'"),
        (
            "sinks:\n- {to: stdout, name: a}\n- {to: stdout, name: b}",
            "3:8: error: sinks[1].to: two sinks write to one place"
        ),
        ("sinks:\n- to: a\n  name: \"a\\nb\"", "2:7: error: sinks[0].to: the name has a control character"),
        ("sinks:\n- to: a\n  sources: wrad", "3:12: error: sinks[0].sources: no source is called 'wrad'"),
        ("sinks:\n- to: a\n  gzip: true", "3:9: warning: sinks[0].gzip: it has no effect without a server"),
        ("sinks:\n- server: https://h/r4", "2:11: error: sinks[0].server: identity is not said"),
        ("sinks:\n- to: a\noutput: {to: b}", "3:14: error: output.to: it is given besides sinks"),
        (
            "sinks:\n- server: https://h/r4\n  identity: create\n  keyFile: /k",
            "4:12: error: sinks[0].keyFile: it has no effect: the server is asked without authorization"
        ),
        (
            "sinks: [\((0..<9).map { "{to: d\($0)}" }.joined(separator: ", "))]",
            "1:94: error: sinks[8].to: there are 9 sinks; keep at most 8"
        ),
    ])
    func findings(file: String, message: String) {
        let found = messages(file).map { $0.replacing("kymo.yaml:", with: "") }
        #expect(found.contains { $0.hasPrefix(message) }, "\(found)")
    }

    @Test func theFlagForAPlaceIsRefusedBesidesTheList() {
        let result = load("sinks: [{to: a}]", flags: [(key: "output.to", flag: "--out", value: "b")])
        #expect(result.diagnostics.map(\.text).contains { $0.contains("--out: it is given besides sinks") })
    }
}
