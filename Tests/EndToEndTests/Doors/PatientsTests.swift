import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// The program with a patient map.
@Suite struct PatientsTests {
    private let folder = TemporaryFolder()

    private func line(_ device: String, second: Int, patient: String? = nil, value: Int = 60) -> String {
        let time = "2026-03-01T08:00:\(second < 10 ? "0" : "")\(second)Z"
        let owner = patient.map { ",\"patientId\":\"\($0)\"" } ?? ""
        return """
            {"deviceId":"\(device)","type":"heartRate","timestamp":"\(time)","value":\(value),"unit":"/min"\(owner)}
            """
    }

    private func map(_ rows: [String]) -> String {
        folder.write("patients.csv", (["device,patient,encounter,from,to"] + rows).joined(separator: "\n") + "\n")
    }

    /// The readings in the store: device, patient and seconds.
    private func readings() throws -> [String] {
        let query = try Kymo.run(["query", "--readings", "--data", folder.file("data")])
        return try query.lines.map { line in
            let reading = try JSONTree(parsing: Array(line.utf8))
            let time = reading["OccurrenceTimeUtc"]?.text ?? ""
            let patient = reading["PatientId"]?.text ?? "-"
            return "\(reading["DeviceId"]?.text ?? "") \(patient) \(time.dropFirst(17).prefix(2))"
        }.sorted()
    }

    private func run(_ lines: [String], _ arguments: [String] = [], _ file: String) throws -> Kymo.Finished {
        let common = ["--data", folder.file("data"), "--out", folder.file("out"), "--mapping", "reading"]
        return try Kymo.run(
            ["run", "--stdin", "--patients", file] + common + arguments, input: .bytes(Readings.ndjson(lines)))
    }

