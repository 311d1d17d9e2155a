import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What makes two readings one stays what it was while there are readings: a start, a check and a reload say the same of
/// a mapping that changes it.
///
/// Catches: a day that is sent again after its template has got ids, or starts, and counts twice; a correction that takes
/// the place of one of several readings of its time, and leaves the others.
@Suite struct LastingReadingTests {
    private let folder = TemporaryFolder()

    private static let device = """
        {"templateType": "CollectionContent", "template": [
          {"templateType": "JsonPathContent", "template": {
            "typeName": "steps",
            "typeMatchExpression": "$..[?(@steps)]", "deviceIdExpression": "$.d", "timestampExpression": "$.t",
            "values": [{"valueName": "steps", "valueExpression": "$.steps", "required": true}]
          }}
        ]}
        """

    private static let fhir = """
        {"templateType": "CollectionFhir", "template": [
          {"templateType": "CodeValueFhir", "template": {
            "typeName": "steps",
            "period": "5m", "codes": [{"system": "urn:t", "code": "steps"}],
            "value": {"valueType": "Statistics", "aggregate": "sum", "components": [], "valueName": "steps", "unit": "1"}
          }}
        ]}
        """

    /// A change of one of the files, and what is said of it.
    struct Change: CustomTestStringConvertible {
        var file: String
        var member: String
        var place: String
        var message: String

        var testDescription: String { member }

        func text(_ original: String) -> String {
            original.replacing("\"typeName\": \"steps\",", with: "\"typeName\": \"steps\", \(member),")
        }
    }

    static let changes = [
        Change(
            file: "device.json", member: #""readingIdExpression": "$.i""#, place: "m/device.json:3:17: error: ",
            message: "the template of type 'steps' has 'readingIdExpression' now"),
        Change(
            file: "device.json", member: #""startExpression": "$.s""#, place: "m/device.json:3:17: error: ",
            message: "the template of type 'steps' has 'startExpression' now"),
        Change(
            file: "fhir.json", member: #""sameInstant": "latest""#, place: "m/fhir.json:3:17: error: ",
            message: "'sameInstant' of type 'steps' changes from 'keep' to 'latest'"),
        Change(
            file: "fhir.json", member: #""sameInstant": "reject""#, place: "m/fhir.json:3:17: error: ",
            message: "'sameInstant' of type 'steps' changes from 'keep' to 'reject'"),
    ]

    private func write(_ change: Change? = nil) {
        for (name, text) in [("device.json", Self.device), ("fhir.json", Self.fhir)] {
            folder.write("m/\(name)", change.map { $0.file == name ? $0.text(text) : text } ?? text)
        }
    }

    private static let reading =
        #"{"d":"w9","t":"2026-03-01T08:04:00Z","s":"2026-03-01T08:00:00Z","steps":500,"i":"s-1"}"#

    private var settings: [String] {
        ["--mapping", "./m", "--data", "data", "--out", "out", "--format", "ndjson", "--no-watch", "--stdin"]
    }

    private func run() throws -> Kymo.Finished {
        try Kymo.run(["run"] + settings, directory: folder.path, input: .bytes(Readings.ndjson([Self.reading])))
    }

    @Test(arguments: changes) func isRefusedEverywhere(_ change: Change) throws {
        write()
        #expect(try run().balance?.accepted == 1)
        write(change)
        let query = ["query", "--mapping", "./m", "--data", "data"]
        for refused in try [
            run(), Kymo.run(["check"] + settings, directory: folder.path), Kymo.run(query, directory: folder.path),
        ] {
            #expect(refused.end == .exit(78), "\(refused.error)")
            #expect(refused.error.contains("\(change.place)\(change.message), and the store holds"), "\(refused.error)")
            #expect(refused.error.contains("give the type another name"), "\(refused.error)")
        }
        write()
        #expect(try run().balance?.duplicate == 1)
    }

    @Test(arguments: changes) func aReloadIsRefused(_ change: Change) throws {
        write()
        let run = try Kymo.start(["run"] + settings, directory: folder.path, input: .pipe)
        _ = try run.addresses()
        write(change)
        run.signal(SIGHUP)
        try run.waitForError("the mappings have errors; the former ones stay in use")
        #expect(run.errorText.contains("\(change.place)\(change.message), and windows hold"), "\(run.errorText)")
        run.write(Readings.ndjson([Self.reading, Self.reading]))
        run.closeInput()
        let done = try run.finish()
        #expect(done.balance?.accepted == 1 && done.balance?.duplicate == 1, "\(done.error)")
    }

    /// Where nobody has readings, nothing would count twice.
    @Test(arguments: changes) func isTakenWithoutReadings(_ change: Change) throws {
        write()
        let nothing = try Kymo.run(["run"] + settings, directory: folder.path)
        #expect(nothing.end == .exit(0), "\(nothing.error)")
        write(change)
        #expect(try run().balance?.accepted == 1)
        #expect(try run().balance?.duplicate == 1)
    }
}
