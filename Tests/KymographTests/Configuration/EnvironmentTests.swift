import Foundation
import Kymograph
import KymographTemplates
import Testing

/// Environment variables and flags: names, messages, lists.
@Suite struct EnvironmentTests {
    @Test func namesFollowTheKeys() {
        let variables = [
            "KYMO_WINDOW": "1m", "KYMO_MAX_FUTURE": "2m", "KYMO_OUTPUT_FORMAT": "ndjson", "KYMO_OUTPUT_TO": "out",
            "KYMO_OUTPUT_SYSTEMS_DEVICE_SUBJECT": "urn:a:b", "KYMO_LIMITS_READINGS_PER_WINDOW": "7",
            "KYMO_RING_SLOTS": "1024", "KYMO_DEAD_LETTER": "dead", "KYMO_IDENTITY": "strict",
            "KYMO_OUTPUT_COMPRESSION": "zstd", "KYMO_OUTPUT_ROTATE_AGE": "90m",
        ]
        let (settings, diagnostics) = load("", environment: variables)
        #expect(diagnostics.map(\.text) == [])
        #expect(settings.window == 60_000_000_000 && settings.maxFuture == 120_000_000_000)
        #expect(settings.output.format == .ndjson && settings.destination == .directory("out"))
        #expect(settings.output.deviceSubjectSystem == "urn:a:b" && settings.windows.limits.maxReadingsPerWindow == 7)
        #expect(settings.ringSlots == 1_024 && settings.deadLetter == "dead" && settings.requiresPatient)
        #expect(settings.rotation.compression == .zstd() && settings.rotation.maxAge == 5_400_000_000_000)
    }

    /// The variable that the reference names for a key sets that key.
    @Test func everyDocumentedVariableWorks() {
        let scratch = Scratch()
        // Files that are read when they are named.
        let token = scratch.file("token")
        let isWritten = FileManager.default.createFile(
            atPath: token, contents: Data("a-token-of-a-client\n".utf8), attributes: [.posixPermissions: 0o600])
        #expect(isWritten)
        let files = [
            "patients": "device,patient\nd,p\n", "rules": "rules:\n  - {name: a, then: reject, types: [t]}\n",
            "search.peers": "peers:\n  - {name: emr, tokenFile: \(token)}\n",
        ]
        for row in ConfigurationReference.settingsTable.split(separator: "\n").dropFirst(2) {
            let cells = row.split(separator: "|").map { String($0).replacing("`", with: "").trimmed }
            let literal = String(row.split(separator: "|")[1]).trimmed.hasPrefix("`")
            let form = cells[1].split(separator: " ").first.map(String.init) ?? "value"
            let named = files[cells[0]].map { text in
                let path = scratch.file("\(cells[0]).\(cells[0] == "patients" ? "csv" : "yaml")")
                Files.write(path, Array(text.utf8))
                return path
            }
            let value =
                named != nil
                ? named ?? ""
                : !cells[2].isEmpty ? cells[2] : cells[1] == "URL" ? "http://127.0.0.1/" : literal ? form : "value"
            // A server must be told where Patients come from, a search where it is asked, and TLS by which certificate.
            let certificate = ["KYMO_HTTP_CERTIFICATE_FILE": "c.pem"]
            let others = [
                "server.url": ["KYMO_SERVER_IDENTITY": "lookup"], "search.peers": ["KYMO_HTTP_ADMIN": "127.0.0.1:0"],
                "http.certificateKeyFile": certificate, "http.clientCAFile": certificate,
                "http.clientCRLFile": certificate.merging(["KYMO_HTTP_CLIENT_CA_FILE": "a.pem"]) { $1 },
            ]
            let companions = others[cells[0]] ?? [:]
            let result = load("", environment: companions.merging([cells[3]: value]) { $1 })
            #expect(result.settings.origins[cells[0]]?.subject == cells[3])
            #expect(result.diagnostics.filter { $0.severity == .error }.isEmpty)
        }
    }

    @Test(arguments: [
        ("KYMO_LANES", "many", "error: KYMO_LANES: 'many' is not a whole number; write a whole number from 1 to 256"),
        (
            "KYMO_OUTPUT_FORMAT", "json",
            "error: KYMO_OUTPUT_FORMAT: 'json' is not one of bundle, ndjson; did you mean "
                + "'ndjson'?"
        ),
        ("KYMO_MAPPINGS", "a,,b", "error: KYMO_MAPPINGS: a name is empty; write a mapping's name or folder"),
        (
            "KYMO_UDP", "127.0.0.1:1, 127.0.0.1:1",
            "error: KYMO_UDP: two sources have udp 127.0.0.1:1; remove one, or choose "
                + "another address"
        ),
        ("KYMO_STDIN", "1", "error: KYMO_STDIN: '1' is not true; write true, or remove the source"),
        ("KYMO_WINDW", "5m", "warning: KYMO_WINDW: no setting has this variable; did you mean 'KYMO_WINDOW'?"),
        (
            "KYMO_OUTPUT_ROTATE_BYTES", "1MiB",
            "warning: KYMO_OUTPUT_ROTATE_BYTES: it has no effect on stdout; name a "
                + "directory as output.to"
        ),
    ])
    func findings(variable: String, value: String, message: String) {
        #expect(messages("", environment: [variable: value]) == ["environment:1:1: \(message)"])
    }

    @Test func foreignVariablesAreNoConcern() {
        let foreign = ["PATH": "/bin", "KYMO_PORT_5757_UDP_ADDR": "10.0.0.1", "KYMO_SHARED": "x", "kymo_window": "x"]
        #expect(messages("", environment: foreign) == [])
    }

    @Test func flagsAreNamedAsTyped() {
        let result = load("", flags: [("output.to", "--out", ""), ("windw", "--windw", "x")])
        #expect(
            result.diagnostics.map(\.text) == [
                "command line:1:1: error: --out: the value is empty; write a directory, or stdout",
                "command line:1:1: error: --windw: unknown setting 'windw'; did you mean 'window'?",
            ])
    }
}

extension String {
    fileprivate var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
