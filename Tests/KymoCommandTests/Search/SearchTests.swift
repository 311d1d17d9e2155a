import CommandSupport
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// The FHIR search of the archive: what it finds, and in which order.
@Suite struct SearchTests {
    private func filled(_ lines: [String] = WardReadings.many(seed: 1)) throws -> SearchedRun {
        let stored = StoredRun()
        try stored.run(lines)
        return try SearchedRun(stored)
    }

    /// All pages together have each Observation of the archive once, in order, whatever the pages' size.
    @Test(arguments: Trials.seeds(tenthOf: 20)) func pages(seed: UInt64) throws {
        let run = try filled(WardReadings.many(seed: seed))
        let query = try Kymo.run(["query", "--data", run.stored.data, "--limit", "100000"])
        let expected = try query.lines.map { try JSONTree(parsing: Array($0.utf8)) }
        #expect(expected.count > 100 && Set(expected.map(\.id)).count == expected.count)
        for sort in ["", "&_sort=date", "&_sort=-date", "&_sort=_lastUpdated", "&_sort=-_lastUpdated"] {
            for count in [1_000, 7 + Int(seed % 30)] {
                let found = try run.all("_count=\(count)\(sort)")
                #expect(found.map(\.id).sorted() == expected.map(\.id).sorted(), "seed \(seed) \(sort) \(count)")
                try checkOrder(found, sort, seed)
            }
        }
        // What is served is what was written, but for the version and time in meta.
        for one in try run.all("_count=1000") {
            let known = try #require(expected.first { $0.id == one.id })
            #expect(one.differences(from: known).allSatisfy { $0.hasPrefix("meta") }, "\(one.differences(from: known))")
        }
        #expect(try run.run.terminate().end == .exit(0))
    }

