import CommandSupport
import KymographTestKit
import Testing

/// Types `hr` and `sp`, whose readings come in one payload, in windows whose values are summed. Of `sp` the mapping may
/// find no value: then the payload waits in a dead letter, and `hr` is filed.
struct LetteredPair {
    let folder = TemporaryFolder()
    /// Whether `hr` is taken back by ids, and the latest value of a time stays; else it is taken back by its time.
    let hasIds: Bool

    /// The value of `sp` is at `path`.
    func write(sp path: String) {
        let templates = [
            device("hr", id + value("hr", "$.hr")), device("sp", value("sp", path)),
            device("hr", id + #""typeMatchExpression":"$..[?(@gone)]","retracts":true"#),
        ]
        folder.write(
            "m/device.json",
            #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#)
        folder.write(
            "m/fhir.json", #"{"templateType":"CollectionFhir","template":[\#(fhir("hr")),\#(fhir("sp"))]}"#)
        folder.write("kymo.yaml", "mappings: [./m]\ndata: data\noutput: {to: out, format: ndjson}\n")
    }

    private var id: String { hasIds ? #""readingIdExpression":"$.i","# : "" }

    private func device(_ type: String, _ members: String) -> String {
        let whose = #""deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s""#
        return #"{"templateType":"JsonPathContent","template":{"typeName":"\#(type)",\#(whose),\#(members)}}"#
    }

    private func value(_ type: String, _ path: String) -> String {
        """
        "typeMatchExpression":"$..[?(@\(type))]","values":[{"valueName":"x","valueExpression":"\(path)","required":true}]
        """
    }

    private func fhir(_ type: String) -> String {
        #"""
        {"templateType":"CodeValueFhir","template":{"typeName":"\#(type)","period":"5m",
        \#(hasIds ? #""sameInstant":"latest","# : "")"codes":[{"system":"urn:t","code":"\#(type)"}],
        "value":{"valueName":"x","valueType":"Statistics","aggregate":"sum","components":[],"unit":"1","code":"1"}}}
        """#
    }

    func kymo(
        _ arguments: [String], _ lines: [String] = [], _ environment: [String: String] = [:]
    ) throws -> Kymo.Finished {
        try Kymo.run(
            arguments + ["--config", "kymo.yaml"], environment: environment, directory: folder.path,
            input: .bytes(Readings.ndjson(lines)))
    }

    /// By type, the sums of its Observations.
    func values() throws -> [String: [String]] {
        let observations = try kymo(["query"]).lines.map { try JSONTree(parsing: Array($0.utf8)) }
        let byType = Dictionary(grouping: observations) {
            $0["code"]?["coding"]?.elements?.first?["code"]?.text ?? "no code"
        }
        return byType.mapValues { $0.map { $0["valueQuantity"]?["value"]?.digits ?? "no value" } }
    }

    func checkLedger() throws {
        let ledger = try Kymo.run(["ledger", "--verify", "--data", "data"], directory: folder.path)
        #expect(ledger.end == .exit(0), "\(ledger.text)\(ledger.error)")
    }
}
