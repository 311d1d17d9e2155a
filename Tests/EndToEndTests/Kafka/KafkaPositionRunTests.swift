import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// Positions that the store keeps, when brokers have others or none.
@Suite(.serialized) struct KafkaPositionRunTests {
    private let lines = KafkaReadingRun.lines(seed: Trials.seed(1), count: 400)
    private let time = 1_772_352_000_000

    /// Brokers forget a group that is silent for a week: what came meanwhile is read, also with `startAt: latest`.
    @Test func theGroupForgets() throws {
        let run = try KafkaReadingRun()
        run.configure(", startAt: latest")
        let first = try run.start()
        try first.waitForError("reading 4 partitions of readings")
        try run.store(lines, time: time)
        try run.wait(for: KafkaReadingRun.counts(lines), of: first)
        #expect(try first.terminate().end == .exit(0))
        let url = try run.remake()
        let late = (0..<40).map { Readings.heartRate(second: 9_000 + $0, device: "watch-\($0 % 8)") }
        try run.store(lines + late, time: time)
        #expect(try run.positions() == [-1, -1, -1, -1])
        run.configure(", startAt: latest", url: url)
        let second = try run.start()
        let counts = KafkaReadingRun.counts(lines + late)
        try run.wait(for: counts, of: second)
        let done = try second.terminate()
        #expect(done.end == .exit(0) && done.error.contains("received 40 = accepted 40 "), "\(done.error)")
        #expect(done.error.contains("partition 1: the group has no position any more: it is read on from "))
        let differences = try run.written().differences(
            from: KafkaReadingRun.expected(lines + late), ignoring: ["status"])
        #expect(differences.isEmpty, "\(differences.prefix(5))")
        let ledger = try run.kafka.kymo("ledger", "--verify", "--data", "data")
        let text = counts.enumerated().map { "partition \($0.offset) up to \($0.element)" }.joined(separator: ", ")
        #expect(ledger.end == .exit(0) && ledger.text.contains("topic readings for the group kymo: \(text)\n"))
    }

    /// A topic that is made again and has grown beyond the positions is not taken for what was to come.
    @Test func remadeAndGrown() throws {
        let run = try KafkaReadingRun()
        run.configure()
        try run.store(lines)
        let first = try run.start()
        let counts = KafkaReadingRun.counts(lines)
        try run.wait(for: counts, of: first)
        #expect(try first.terminate().end == .exit(0))
        run.configure(url: try run.remake())
        let others = KafkaReadingRun.lines(seed: Trials.seed(2), count: 800)
        try run.store(others)
        for (partition, offset) in counts.enumerated() {
            try run.kafka.ask("/position?group=kymo&partition=\(partition)&offset=\(offset)")
        }
        let second = try run.start()
        for partition in 0..<4 {
            try second.waitForError("partition \(partition) is read no more: the record \(counts[partition] - 1), ")
        }
        let halted = try second.terminate()
        #expect(halted.end == .exit(0) && halted.error.contains("received 0 "), "\(halted.error)")
        #expect(try run.positions() == counts)
        for partition in 0..<4 { try run.kafka.ask("/position?group=kymo&partition=\(partition)&offset=0") }
        let third = try run.start()
        try run.wait(for: KafkaReadingRun.counts(others), of: third)
        let done = try third.terminate()
        #expect(done.end == .exit(0) && done.error.contains("received \(others.count) "), "\(done.error)")
        #expect(done.error.contains("partition 0: the position was set back from \(counts[0]) to 0"))
    }

    /// Two sources of one instance that share a topic leave each other's partitions alone.
    @Test func twoSources() throws {
        let run = try KafkaReadingRun()
        // Two sources have no address in common, but brokers may be named in another order.
        let brokers = run.kafka.brokers.split(separator: ",").reversed().joined(separator: ",")
        run.configure(
            ", partitions: '0-1'}, {kafka: \"kafka://\(brokers)/\(run.kafka.topic)\", partitions: '2-3'")
        try run.store(lines)
        for number in 0..<2 {
            let process = try run.start()
            try run.wait(for: KafkaReadingRun.counts(lines), of: process)
            let done = try process.terminate()
            #expect(done.end == .exit(0) && !done.error.contains("partition 2: "), "\(done.error)")
            #expect(done.error.contains("received \(number == 0 ? lines.count : 0) "), "\(done.error)")
        }
        let ledger = try run.kafka.kymo("ledger", "--data", "data").text
        #expect(ledger.contains(", partition 3 up to \(KafkaReadingRun.counts(lines)[3])\n"), "\(ledger)")
    }

    /// Another client that tells positions is noticed.
    @Test func aSecondInstance() throws {
        let run = try KafkaReadingRun()
        run.configure()
        try run.store(lines)
        let process = try run.start()
        try run.wait(for: KafkaReadingRun.counts(lines), of: process)
        try run.kafka.ask("/position?group=kymo&partition=2&offset=3")
        try Waiting.until("the note: \(process.errorText)", seconds: 150) {
            process.errorText.contains("another client tells positions of partition 2 under the group kymo")
        }
        #expect(try process.terminate().end == .exit(0))
        #expect(try run.positions()[2] == 3)
    }
}
