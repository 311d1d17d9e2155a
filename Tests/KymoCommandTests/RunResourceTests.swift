import CommandSupport
import KymographTestKit
import Testing

/// What `kymo run` makes of readings that become other resources than Observations.
@Suite struct RunResourceTests {
    private static func alarm(_ state: String, until: String = "") -> String {
        """
        {"device":"pump-1","patient":"p-1","alarm":{"code":"196940","text":"Occlusion","state":"\(state)",\
        "since":"2026-03-01T08:00:00Z"\(until)}}
        """
    }

    private static let message = """
        {"device":"pump-1","time":"2026-03-01T08:00:00Z","message":{"text":"Battery low"}}
        """

    private func run(_ lines: [String], _ options: [String] = []) throws -> (lines: [JSONTree], error: String) {
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", "device-alarms", "--format", "ndjson"] + options,
            input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try #require(done.balance).isClosed)
        return (try done.lines.map { try JSONTree(parsing: Array($0.utf8)) }, done.error)
    }

    /// Each is counted as what it is; a repeated reading is a duplicate.
    @Test func resourcesAreCountedApart() throws {
        let (lines, error) = try run([Self.message, Self.alarm("present"), Self.message])
        #expect(Set(lines.compactMap { $0["resourceType"]?.text }) == ["Flag", "Communication"])
        #expect(error.contains("received 3 = accepted 2 + duplicate 1"), "\(error)")
        #expect(error.contains("windows 2, observations 0, other resources 2"), "\(error)")
    }

    /// The end of an alarm is a later reading of the same moment: the same Flag, which is written again.
    @Test func laterReadingsOfOneMomentAmend() throws {
        let end = Self.alarm("ended", until: ",\"until\":\"2026-03-01T08:05:00Z\"")
        let (lines, error) = try run([Self.alarm("present"), end])
        let last = try #require(lines.last)
        #expect(last["status"]?.text == "inactive")
        #expect(last["period"]?["end"]?.text == "2026-03-01T08:05:00Z")
        #expect(last["period"]?["start"]?.text == "2026-03-01T08:00:00Z")
        #expect(Set(lines.compactMap { $0["id"]?.text }).count == 1)
        #expect(error.contains("accepted 1 + duplicate 0 + conflict 0 + rejected 1"), "\(error)")
    }

    /// A mapping that is not for the version of the output ends the run before it begins.
    @Test func wrongVersionIsAnError() throws {
        let folder = TemporaryFolder()
        _ = folder.write("m/device.json", MappingText.device)
        _ = folder.write(
            "m/fhir.json",
            """
            {"templateType":"CollectionFhir","template":[{"templateType":"ResourceFhir","template":
            {"typeName":"pulse","resourceType":"Task",
             "resource":{"status":"requested","intent":"order","description":{"$value":"pulse"}}}}]}
            """)
        let done = try Kymo.run(["check", "--mapping", folder.file("m/"), "--fhir-version", "R5"])
        #expect(done.end == .exit(78))
        #expect((done.error + done.text).contains("m/fhir.json:2:36: error: how a Task differs"), "\(done.error)")
    }
}