    private func checkOrder(_ found: [JSONTree], _ sort: String, _ seed: UInt64) throws {
        let isDescending = sort.contains("=-") || sort.isEmpty
        let texts: [String]
        if sort.contains("_lastUpdated") {
            texts = try found.map { try #require($0["meta"]?["lastUpdated"]?.text) }
        } else {
            // Of steps the window is shown, and its last reading counts.
            texts = found.filter { $0["code"]?["text"]?.text != "Steps" }.map(\.effectiveEnd)
        }
        for (former, next) in zip(texts, texts.dropFirst()) {
            let (early, late) = isDescending ? (next, former) : (former, next)
            #expect(DateTimeOrder.key(early) <= DateTimeOrder.key(late), "seed \(seed) \(sort): \(former), \(next)")
        }
    }

    /// Filters, alone and together.
    @Test func filters() throws {
        let run = try filled()
        let everything = try run.all("_count=1000")
        func count(_ query: String, token: String = SearchedRun.all) throws -> Int {
            let total = try #require(try run.bundle("\(query)&_summary=count", token: token)["total"]?.integer)
            #expect(try run.all("\(query)&_count=20", token: token).count == total, "\(query)")
            return total
        }
        func expected(_ isWanted: (JSONTree) -> Bool) -> Int { everything.count(where: isWanted) }
        func patient(_ value: JSONTree) -> String? { value["subject"]?["identifier"]?["value"]?.text }
        let system = "urn:kymograph:patient%7C"
        let ofFirst = expected { patient($0) == "p1" }
        #expect(try ofFirst > 20 && count("patient=\(system)p1") == ofFirst && count("subject=\(system)p1") == ofFirst)
        #expect(try count("patient:identifier=\(system)p1") == ofFirst)
        #expect(try count("patient=\(system)p1,\(system)p2") == ofFirst + expected { patient($0) == "p2" })
        #expect(try count("patient=\(system)p1&patient=\(system)p2") == 0)
        #expect(try count("patient=urn:other%7Cp1") == 0 && count("patient=%7Cp1") == 0)
        #expect(try count("patient=\(system)P1") == 0 && count("patient=\(system)p1%20") == 0)
        // Readings without a patient are about the wearer of their device, who is none of the patients.
        #expect(try count("patient=\(system)w3") == 0)
        #expect(try count("patient=urn:kymograph:device-subject%7Cw3") == expected { patient($0) == "w3" })
        let device = "urn:kymograph:device%7Cw2"
        #expect(try count("device=\(device)") == expected { patient($0) == "p2" })
        #expect(try count("device=\(device)&patient=\(system)p1") == 0)
        let rates = expected { $0["code"]?["text"]?.text == "Heart rate" }
        #expect(try rates > 10 && count("code=http://loinc.org%7C8867-4") == rates && count("code=8867-4") == rates)
        #expect(
            try count("code=http://loinc.org%7C8867-4,29463-7") == expected { $0["code"]?["text"]?.text != "Steps" })
        // The code of a component is none of the Observation.
        #expect(try count("code=149530") == 0 && count("code=%7C8867-4") == 0)
        #expect(try count("category=activity") == expected { $0["code"]?["text"]?.text == "Steps" })
        #expect(try count("status=final") == everything.count && count("status=amended") == 0)
        let identifier = try #require(everything[5]["identifier"]?.elements?.first?["value"]?.text)
        #expect(try run.all("identifier=urn:kymograph:observation%7C\(identifier)").map(\.id) == [everything[5].id])
        #expect(try run.all("_id=\(everything[5].id),x").map(\.id) == [everything[5].id])
        #expect(try count("_lastUpdated=gt2026-03-02") == everything.count && count("_lastUpdated=lt2026-03-02") == 0)
        // A client that may see one patient sees that one, whatever it asks for.
        #expect(try count("", token: SearchedRun.one) == ofFirst)
        #expect(try count("patient=\(system)p2", token: SearchedRun.one) == 0)
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// Each prefix, against what the Observations say of their times.
    @Test(arguments: ["eq", "ne", "gt", "lt", "ge", "le", "sa", "eb"]) func dates(prefix: String) throws {
        let run = try filled()
        let everything = try run.all("_count=1000")
        let bounds = [
            ("2026-03-01T08:30:00Z", "2026-03-01T08:30:00Z", "2026-03-01T08:30:01Z"),
            ("2026-03-01T08:45", "2026-03-01T08:45:00Z", "2026-03-01T08:46:00Z"),
            ("2026-03-01", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        ]
        for (text, start, end) in bounds {
            let found = try run.all("date=\(prefix)\(text)&_count=100").map(\.id).sorted()
            let wanted = everything.filter { one in
                let span = DateTimeOrder.span(one)
                let (low, high) = (DateTimeOrder.key(start), DateTimeOrder.key(end))
                let isWithin = low <= span.start && span.end <= high
                return switch prefix {
                case "eq": isWithin
                case "ne": !isWithin
                case "gt": span.end > high
                case "lt": span.start < low
                case "ge": span.end > high || isWithin
                case "le": span.start < low || isWithin
                case "sa": span.start >= high
                default: span.end <= low
                }
            }
            #expect(found == wanted.map(\.id).sorted(), "\(prefix)\(text)")
        }
        let hour = try run.all("date=ge2026-03-01T08:30:00Z&date=lt2026-03-01T09:00:00Z&_count=9")
        #expect(!hour.isEmpty && hour.allSatisfy { $0.effectiveEnd >= "2026-03-01T08:30" })
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// What comes in while somebody turns pages neither repeats nor hides what was there.
    @Test(arguments: ["date", "-date", "_lastUpdated"]) func pagesStandStill(sort: String) throws {
        let run = try filled()
        let before = Set(try run.all("_count=1000").map(\.id))
        var (found, next): ([String], String?) = ([], "_count=11&_sort=\(sort)")
        var minute = 125
        while let query = next {
            let bundle = try run.bundle(query)
            found += bundle.resources.map(\.id)
            next = bundle.link("next")
            guard minute < 160 else { continue }
            // Before the page, and behind it; each window is closed by the reading after the next.
            let lines = (0..<3).flatMap { step -> [String] in
                [
                    WardReadings.weight(1, minute: minute + step, second: 7),
                    WardReadings.heartRate(3, minute: minute + step),
                ]
            }
            minute += 3
            try Sending.send(lines: lines, to: try run.run.addresses()[0])
        }
        #expect(Set(found).count == found.count && before.isSubset(of: found), "\(sort)")
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// A reading that was taken back leaves its window `amended`; one without others stays as `entered-in-error`, as
    /// docs/search.md says: with its identity, and without a value.
    @Test func takenBack() throws {
        let stored = StoredRun()
        func reading(_ id: String, minute: Int) -> String {
            """
            {"deviceId":"w1","patientId":"p1","type":"heartRate","timestamp":"2026-03-01T08:0\(minute):00Z",\
            "value":7\(minute),"unit":"/min","id":"\(id)"}
            """
        }
        try stored.run([
            reading("a", minute: 0), reading("b", minute: 1),
            reading("c", minute: 1).replacing(":00Z", with: ":30Z"), reading("d", minute: 3),
        ])
        let before = try SearchedRun(stored)
        let first = try before.all("_sort=date")
        #expect(first.map { $0["status"]?.text } == ["final", "final", "final"])
        #expect(try before.run.terminate().end == .exit(0))
        try stored.run(["a", "c"].map { "{\"deviceId\":\"w1\",\"deleted\":\"heartRate\",\"id\":\"\($0)\"}" })
        let run = try SearchedRun(stored)
        let found = try run.all("_sort=date")
        #expect(found.map(\.id) == first.map(\.id))
        #expect(found.map { $0["status"]?.text } == ["entered-in-error", "amended", "final"])
        #expect(found[0]["valueQuantity"] == nil && found[0]["component"] == nil && found[0]["subject"] != nil)
        #expect(try run.all("status=entered-in-error").map(\.id) == [found[0].id])
        #expect(try run.all("status=amended").map(\.id) == [found[1].id])
        #expect(try run.all("status=final").map(\.id) == [found[2].id])
        let read = try run.get("Observation/\(found[0].id)")
        #expect(read.status == 200 && read.header.contains("ETag: W/\"2\""), "\(read.header)")
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// The newest version alone.
    @Test func versions() throws {
        let stored = StoredRun()
        try stored.run((0..<3).map { WardReadings.heartRate(1, minute: $0) })
        try stored.run([WardReadings.heartRate(1, minute: 1, second: 30, value: 99)])
        let run = try SearchedRun(stored)
        let found = try run.all("_sort=date")
        #expect(found.count == 3 && found.map { $0["status"]?.text } == ["final", "amended", "final"])
        #expect(found.map { $0["meta"]?["versionId"]?.text } == ["1", "2", "1"])
        let amended = try run.all("status=amended")
        #expect(amended.map(\.id) == [found[1].id])
        let read = try run.get("Observation/\(found[1].id)")
        #expect(read.status == 200 && read.header.contains("ETag: W/\"2\""))
        #expect(try JSONTree(parsing: Array(read.body.utf8)) == found[1])
        // Also by an instance that has not found it before.
        #expect(try run.run.terminate().end == .exit(0))
        let again = try SearchedRun(stored)
        #expect(try again.get("Observation/\(found[1].id)").body == read.body)
        #expect(try again.run.terminate().end == .exit(0))
    }
}

/// Times as texts that can be compared, and what Observations of the ward say of theirs.
enum DateTimeOrder {
    /// Nanoseconds of a time in UTC, as a number.
    static func key(_ text: String) -> Double {
        TimestampReader.instant(text).map { Double($0.nanoseconds) } ?? -1
    }

    /// From the first moment of an Observation up to the one behind it; its times are of whole seconds, or have
    /// milliseconds.
    static func span(_ observation: JSONTree) -> (start: Double, end: Double) {
        let end = observation.effectiveEnd
        let start = observation["effectivePeriod"]?["start"]?.text ?? end
        let length = end.contains(".") ? 1_000_000.0 : 1_000_000_000.0
        return (key(start), key(end) + length)
    }
}