    /// The time of the reading decides; what is nobody's is a letter until the map has it.
    @Test func whoseAReadingIs() throws {
        let file = map(["d,p-1,e-1,,2026-03-01T08:00:10Z", "d,p-2,,2026-03-01T08:00:10Z,2026-03-01T08:00:20Z"])
        let lines = [
            line("d", second: 9), line("d", second: 10), line("d", second: 19), line("d", second: 20),
            line("other", second: 1), line("other", second: 2, patient: "p-9"), line("d", second: 11, patient: "p-1"),
        ]
        let done = try run(lines, [], file)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try readings() == ["d p-1 09", "d p-2 10", "d p-2 19", "other p-9 02"])
        #expect(
            done.error.contains("patientUnknown 2") && done.error.contains("patientDeviceMismatch 1"), "\(done.error)")
        let without = try Kymo.run([
            "dead", "replay", "--all", "--data", folder.file("data"), "--out", folder.file("out"),
        ])
        #expect(
            without.end == .exit(65) && without.error.contains("a patient map says whose it is"), "\(without.error)")
        // By the map as it is now, at the time of the reading.
        _ = map([
            "d,p-1,e-1,,2026-03-01T08:00:10Z", "d,p-2,,2026-03-01T08:00:10Z,2026-03-01T08:00:20Z",
            "d,p-3,,2026-03-01T08:00:20Z,",
        ])
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--data", folder.file("data"), "--out", folder.file("out"), "--patients", file,
        ])
        #expect(
            replay.end == .exit(65) && replay.error.contains("rejected again: patientDeviceMismatch"), "\(replay.error)"
        )
        #expect(try readings() == ["d p-1 09", "d p-2 10", "d p-2 19", "d p-3 20", "other p-9 02"])
    }

    /// Tags of the map are in `meta.tag` with those of the source; rules and sinks see them, and a reading that comes
    /// again after the map has changed has both.
    @Test func tagsOfTheMap() throws {
        let rows = ["d,p-1,urn:arm|A;consented", "e,p-2,"]
        func map(_ rows: [String]) -> String {
            folder.write("patients.csv", (["device,patient,tags"] + rows).joined(separator: "\n") + "\n")
        }
        let file = map(rows)
        let rules = folder.write(
            "rules.yaml", "rules:\n  - {name: seen, then: rewrite, when: \"contains(tags, 'consented')\", tag: seen}\n")
        let configuration = folder.write(
            "kymo.yaml",
            """
            patients: \(file)
            rules: \(rules)
            sources:
              - {stdin: true, mappings: reading, tags: ward}
            sinks:
              - {to: \(folder.file("all"))}
              - {to: \(folder.file("some")), name: some, tags: ["urn:arm|*"]}
            data: \(folder.file("data"))
            """)
        let lines = [line("d", second: 1), line("e", second: 2), line("d", second: 3, patient: "p-1")]
        func run() throws -> Kymo.Finished {
            try Kymo.run(["run", "--config", configuration], input: .bytes(Readings.ndjson(lines)))
        }
        let done = try run()
        #expect(done.end == .exit(0) && done.error.contains("accepted 3"), "\(done.error)")
        func tags() throws -> [[String]] {
            try Kymo.run(["query", "--data", folder.file("data")]).lines.map { text in
                let found = try JSONTree(parsing: Array(text.utf8))["meta"]?["tag"]?.elements ?? []
                return found.map { "\($0["system"]?.text ?? "")|\($0["code"]?.text ?? "")" }
            }
        }
        #expect(
            try tags().sorted { $0.count < $1.count } == [["|ward"], ["|consented", "|seen", "urn:arm|A", "|ward"]])
        let names = Files.names(folder.file("some"))
        let some = names.map { Files.text(folder.file("some/\($0)")) }.joined()
        #expect(some.contains("\"value\":\"d\"") && !some.contains("\"value\":\"e\""), "\(some)")
        _ = map(["d,p-1,urn:arm|B", "e,p-2,"])
        #expect(try run().error.contains("duplicate 3"))
        let later = try tags()
        #expect(later.contains(["|consented", "|seen", "urn:arm|A", "urn:arm|B", "|ward"]), "\(later)")
        let shown = try Kymo.run(["patients", "check", file, "--device", "d", "--format", "json"])
        #expect(shown.text.contains("\"urn:arm|B\""), "\(shown.text)")
    }

    /// `kymo map` shows them without any rule.
    @Test func tagsInMap() throws {
        let file = folder.write("patients.csv", "device,patient,tags\nd,p-1,consented\n")
        let done = try Kymo.run(
            ["map", "--mapping", "reading", "--patients", file], input: .bytes(Array(line("d", second: 1).utf8)))
        #expect(done.end == .exit(0) && done.text.contains("\"code\": \"consented\""), "\(done.text)\(done.error)")
    }

    /// A store that has had a map takes nothing again without it, whatever it was rejected for.
    @Test func nothingIsTakenAgainWithoutTheMap() throws {
        let file = map(["d,p-1,,,"])
        let other = line("d", second: 1, patient: "p-9").replacing("heartRate", with: "unheard")
        #expect(try run([line("d", second: 2), other], [], file).error.contains("noTemplate 1"))
        let common = ["--data", folder.file("data"), "--out", folder.file("out")]
        let replay = try Kymo.run(["dead", "replay", "--all"] + common)
        #expect(replay.end == .exit(65) && replay.error.contains("a patient map says whose it is"), "\(replay.error)")
        let without = try Kymo.run(
            ["run", "--stdin", "--mapping", "reading"] + common, input: .bytes(Readings.ndjson([line("e", second: 3)])))
        #expect(without.error.contains("an earlier run of this store had a patient map"), "\(without.error)")
        let with = try Kymo.run(["dead", "replay", "--all", "--patients", file] + common)
        #expect(with.end == .exit(65) && with.error.contains("rejected again: noTemplate"), "\(with.error)")
    }

    /// A day that is sent again after the map has changed stays whose it was, and says so; a restart forgets nothing.
    @Test func whatWasFiledStays() throws {
        let file = map(["d,p-1,,,"])
        let day = (0..<50).map { line("d", second: $0) }
        #expect(try run(day, [], file).end == .exit(0))
        _ = map(["d,p-1,,,2026-03-01T08:00:10Z", "d,p-2,,2026-03-01T08:00:10Z,"])
        let again = try run(day + [line("d", second: 50)], [], file)
        #expect(again.error.contains("patientChanged 40"), "\(again.error)")
        let expected = (0..<50).map { "d p-1 \($0 < 10 ? "0" : "")\($0)" } + ["d p-2 50"]
        #expect(try readings() == expected)
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--data", folder.file("data"), "--out", folder.file("out"), "--patients", file,
        ])
        #expect(replay.end == .exit(65), "\(replay.error)")
        #expect(try readings() == expected)
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.text) \(verified.error)")
    }

    /// While it runs: the file is watched, one with errors is refused, and what has changed is told.
    @Test func readAgainWhileItRuns() throws {
        let file = map(["d,p-1,,,"])
        let door = try Door(
            TLSText.source("http", []), in: folder, settings: "patients: \(file)\n")
        _ = try door.post([line("d", second: 1)], [], scheme: "http")
        _ = map(["d,p-1", "d,p-2,,,"])
        try door.run.waitForError("the former patient map stays in use: \(file):2:1: ")
        #expect(try door.admin.value("kymo_patient_map_refused") == 1)
        _ = try door.post([line("d", second: 2)], [], scheme: "http")
        _ = map(["d,p-2,,,"])
        try door.run.waitForError("; of the past, 1 period ")
        let (answer, _) = try door.post([line("d", second: 3), line("d", second: 1)], [], scheme: "http")
        #expect(answer.hasPrefix("{\"received\":2,"), "\(answer)")
        #expect(try door.admin.value("kymo_patient_map_rows") == 1)
        #expect(try door.admin.value("kymo_patient_map_changed_periods_total") == 1)
        #expect(!door.run.errorText.contains("p-1") && !door.run.errorText.contains("p-2"), "no identifier in the log")
        let status = try Kymo.run(["status", "--data", folder.file("data")])
        #expect(
            status.text.contains("patient map: periods 1, read at 20")
                && status.text.contains("; of the past, changed 1"), "\(status.text)")
        let balance = try door.balance()
        #expect(balance.received == 4 && balance.accepted == 3 && balance.rejected == 1 && balance.isClosed)
        #expect(try readings() == ["d p-1 01", "d p-1 02", "d p-2 03"])
    }
}
