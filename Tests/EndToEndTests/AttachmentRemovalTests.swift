import CommandSupport
import KymographTestKit
import Testing

/// Samples beside their Observation, when later runs of the store leave all of them in it.
@Suite struct AttachmentRemovalTests {
    private let folder = TemporaryFolder()

    /// What a run has written, and told.
    private struct Run {
        var observations: [JSONTree] = []
        var documents: [JSONTree] = []
        var error = ""

        var statuses: Set<String> { Set(documents.map { $0["status"]?.text ?? "" }) }
        var ids: Set<String> { Set(documents.compactMap { $0["id"]?.text }) }
    }

    /// The catalogue's `ecg-waveform` in windows of a minute, or in Observations of one reading each.
    private func mapping(_ period: String = "1m") throws -> String {
        let exported = try Kymo.run(["mappings", "--export", "ecg-waveform", folder.file("ecg")])
        #expect(exported.end == .exit(0), "\(exported.error)")
        let file = folder.file("ecg/fhir.json")
        Files.write(Array(Files.text(file).replacing("\"instance\"", with: "\"\(period)\"").utf8), to: file)
        return folder.file("ecg")
    }

    /// Runs with a second of two leads, all of the same minute.
    private func run(
        _ second: Int, _ mapping: String, limit: String? = nil, _ arguments: [String] = []
    ) throws -> Run {
        let leads = (0..<2).map { lead in
            (0..<250).map { "\(($0 * 37 + second * 11 + lead * 5) % 1_000)" }.joined(separator: ",")
        }
        let line = """
            {"deviceId":"ecg-1","patientId":"7","timestamp":"2026-03-01T08:00:0\(second)Z","sampleRate":250,\
            "leads":{"I":[\(leads[0])],"V5":[\(leads[1])]}}
            """
        var environment = ["KYMO_OUTPUT_FORMAT": "ndjson"]
        environment["KYMO_OUTPUT_ATTACH_OVER"] = limit
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", mapping, "--data", folder.file("data")] + arguments,
            environment: environment, input: .bytes(Readings.ndjson([line])))
        #expect(done.end == .exit(0) && done.error.contains("accepted 1 "), "\(done.error)")
        let all = try done.output.split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
        return Run(
            observations: all.filter { $0["resourceType"]?.text == "Observation" },
            documents: all.filter { $0["resourceType"]?.text == "DocumentReference" }, error: done.error)
    }

    private static let note = "an earlier run of this store had output.attachOver, and this one has none: "

    /// The samples are in the Observation again, and none stays in a document: nothing would take it back any more.
    @Test func laterVersionsTakeDocumentsBack() throws {
        let mapping = try mapping()
        let first = try run(0, mapping, limit: "500")
        #expect(first.statuses == ["current"] && first.ids.count == 2 && !first.error.contains(Self.note))
        for second in 1...2 {
            let later = try run(second, mapping)
            #expect(later.observations.map { $0["status"]?.text } == ["amended"])
            #expect(later.observations.allSatisfy { $0["derivedFrom"] == nil })
            #expect(later.statuses == ["entered-in-error"] && later.ids.isSuperset(of: first.ids), "\(later.ids)")
            #expect(
                later.error.contains(Self.note + "later versions of windows take back DocumentReferences with samples"),
                "\(later.error)")
        }
        // STU3 has another DocumentReference.
        let older = try run(3, mapping, ["--fhir-version", "STU3"])
        #expect(older.observations.count == 1 && older.documents.isEmpty)
        #expect(older.error.contains(Self.note + "as this one writes, it cannot take back"), "\(older.error)")
        // With the setting, they are there again.
        #expect(try run(4, mapping, limit: "500").statuses == ["current", "entered-in-error"])
    }

    /// Of a single reading, a first version takes nothing back, whatever else its window has shown.
    @Test func singleReadingsHaveTheirOwn() throws {
        let mapping = try mapping("instance")
        var ids: Set<String> = []
        for second in 0...2 {
            let done = try run(second, mapping, limit: second == 2 ? nil : "500")
            #expect(done.observations.map { $0["status"]?.text } == ["final"])
            #expect(done.statuses == (second == 2 ? [] : ["current"]), "\(second): \(done.statuses)")
            #expect(done.ids.isDisjoint(with: ids))
            ids.formUnion(done.ids)
        }
    }

    /// Where no run had the setting, there is nothing to take back.
    @Test func nothingWithoutTheSetting() throws {
        let mapping = try mapping()
        for second in 0...1 {
            let done = try run(second, mapping)
            #expect(done.observations.count == 1 && done.documents.isEmpty && !done.error.contains(Self.note))
        }
    }
}
