import CommandSupport
import KymographTestKit
import Testing

/// `--fhir-version`, `output.fhirVersion` and `fhirVersion` of a mapping.
@Suite struct VersionFlagTests {
    private static let payload = ChildProcess.Input.bytes(Array(Readings.heartRate(second: 0).utf8))
    private static let old = "http://hl7.org/fhir/observation-category"

    private func mapping(for version: String) -> TemporaryFolder {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write(
            "mine/fhir.json",
            MappingText.fhir.replacing("\"template\": [", with: "\"fhirVersion\": \"\(version)\", \"template\": ["))
        return folder
    }

    @Test func mapWritesTheVersion() throws {
        let r4 = try Kymo.run(["map"], input: Self.payload)
        let r4b = try Kymo.run(["map", "--fhir-version", "R4B"], input: Self.payload)
        let stu3 = try Kymo.run(["map", "--fhir-version", "STU3"], input: Self.payload)
        #expect(r4.end == .exit(0) && r4.output == r4b.output && !r4.text.contains(Self.old))
        #expect(stu3.end == .exit(0) && stu3.text.contains(Self.old))
        let unknown = try Kymo.run(["map", "--fhir-version", "R6"], input: Self.payload)
        #expect(unknown.end == .exit(78) && unknown.error.contains("R4, R4B, STU3, R5"), "\(unknown.error)")
    }

    /// Flag, environment and file, the first of them wins.
    @Test func runWritesTheVersion() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "output: {fhirVersion: STU3}\nsources: [{stdin: true}]\n")
        let fromFile = try Kymo.run(["run", "--config", file], input: Self.payload)
        let fromEnvironment = try Kymo.run(
            ["run", "--stdin"], environment: ["KYMO_OUTPUT_FHIR_VERSION": "STU3"], input: Self.payload)
        let fromFlag = try Kymo.run(["run", "--config", file, "--fhir-version", "R5"], input: Self.payload)
        #expect(fromFile.text.contains(Self.old) && fromFile.output == fromEnvironment.output)
        #expect(fromFlag.end == .exit(0) && !fromFlag.text.contains(Self.old) && !fromFlag.output.isEmpty)
        let unknown = try Kymo.run(["run", "--stdin", "--fhir-version", "r4"], input: Self.payload)
        #expect(unknown.end == .exit(78) && unknown.error.contains("'r4' is not one of R4, R4B, STU3, R5"))
    }

    @Test func mappingAndOutputMustAgree() throws {
        let folder = mapping(for: "STU3")
        for command in [["map", "--mapping", "./mine"], ["check", "--mapping", "./mine"], ["test", "./mine"]] {
            let refused = try Kymo.run(command, directory: folder.path, input: Self.payload)
            #expect(refused.end == .exit(78), "\(command): \(refused.end)")
            #expect(
                refused.error.contains("written for FHIR STU3, but the output is R4; set output.fhirVersion to STU3"),
                "\(command): \(refused.error)")
            let taken = try Kymo.run(
                command + ["--fhir-version", "STU3"], directory: folder.path, input: Self.payload)
            #expect(taken.end != .exit(78) && !taken.error.contains("other-fhir-version"), "\(taken.error)")
        }
    }

    @Test func writeHasNoEffectInCollections() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "output: {bundle: collection, write: put}\nsources: [{stdin: true}]\n")
        let done = try Kymo.run(["check", "--config", file])
        #expect(done.end == .exit(0) && done.error.contains("output.write: it has no effect in collections"))
    }
}
