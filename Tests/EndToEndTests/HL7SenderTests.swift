import CommandSupport
import KymographTestKit
import Testing

/// Messages that python-hl7 and hl7apy make and send become valid FHIR, and both read the replies.
@Suite(.enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct HL7SenderTests {
    private let folder = TemporaryFolder()

    /// Sends the messages of both libraries to a run with `mappings`, which must answer them with `codes`.
    private func run(_ mappings: [String], codes: [String]) throws -> Kymo.Finished {
        let named = mappings.flatMap { ["--mapping", $0] }
        let run = try Kymo.start(
            ["run", "--mllp", "127.0.0.1:0", "--data", folder.file("data"), "--out", folder.file("out")] + named
                + ["--idle", "1s"])
        let port = PostClient.port(try run.addresses()[0])
        let script = "\(SharedMaterial.package)/Tests/Validation/hl7_senders.py"
        let sent = try ChildProcess(SharedMaterial.python, ["-B", script, "127.0.0.1", "\(port)"]).finish(seconds: 120)
        let expected =
            codes.indices.map { "hl7 \($0 + 1) \(codes[$0])" }
            + codes.indices.map { "hl7apy \(101 + $0) \(codes[$0])" }
        #expect(sent.text.split(separator: "\n").map(String.init) == expected, "\(sent.error)")
        return try run.terminate()
    }

    /// The Observations that were written, which must be valid.
    private func observations() throws -> BundleReader {
        var bundles = BundleReader()
        let files = Files.names(folder.file("out")).map { folder.file("out/\($0)") }
        for file in files { try bundles.read(ndjson: Files.read(file)) }
        // A corrected Observation comes twice.
        #expect(try Validator.findings(in: files, version: "R4", passing: ["dup-"]) == [])
        return bundles
    }

    @Test func messagesOfBothLibraries() throws {
        let codes = ["AA", "AA", "AA", "AA", "AA", "AA", "AE", "AE", "AE", "AE", "AA"]
        let done = try run(["pcd-01"], codes: codes)
        // Heart rates at five times, one of them corrected; saturations at four, and a blood pressure. A waveform, a
        // rhythm and a result that could not be obtained are said to be left out.
        let balance = try #require(done.balance)
        let reasons = [
            "unknownRetraction": 2, "nullValue": 2, "superseded": 2, "noTemplate": 4, "resultStatus": 2,
        ]
        #expect(balance.isClosed && balance.reasons == reasons, "\(done.error)")
        #expect(try observations().observations.count == 2 * 10)
    }

    /// A mapping of one's own beside pcd-01 reads arrays of numbers (NA) and codes (CE).
    @Test func waveformsAndCodes() throws {
        func template(_ name: String, _ type: String, _ code: String, _ member: String) -> String {
            """
            {"templateType":"CalculatedContent","template":{"typeName":"\(name)",
             "typeMatchExpression":"$.OBX[?(@.2 == '\(type)' && @.3.1 == '\(code)')]",
             "deviceIdExpression":"$.matchedToken.device","patientIdExpression":"$.matchedToken.patient",
             "timestampExpression":"$.matchedToken.time",
             "values":[{"valueName":"v","valueExpression":"$.matchedToken.\(member)","required":true}]}}
            """
        }
        func shell(_ name: String, _ value: String) -> String {
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\(name)","period":"instance",
             "codes":[{"system":"urn:ward","code":"\(name)"}],"value":{\(value)}}}
            """
        }
        let devices = [
            template("wardWaveform", "NA", "131330", "samples"), template("wardRhythm", "CE", "RHYTHM", "value"),
        ]
        let shells = [
            shell(
                "wardWaveform",
                "\"valueType\":\"SampledData\",\"valueName\":\"v\",\"dimensions\":1,\"defaultPeriod\":4,\"unit\":\"mV\","
                    + "\"code\":\"mV\""), shell("wardRhythm", "\"valueType\":\"String\",\"valueName\":\"v\""),
        ]
        folder.write(
            "ward/device.json",
            "{\"templateType\":\"CollectionContent\",\"payload\":\"hl7v2\",\"template\":[\(devices.joined(separator: ","))]}"
        )
        folder.write(
            "ward/fhir.json",
            "{\"templateType\":\"CollectionFhir\",\"template\":[\(shells.joined(separator: ","))]}")
        let codes = ["AA", "AA", "AA", "AA", "AA", "AA", "AE", "AA", "AA", "AE", "AA"]
        let done = try run(["pcd-01", folder.file("ward")], codes: codes)
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.reasons["noTemplate"] == nil, "\(done.error)")
        #expect(try observations().observations.count == 2 * 12)
        let text = Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }.joined()
        #expect(text.ranges(of: "\"data\":\"0.10 -0.05 E 0.20\"").count == 2, "\(text.prefix(4_000))")
        #expect(text.ranges(of: "\"valueString\":\"SR\"").count == 2, "\(text.prefix(4_000))")
    }
}
