import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What a search answers is FHIR, says somebody else.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct SearchValidityTests {
    @Test(arguments: ["R4", "R4B", "R5", "STU3"]) func answersAreValid(version: String) throws {
        let folder = TemporaryFolder()
        let data = folder.file("data")
        let filled = try Kymo.run(
            ["run", "--stdin", "--data", data, "--fhir-version", version],
            input: .bytes(try SimulatedReadings.tenMinutes(seed: 7)))
        #expect(filled.end == .exit(0), "\(filled.error)")
        folder.write("token", "a-token-of-the-validator\n")
        _ = unsafe chmod(folder.file("token"), 0o600)
        folder.write("peers.yaml", "peers:\n  - {name: validator, tokenFile: \(folder.file("token"))}\n")
        folder.write("search.yaml", "search: {peers: \(folder.file("peers.yaml"))}\n")
        let run = try Kymo.start([
            "run", "--udp", "127.0.0.1:0", "--data", data, "--out", folder.file("out"), "--admin", "127.0.0.1:0",
            "--config",
            folder.file("search.yaml"), "--fhir-version", version,
        ])
        let client = try AdminClient(run)
        // One moment of a server: what is on a page is not in the whole as well.
        for (name, paths) in [("whole", Self.paths), ("page", [("Observation?_count=2", 200)])] {
            var lines = ""
            for (path, status) in paths {
                let answer = try client.get(
                    "/fhir/\(path)", fields: "Authorization: Bearer a-token-of-the-validator\r\n")
                #expect(answer.status == status, "\(path): \(answer.body)")
                lines += answer.body + "\n"
            }
            folder.write("\(name).ndjson", lines)
            // R4's schema ends with 4.0.0, though R4 is 4.0.1.
            let findings = try Validator.findings(in: [folder.file("\(name).ndjson")], version: version)
                .filter { !$0.contains("fhirVersion: '4.0.1' is not one of") }
            #expect(findings.isEmpty, "\(version) \(name): \(findings.prefix(5))")
        }
        #expect(try run.terminate().end == .exit(0))
    }

    private static let paths = [
        ("metadata", 200), ("Observation?_count=1000", 200), ("Observation?_summary=count", 200),
        ("Observation?code=nothing", 200), ("Observation?colour=red", 400), ("Observation/absent", 404),
    ]
}
