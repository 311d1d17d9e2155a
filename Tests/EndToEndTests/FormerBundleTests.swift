import CommandSupport
import Kymograph
import KymographCore
import Testing

/// Bundles and lines as earlier versions of the store kept them: their entries give the same text again.
@Suite struct FormerBundleTests {
    private static let forms: [[String: String]] =
        ["put", "conditional-create", "conditional-update"].flatMap { write in
            ["transaction", "batch"].map { ["KYMO_OUTPUT_BUNDLE": $0, "KYMO_OUTPUT_WRITE": write] }
        } + [["KYMO_OUTPUT_BUNDLE": "collection"], ["KYMO_OUTPUT_FORMAT": "ndjson"]]

    @Test(arguments: forms, ReferenceInputs.all)
    func entriesGiveTheSameText(form: [String: String], input: ReferenceInputs) throws {
        // The profile needs references within bundles, and R4.
        guard input.profile == nil || form["KYMO_OUTPUT_BUNDLE"] == "transaction" else { return }
        for version in ["R4", "STU3"] where input.profile == nil || version == "R4" {
            var environment = form
            environment["KYMO_OUTPUT_MAX_ENTRIES"] = "15"
            environment["KYMO_OUTPUT_GATEWAY"] = "FE-ED-AB-EE-DE-AD-77-C3"
            environment["KYMO_OUTPUT_PROFILE"] = input.profile
            let done = try Kymo.run(
                ["run", "--stdin", "--ephemeral", "--window", "1m", "--fhir-version", version]
                    + input.mappings.flatMap { ["--mapping", $0] },
                environment: environment, input: .bytes(Readings.ndjson(input.lines)))
            #expect(done.end == .exit(0) && !done.output.isEmpty, "\(done.error)")
            for line in done.output.split(separator: 0x0A) {
                let text = Array(line) + [0x0A]
                #expect(again(text) == text, "\(version): \(String(decoding: text.prefix(2_000), as: UTF8.self))")
            }
        }
    }

    private func again(_ text: [UInt8]) -> [UInt8]? {
        var assembler = BundleAssembler()
        return FormerBundle.block(of: text)?.withByteView { assembler.text(of: $0)?.array }
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"resourceType":"Bundle"}"#, #"{"resourceType":"Bundle","type":"transaction"}"#,
        #"{"resourceType":"Bundle","type":"transaction","entry":[{}]}"#,
        #"{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient"}}]}"#,
        #"{"resourceType":"Bundle","type":"other","entry":[]}"#, "kymo",
    ]) func whatIsNoBundleIsRefused(text: String) {
        #expect(FormerBundle.block(of: Array(text.utf8)) == nil)
    }
}
