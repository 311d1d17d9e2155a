import CommandSupport
import KymographTestKit
import Testing

/// A payload that waits in a dead letter, and holds a value that was taken back and corrected meanwhile.
@Suite struct RenewedLetterTests {
    private let folder = TemporaryFolder()

    /// `hr` in windows, which can be taken back by its time; of `sp`, the value is at `path`.
    private func write(sp path: String) {
        let whose = #""deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s""#
        func device(_ type: String, _ members: String) -> String {
            #"{"templateType":"JsonPathContent","template":{"typeName":"\#(type)",\#(whose),\#(members)}}"#
        }
        func value(_ type: String, _ path: String) -> String {
            """
            "typeMatchExpression":"$..[?(@\(type))]","values":[{"valueName":"x","valueExpression":"\(path)","required":true}]
            """
        }
        let templates = [
            device("hr", value("hr", "$.hr")), device("sp", value("sp", path)),
            device("hr", #""typeMatchExpression":"$..[?(@gone)]","retracts":true"#),
        ]
        folder.write(
            "m/device.json",
            #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#)
        let fhir = ["hr", "sp"].map { type in
            #"""
            {"templateType":"CodeValueFhir","template":{"typeName":"\#(type)","period":"5m",
            "codes":[{"system":"urn:t","code":"\#(type)"}],"value":{"valueName":"x","valueType":"Statistics",
            "aggregate":"sum","components":[],"unit":"1","code":"1"}}}
            """#
        }
        folder.write(
            "m/fhir.json", #"{"templateType":"CollectionFhir","template":[\#(fhir.joined(separator: ","))]}"#)
        folder.write("kymo.yaml", "mappings: [./m]\ndata: data\noutput: {to: out, format: ndjson}\n")
    }

    private func kymo(_ arguments: [String], _ lines: [String] = []) throws -> Kymo.Finished {
        try Kymo.run(
            arguments + ["--config", "kymo.yaml"], directory: folder.path, input: .bytes(Readings.ndjson(lines)))
    }

    /// The value of each type.
    private func values() throws -> [String: String] {
        let observations = try kymo(["query"]).lines.map { try JSONTree(parsing: Array($0.utf8)) }
        return Dictionary(
            uniqueKeysWithValues: observations.map { one in
                let type = one["code"]?["coding"]?.elements?.first?["code"]?.text ?? ""
                return (type, one["valueQuantity"]?["value"]?.digits ?? "")
            })
    }

    /// Catches: 60 and 72 both in the window after the replay. All lines come at once, and have one receive time but for
    /// what the correction adds; or in two runs.
    @Test(arguments: [true, false]) func theFormerValueDoesNotComeBack(isAtOnce: Bool) throws {
        write(sp: "$.nothing")
        let first = #"{"d":"w","t":1772352001,"hr":60,"sp":97}"#
        let correction = #"[{"gone":true,"d":"w","t":1772352001},{"d":"w","t":1772352001,"hr":72}]"#
        // What comes behind the correction, in the same moment, counts.
        let later = #"{"d":"w","t":1772352002,"hr":100,"sp":98}"#
        if isAtOnce {
            #expect(try kymo(["run", "--stdin"], [first, correction, later]).end == .exit(0))
        } else {
            #expect(try kymo(["run", "--stdin"], [first]).end == .exit(0))
            #expect(try kymo(["run", "--stdin"], [correction, later]).end == .exit(0))
        }
        #expect(try values() == ["hr": "172"])
        write(sp: "$.sp")
        let replayed = try kymo(["dead", "replay", "--all"])
        #expect(replayed.error.contains("replayed 2 payloads"), "\(replayed.error)")
        #expect(try values() == ["hr": "172", "sp": "195"])
        let letters = try Kymo.run(["dead", "list", "--data", "data"], directory: folder.path)
        #expect(letters.lines.count { $0.contains("retracted") } == 2, "\(letters.text)")
        let ledger = try Kymo.run(["ledger", "--verify", "--data", "data"], directory: folder.path)
        #expect(ledger.end == .exit(0), "\(ledger.text)\(ledger.error)")
    }
}
