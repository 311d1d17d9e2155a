import CommandSupport
import KymographTestKit
import Testing

/// Messages that python-hl7 and hl7apy make and send become valid FHIR, and both read the replies.
@Suite(.enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct HL7SenderTests {
    @Test func messagesOfBothLibraries() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start([
            "run", "--mllp", "127.0.0.1:0", "--mapping", "pcd-01", "--data", folder.file("data"), "--out",
            folder.file("out"), "--idle", "1s",
        ])
        let port = PostClient.port(try run.addresses()[0])
        let script = "\(SharedMaterial.package)/Tests/Validation/hl7_senders.py"
        let sent = try ChildProcess(SharedMaterial.python, ["-B", script, "127.0.0.1", "\(port)"]).finish(seconds: 120)
        let codes = ["AA", "AA", "AA", "AA", "AA", "AA", "AE"]
        let expected =
            codes.indices.map { "hl7 \($0 + 1) \(codes[$0])" }
            + codes.indices.map { "hl7apy \(101 + $0) \(codes[$0])" }
        #expect(sent.text.split(separator: "\n").map(String.init) == expected, "\(sent.error)")
        let done = try run.terminate()
        // Heart rates at two times, one of them corrected; saturations at three, and a blood pressure.
        let balance = try #require(done.balance)
        let reasons = ["unknownRetraction": 2, "nullValue": 2, "superseded": 2]
        #expect(balance.isClosed && balance.reasons == reasons, "\(done.error)")
        var bundles = BundleReader()
        let files = Files.names(folder.file("out")).map { folder.file("out/\($0)") }
        for file in files { try bundles.read(ndjson: Files.read(file)) }
        #expect(bundles.observations.count == 2 * 6)
        // A corrected Observation comes twice.
        #expect(try Validator.findings(in: files, version: "R4", passing: ["dup-"]) == [])
    }
}
