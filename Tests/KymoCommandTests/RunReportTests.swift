import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// `--summary json`: the summary of a run for programs.
@Suite struct RunReportTests {
    private func summary(_ done: Kymo.Finished) throws -> [String: Any] {
        let last = try #require(done.error.split(separator: "\n").last)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
        #expect(!done.error.contains("received "), "the summary is there once: \(done.error)")
        return try #require(object["summary"] as? [String: Any])
    }

    @Test(arguments: ["text", "json"]) func everythingIsCounted(log: String) throws {
        let lines = (0..<10).map { Readings.heartRate(second: $0) }
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--summary", "json", "--log-format", log, "--dead-letter", folder.file("dead.ndjson")],
            input: .bytes(Readings.ndjson(lines + [lines[0], "{}", "{"])))
        #expect(done.end == .exit(0), "\(done.error)")
        let counts = try summary(done)
        let expected = ["received": 13, "accepted": 10, "duplicate": 1, "conflict": 0, "lost": 0, "observations": 1]
        for (name, count) in expected { #expect(counts[name] as? Int == count, "\(name): \(counts)") }
        let rejected = try #require(counts["rejected"] as? [String: Int])
        #expect(rejected.values.reduce(0, +) == 2 && rejected["noTemplate"] == 1, "\(rejected)")
        let sources = try #require(counts["sources"] as? [[String: Any]])
        #expect(sources.count == 1 && sources[0]["received"] as? Int == 13)
        #expect(sources[0]["name"] as? String == "stdin", "\(sources)")
        #expect((counts["bytes"] as? Int ?? 0) == done.output.count, "\(counts)")
        try expectCounters(counts)
    }

    /// Also what has no member of its own.
    private func expectCounters(_ counts: [String: Any]) throws {
        let counters = try #require(counts["counters"] as? [[String: Any]])
        func total(_ name: String) -> Double? {
            let found = counters.filter { $0["name"] as? String == name }.compactMap { $0["value"] as? Double }
            return found.isEmpty ? nil : found.reduce(0, +)
        }
        #expect(total("kymo_readings_received_total") == 13 && total("kymo_readings_total") == 11, "\(counters)")
        for name in ["windows_amended", "windows_withheld", "mapping_left_out", "mapping_reloads", "sequence_missing"] {
            #expect(total("kymo_\(name)_total") == 0, "\(name): \(counters)")
        }
    }

    /// A run of which nothing was accepted says so, and ends as it would without.
    @Test func alsoOfWhatFails() throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--summary", "json", "--dead-letter", folder.file("dead.ndjson")],
            input: .bytes(Array("{}\n".utf8)))
        #expect(done.end == .exit(65) && done.error.contains("nothing was accepted"), "\(done.error)")
        #expect(try summary(done)["received"] as? Int == 1)
    }

    /// A program that waits for the summary must not take what it does not get for a good end.
    @Test func thatCannotBeWritten() throws {
        let folder = TemporaryFolder()
        func run(_ more: String) throws -> Kymo.Finished {
            try ChildProcess(
                "sh", ["-c", "exec \"$0\" run --stdin --out \"$1\" \(more) 2>/dev/full", Kymo.path, folder.path],
                input: .bytes(Readings.ndjson(Readings.heartRates(3)))
            ).finish(seconds: 20)
        }
        #expect(try run("--summary json").end == .exit(74))
        #expect(try run("--summary text").end == .exit(0))
    }

    @Test func ofAnImport() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "export.xml",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <HealthData locale="en_GB">
            <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="w" unit="count/min" \
            creationDate="2026-03-01 08:00:01 +0000" startDate="2026-03-01 08:00:00 +0000" \
            endDate="2026-03-01 08:00:00 +0000" value="60"/>
            </HealthData>
            """)
        let done = try Kymo.run(["import", "apple", file, "--patient", "p", "--summary", "json"])
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try summary(done)["accepted"] as? Int == 1)
    }
}
