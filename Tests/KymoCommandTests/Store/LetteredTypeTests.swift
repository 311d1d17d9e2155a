import CommandSupport
import KymographTestKit
import Testing

/// A type of which only dead letters have readings keeps the meaning of these: they are taken again as they are.
///
/// Catches: 5.8 mmol/L that becomes 5.8 mg/dL, `final`, since the mapping had another unit when its letter was replayed;
/// and a letter that has left the list although the pipeline was refused.
@Suite struct LetteredTypeTests {
    private let folder = TemporaryFolder()

    private static let device: String = {
        func template(_ name: String, _ rest: String) -> String {
            """
            {"templateType":"JsonPathContent","template":{"typeName":"\(name)","deviceIdExpression":"$.d",
              "timestampExpression":"$.t","readingIdExpression":"$.i",\(rest)}}
            """
        }
        func reading(_ name: String) -> String {
            let values = "[{\"valueName\":\"x\",\"valueExpression\":\"$.\(name)\",\"required\":true}]"
            return template(name, "\"typeMatchExpression\":\"$..[?(@\(name))]\",\"values\":\(values)")
        }
        let retraction = template("hr", "\"typeMatchExpression\":\"$..[?(@gone == 'hr')]\",\"retracts\":true")
        let templates = [reading("hr"), retraction, reading("glu")].joined(separator: ",")
        return "{\"templateType\":\"CollectionContent\",\"template\":[\(templates)]}"
    }()

    /// Glucose in `unit`, for so many devices.
    private func write(unit: String, devices: Int) {
        let fhir = [("hr", "/min"), ("glu", unit)].map { name, unit in
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\(name)","period":"instance",
              "codes":[{"system":"urn:t","code":"\(name)"}],
              "value":{"valueType":"Quantity","valueName":"x","unit":"\(unit)","code":"\(unit)"}}}
            """
        }
        folder.write("m/device.json", Self.device)
        let templates = fhir.joined(separator: ",")
        folder.write("m/fhir.json", "{\"templateType\":\"CollectionFhir\",\"template\":[\(templates)]}")
        folder.write(
            "kymo.yaml",
            """
            mappings: [./m]
            sources: [{stdin: true, name: ward}]
            data: data
            output: {to: out, format: ndjson}
            lanes: 1
            shards: 1
            limits: {devices: \(devices)}

            """)
    }

    private func command(_ arguments: String..., lines: [String] = []) throws -> Kymo.Finished {
        try Kymo.run(
            arguments + ["--config", "kymo.yaml"], directory: folder.path, input: .bytes(Readings.ndjson(lines)))
    }

    /// A retraction that reserves the one device that there is room for, and a reading of another one.
    private func leaveLetter() throws {
        write(unit: "mmol/L", devices: 1)
        let run = try command(
            "run",
            lines: [
                #"{"gone":"hr","d":"x1","i":"s-2"}"#,
                #"{"d":"d2","t":"2026-03-01T08:00:00Z","glu":5.8,"i":"g-1"}"#,
            ])
        #expect(run.balance?.reasons["tooManyDevices"] == 1, "\(run.error)")
    }

    private func letters() throws -> String {
        try Kymo.run(["dead", "list", "--data", folder.file("data")]).text
    }

    private var written: String {
        Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }.joined()
    }

    @Test func theUnitStays() throws {
        try leaveLetter()
        let before = try letters()
        #expect(before.contains("tooManyDevices"))
        write(unit: "mg/dL", devices: 10)
        let refusals = try [
            command("run"), command("check"), command("dead", "replay", "--all"), command("dead", "replay", "--all"),
        ]
        for refused in refusals {
            #expect(refused.end == .exit(78), "\(refused.error)")
            let message = "from 'mmol/L' to 'mg/dL', and dead letters hold readings"
            #expect(refused.error.contains(message), "\(refused.error)")
        }
        #expect(try letters() == before, "no letter has left the list")
        #expect(!written.contains("5.8"))
        write(unit: "mmol/L", devices: 10)
        let replay = try command("dead", "replay", "--all")
        #expect(replay.error.contains("replayed 0 payloads, 1 reading and 0 entries"), "\(replay.error)")
        #expect(written.contains(#""value":5.8,"unit":"mmol/L""#), "\(written)")
        #expect(try Kymo.run(["ledger", "--verify", "--data", folder.file("data")]).end == .exit(0))
    }

    /// What nobody has readings of may mean anything.
    @Test func withoutItsLettersATypeIsFree() throws {
        try leaveLetter()
        write(unit: "mg/dL", devices: 10)
        #expect(try Kymo.run(["dead", "discard", "--all", "--data", folder.file("data")]).end == .exit(0))
        for arguments in [["check"], ["run"]] {
            let done = try Kymo.run(arguments + ["--config", "kymo.yaml"], directory: folder.path)
            #expect(done.end == .exit(0), "\(done.error)")
        }
    }

    /// After a repair that lost the types, their numbers are given anew: a letter of before is of none of them.
    @Test func aRepairLosesTheTypes() throws {
        try leaveLetter()
        write(unit: "mmol/L", devices: 10)
        // Series without their types are damage.
        let other = try command("run", lines: [#"{"d":"d4","t":"2026-03-01T08:00:00Z","glu":5.1,"i":"g-3"}"#])
        #expect(other.balance?.accepted == 1, "\(other.error)")
        try StoredRun(folder: folder).change("DELETE FROM type")
        write(unit: "mg/dL", devices: 10)
        // Behind what the lost archive may have had.
        let run = try command(
            "run",
            lines: [
                #"{"d":"d3","t":"2026-03-01T09:00:00Z","glu":104,"i":"g-2"}"#,
                #"{"d":"d3","t":"2026-03-01T08:00:00Z","glu":103,"i":"g-4"}"#,
            ])
        #expect(run.error.contains("repaired") && run.balance?.accepted == 1, "\(run.error)")
        // A letter that comes then has a number far behind, and pushes out none of before.
        #expect(run.balance?.reasons == ["archiveEvicted": 1], "\(run.error)")
        #expect(try command("check").end == .exit(0))
        let replay = try command("dead", "replay", "--all")
        #expect(replay.end == .exit(65) && replay.error.contains("does not know its type any more"), "\(replay.error)")
        let left = try letters()
        #expect(left.contains("tooManyDevices"), "\(left)")
        #expect(written.contains(#""value":104,"unit":"mg/dL""#) && !written.contains("5.8"), "\(written)")
    }
}
