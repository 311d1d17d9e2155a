import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A payload that waits in a dead letter has the place among others that its readings had, and is mapped by the wall
/// clock by which it came.
@Suite struct LetterStampTests {
    private let folder = TemporaryFolder()

    /// `hr`, which can be taken back by its id, and `sp`, whose value is at `path`, in windows; of each time the latest
    /// value stays.
    private func write(sp path: String) {
        let whose = #""deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s""#
        let id = #""readingIdExpression":"$.i","#
        func device(_ type: String, _ members: String) -> String {
            #"{"templateType":"JsonPathContent","template":{"typeName":"\#(type)",\#(whose),\#(members)}}"#
        }
        func value(_ type: String, _ path: String) -> String {
            """
            "typeMatchExpression":"$..[?(@\(type))]","values":[{"valueName":"x","valueExpression":"\(path)","required":true}]
            """
        }
        let templates = [
            device("hr", id + value("hr", "$.hr")), device("sp", value("sp", path)),
            device("hr", id + #""typeMatchExpression":"$..[?(@gone)]","retracts":true"#),
        ]
        folder.write(
            "m/device.json",
            #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#)
        let fhir = ["hr", "sp"].map { type in
            #"""
            {"templateType":"CodeValueFhir","template":{"typeName":"\#(type)","period":"5m","sameInstant":"latest",
            "codes":[{"system":"urn:t","code":"\#(type)"}],"value":{"valueName":"x","valueType":"Statistics",
            "aggregate":"sum","components":[],"unit":"1","code":"1"}}}
            """#
        }
        folder.write(
            "m/fhir.json", #"{"templateType":"CollectionFhir","template":[\#(fhir.joined(separator: ","))]}"#)
        folder.write("kymo.yaml", "mappings: [./m]\ndata: data\noutput: {to: out, format: ndjson}\n")
    }

    private func kymo(
        _ arguments: [String], _ lines: [String] = [], _ environment: [String: String] = [:]
    ) throws -> Kymo.Finished {
        try Kymo.run(
            arguments + ["--config", "kymo.yaml"], environment: environment, directory: folder.path,
            input: .bytes(Readings.ndjson(lines)))
    }

    private func run(_ lines: [String], _ environment: [String: String] = [:]) throws {
        let done = try kymo(["run", "--stdin"], lines, environment)
        #expect(done.end == .exit(0), "\(done.error)")
    }

    /// The sum of each type.
    private func values() throws -> [String: String] {
        let observations = try kymo(["query"]).lines.map { try JSONTree(parsing: Array($0.utf8)) }
        return Dictionary(
            uniqueKeysWithValues: observations.map { one in
                let type = one["code"]?["coding"]?.elements?.first?["code"]?.text ?? ""
                return (type, one["valueQuantity"]?["value"]?.digits ?? "")
            })
    }

    private func checkLedger() throws {
        let ledger = try Kymo.run(["ledger", "--verify", "--data", "data"], directory: folder.path)
        #expect(ledger.end == .exit(0), "\(ledger.text)\(ledger.error)")
    }

    /// The number of the only letter of a payload.
    private func payload() throws -> String {
        let letters = try Kymo.run(["dead", "list", "--data", "data"], directory: folder.path).lines
        let payloads = letters.filter { $0.contains(" payload ") }
        #expect(payloads.count == 1, "\(letters)")
        return payloads.first?.split(separator: " ").first.map(String.init) ?? ""
    }

    /// Two readings of one time and moment, of which the first one's payload has a letter: as two lines of one read, or
    /// as two elements of a line. Catches: 70 instead of 80, by a letter that is as old as 80.
    @Test(arguments: [false, true]) func theLaterLineStays(isArray: Bool) throws {
        write(sp: "$.nothing")
        let lines = [
            #"{"d":"w","t":1772352001,"i":"a","hr":70,"sp":97}"#, #"{"d":"w","t":1772352001,"i":"a","hr":80}"#,
        ]
        try run(isArray ? ["[\(lines.joined(separator: ","))]"] : lines)
        #expect(try values() == ["hr": "80"])
        write(sp: "$.sp")
        let replayed = try kymo(["dead", "replay", try payload()])
        #expect(replayed.error.contains("replayed 1 payload"), "\(replayed.error)")
        #expect(try values() == ["hr": "80", "sp": "97"])
        // What is in the journal, and what is archived, say the same.
        try run([#"{"d":"w","t":1772352002,"i":"b","hr":1}"#])
        #expect(try values() == ["hr": "81", "sp": "97"])
        try checkLedger()
    }

    /// Catches: 72 instead of 75, since the letter of a document takes 75 for what it takes back.
    @Test func aLaterCorrectionStays() throws {
        write(sp: "$.nothing")
        try run([
            #"{"d":"w","t":1772352001,"i":"a","hr":70}"#,
            #"[{"gone":true,"d":"w","i":"a"},{"d":"w","t":1772352001,"i":"a","hr":72,"sp":97}]"#,
            #"{"d":"w","t":1772352001,"i":"a","hr":75}"#,
        ])
        #expect(try values() == ["hr": "75"])
        write(sp: "$.sp")
        let replayed = try kymo(["dead", "replay", try payload()])
        #expect(replayed.error.contains("replayed 1 payload"), "\(replayed.error)")
        #expect(try values() == ["hr": "75", "sp": "97"])
        try checkLedger()
    }

    /// The machine's clock was ten days ahead, and was set. What comes then is stamped later than all before, and still
    /// of its own day: a time that is five days ahead stays rejected, and a letter that is mended takes the place of
    /// what came before it.
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
    func aClockThatWasAhead() throws {
        let machine = try FaultyMachine(root: "/nowhere")
        let (now, days) = (Int(time(nil)), 10 * 86_400)
        let early = #"{"d":"w","t":\#(now - 600),"#
        write(sp: "$.sp")
        machine.step(seconds: Double(days))
        try run([early + #""sp":96}"#], machine.environment)
        machine.step(seconds: 0)
        write(sp: "$.nothing")
        let ahead = #"{"d":"w","t":\#(now + days / 2),"i":"a","hr":70}"#
        let rejected = try kymo(["run", "--stdin"], [early + #""sp":97}"#, ahead], machine.environment)
        #expect(rejected.balance?.reasons == ["missingValue": 1, "clockAhead": 1], "\(rejected.error)")
        write(sp: "$.sp")
        let replayed = try kymo(["dead", "replay", "--all"])
        #expect(replayed.error.contains("replayed 1 payload"), "\(replayed.error)")
        #expect(replayed.error.contains("rejected again: clockAhead"), "\(replayed.error)")
        #expect(try values() == ["sp": "97"])
        try checkLedger()
    }
}
