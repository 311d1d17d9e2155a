@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// A disk that changes what was written: the store finds out, says so, goes on with the rest, and never gives content
/// that is wrong.
@Suite struct BitRotTests {
    /// `KYMO_TORTURE` asks for 10,000 damages.
    static let rounds = Trials.isTorture ? 10_000 : 200

    /// Devices' readings of 40 minutes, the late ones last.
    static let (early, late): ([[UInt8]], [[UInt8]]) = {
        var early: [[UInt8]] = []
        var late: [[UInt8]] = []
        for second in stride(from: 0, to: 2_400, by: 15) {
            for device in 0..<4 {
                let (minute, rest) = (second / 60, second % 60)
                let time = "2026-03-01T08:\(minute < 10 ? "0" : "")\(minute):\(rest < 10 ? "0" : "")\(rest)Z"
                let line = """
                    {"deviceId":"watch-\(device)","type":"heartRate","timestamp":"\(time)",\
                    "value":\(60 + (second / 15 * 7 + device * 11) % 50),"unit":"/min"}
                    """
                let isLate = second > 2_200 || (second / 15 + device) % 9 == 0
                if isLate { late.append(Array(line.utf8)) } else { early.append(Array(line.utf8)) }
            }
        }
        return (early, late)
    }()

    /// What a run leaves that was killed, or that ended, and what its sink has.
    struct Image {
        var files: DamagedFiles
        var server = BundleReader()
    }

    static func image(_ set: MappingSet, isKilled: Bool) throws -> Image {
        let scratch = Scratch(inMemory: true)
        var run = try StoredRun(scratch.path, set: set)
        try run.take(early, delivers: !isKilled)
        // A killed process leaves the log; what it had sent is not known.
        if !isKilled { try run.end() }
        var image = Image(files: DamagedFiles(scratch.path))
        if isKilled { run.store.close() }
        try image.server.read(ndjson: run.delivered)
        return image
    }

    /// In parts, which run side by side.
    @Test(arguments: 0..<4) func whatIsDeliveredIsRight(part: Int) throws {
        let set = try #require(PipelineRehearsal.reading)
        let images = [try BitRotTests.image(set, isKilled: false), try BitRotTests.image(set, isKilled: true)]
        try #require(images[1].files.files["kymo.sqlite-wal"]?.isEmpty == false)
        let oracle = try BitRotTests.oracle(set)
        let scratch = Scratch(inMemory: true)
        var repairs = 0
        let rounds = BitRotTests.rounds / 4
        for seed in Trials.seeds(rounds, from: UInt64(part * rounds)) {
            var generator = SeededGenerator(seed: seed)
            let image = images[Int(seed % 2)]
            var files = image.files
            files.damage(&generator)
            files.write(to: scratch.path)
            let outcome = try BitRotTests.recover(scratch, set, image.server)
            let story = "seed \(seed): \(files.story), \(outcome.notes)"
            if !outcome.notes.isEmpty { repairs += 1 }
            try #require(BitRotTests.wrong(outcome.server, oracle, image.server) == [], "\(story)")
            let isWhole = outcome.server.differences(from: oracle, ignoring: ["status"]).isEmpty
            // Who loses the end of the log cannot know that there was more.
            try #require(isWhole || outcome.isCounted || files.isOnlyLog, "\(story)")
            for name in Files.names(scratch.path) { try #require(name != "kymo.damaged", "\(story)") }
        }
        #expect(repairs > rounds / 4, "\(repairs) repairs")
    }

    static func oracle(_ set: MappingSet) throws -> BundleReader {
        var rehearsal = PipelineRehearsal(set: set, settings: StoredRun.settings, now: DurableRehearsal.start)
        for line in early + late { rehearsal.take(line, isBatchEnd: true) }
        return try rehearsal.end()
    }

    /// What became of a damaged store.
    struct Outcome {
        var server: BundleReader
        var notes: [String] = []
        /// Whether readings or rows are counted as lost, rejected or damaged.
        var isCounted = false
    }

    /// Starts again until a run comes to its end, as a supervisor would; the late readings are sent to each.
    static func recover(_ scratch: Scratch, _ set: MappingSet, _ server: BundleReader) throws -> Outcome {
        var outcome = Outcome(server: server)
        for _ in 0..<3 {
            do throws(StoreError) {
                if try attempt(scratch, set, &outcome) { return outcome }
            } catch {
                try #require(error.kind == .damaged, "\(error)")
                outcome.notes.append(error.message)
            }
        }
        Issue.record("three starts were not enough: \(outcome.notes)")
        return outcome
    }

    private static func attempt(
        _ scratch: Scratch, _ set: MappingSet, _ outcome: inout Outcome
    ) throws(StoreError) -> Bool {
        let notes = NoteList()
        var run = try StoredRun(scratch.path, set: set)
        run.store.watch.begin(note: notes.take) { notes.add($0.message) }
        var failure: StoreError?
        do throws(StoreError) {
            try run.take(late, delivers: true)
            try run.end()
        } catch {
            failure = error
            run.store.close()
        }
        outcome.notes += notes.all
        outcome.isCounted =
            outcome.isCounted || !outcome.notes.isEmpty
            || run.replayed.damagedBlocks + run.replayed.rejected + run.replayed.unknown > 0
            || run.record.tally.rejected.contains { $0 > 0 }
        do { try outcome.server.read(ndjson: run.delivered) } catch { Issue.record("not even NDJSON: \(error)") }
        if let failure { throw failure }
        return run.store.watch.failure == nil
    }

    /// Observations that are neither right nor, for want of readings, a part of what is right that replaces nothing.
    static func wrong(_ found: BundleReader, _ oracle: BundleReader, _ before: BundleReader) -> [String] {
        var wrong: [String] = []
        for (id, observation) in found.observations {
            guard let right = oracle.observations[id] else {
                wrong.append("\(id) should not exist")
                continue
            }
            let (has, all, had) = (Facts(observation), Facts(right), before.observations[id].map(Facts.init))
            if has.count > all.count || has.minimum < all.minimum || has.maximum > all.maximum {
                wrong.append("\(id) shows \(has) of \(all)")
            }
            if has.subject != all.subject { wrong.append("\(id) is of \(has.subject)") }
            if has.count == all.count, !observation.differences(from: right).allSatisfy({ $0.contains("status") }) {
                wrong.append("\(id) differs: \(observation.differences(from: right).prefix(3))")
            }
            if let had, has.count < had.count { wrong.append("\(id) replaces \(had) by \(has)") }
        }
        return wrong
    }

    /// What an Observation of heart rates says of its readings.
    struct Facts {
        var count = 0.0
        var minimum = 0.0
        var maximum = 0.0
        /// Device and window, as text.
        var subject = ""

        init(_ observation: JSONTree) {
            let identifier = observation["identifier"]?.elements?.first?["value"]?.text
            subject = "\(identifier ?? "nobody") \(observation["device"]?["reference"]?.text ?? "nothing")"
            func number(_ name: String) -> Double? {
                let found = (observation["component"]?.elements ?? []).first { component in
                    component["code"]?["coding"]?.elements?.first?["code"]?.text == name
                }
                guard case .number(let text)? = found?["valueQuantity"]?["value"] ?? found?["valueInteger"] else {
                    return nil
                }
                return Double(text)
            }
            guard case .number(let text)? = observation["valueQuantity"]?["value"], let value = Double(text) else {
                return
            }
            // One reading has no statistics.
            (minimum, maximum, count) = (number("minimum") ?? value, number("maximum") ?? value, number("count") ?? 1)
        }
    }
}
