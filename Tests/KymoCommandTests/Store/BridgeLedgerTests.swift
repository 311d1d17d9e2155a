import CommandSupport
import KymographTestKit
import Testing

/// What bridges and devices number, and what comes twice, in the ledger.
@Suite struct BridgeLedgerTests {
    private static let strap = ["--mapping", "heart-rate-strap", "--mapping", "bluetooth-battery"]

    /// Frame `number` of a strap, one a second: a heart rate, or where `value` says so something else.
    private func frame(
        _ number: Int, _ value: String = "063c", of characteristic: String = "2A37", device: String = "strap-1"
    ) -> String {
        """
        {"device":"\(device)","characteristic":"\(characteristic)","time":"2026-03-01T08:00:\(10 + number)+01:00",\
        "sequence":\(number),"value":"\(value)"}
        """
    }

    @Test func framesThatNeverCame() throws {
        let run = StoredRun()
        // 3 never comes, 4 comes late and twice; 5 is refused and 9 of another characteristic, but both came.
        let lines = [
            frame(1), frame(2), frame(5, "04ff"), frame(4), frame(4), frame(9, "64", of: "2A19"), frame(1, device: "w"),
            frame(2, device: "w"),
        ]
        let done = try run.run(lines, Self.strap)
        #expect(done.balance?.duplicate == 1 && done.balance?.accepted == 6, "\(done.error)")
        #expect(done.error.contains("missing frames 4, by the numbers of bridges"), "\(done.error)")
        let ledger = try run.command("ledger", "--device", "strap-1")
        #expect(ledger.end == .exit(65))
        #expect(
            ledger.lines.contains("  strap-1: 4 frames never came, by the numbers of the bridge"), "\(ledger.text)")
        #expect(ledger.text.contains("series strap-1 heartRate: windows 1, readings 3, duplicate 1"), "\(ledger.text)")
        let other = try run.command("ledger", "--device", "w")
        #expect(!other.text.contains("never came"), "\(other.text)")
        let json = try run.json("ledger", "--format", "json")
        #expect(json["missingFrames"]?.elements?.map { $0["missing"] } == [.number("4")])
        #expect(json["balance"]?["onTheWay"] == .number("0"))
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// Names that look the same are of two devices, in every count.
    @Test func devicesAreTheirBytes() throws {
        let run = StoredRun()
        let names = ["strap-\u{F6}", "strap-o\u{308}"]
        try run.run(names.flatMap { [frame(1, device: $0), frame(4, device: $0)] }, Self.strap)
        let whole = try run.json("ledger", "--format", "json")
        #expect(whole["missingFrames"]?.elements?.map { $0["missing"] } == [.number("2"), .number("2")], "\(whole)")
        #expect(whole["series"]?.elements?.count == 2, "\(whole)")
        let both = try run.json("ledger", "--format", "json", "--device", names[0], "--device", names[1])
        #expect(both["windows"]?.elements?.count == 2, "\(both)")
        for name in names {
            let one = try run.json("ledger", "--format", "json", "--device", name)
            #expect(one["windows"]?.elements?.count == 1 && one["missingFrames"]?.elements?.count == 1, "\(one)")
        }
    }

    /// A later run counts from its first frame on, and adds to what is known; other hours are other spans.
    @Test func runsAndSpans() throws {
        let run = StoredRun()
        try run.run([frame(1), frame(3)], Self.strap)
        try run.run([frame(7), frame(9)], Self.strap)
        let whole = try run.json("ledger", "--format", "json")
        #expect(whole["missingFrames"]?.elements?.first?["device"] == .string("strap-1"))
        // They were missed when they did not come, which is now.
        let span = try run.command("ledger", "--device", "strap-1", "--to", "2026-03-02T00:00:00Z")
        #expect(span.end == .exit(0), "\(span.text)")
    }

    /// Letters come with their old numbers, and without what was between them; what would be rejected again is left.
    @Test func lettersThatAreMappedAgain() throws {
        let run = StoredRun()
        let lines = (1...40).map { frame($0, $0 == 3 || $0 == 30 ? "04ff" : "063c") }
        #expect(try run.run(lines, Self.strap).balance?.reasons == ["noTemplate": 2])
        let replayed = try run.command("dead", "replay", "--all", "--mapping", "heart-rate-strap")
        #expect(replayed.end == .exit(65) && replayed.error.contains("2 letters left"), "\(replayed.error)")
        #expect(!replayed.error.contains("missing frames"), "\(replayed.error)")
        #expect(try run.json("ledger", "--format", "json")["missingFrames"]?.elements?.isEmpty == true)
    }

    /// The records of a glucose meter have numbers of their own; it sends all of them at each connection.
    @Test func recordsOfAMeter() throws {
        let run = StoredRun()
        func record(_ sequence: Int, _ message: Int) -> String {
            // The record's number is the hour of its clock, too.
            """
            {"device":"meter","characteristic":"2A18","time":"2026-03-01T20:00:\(10 + message)+01:00",\
            "sequence":\(message),"value":"030\(sequence)00ea0703010\(sequence)0000000070b011"}
            """
        }
        let first = [record(5, 1), record(6, 2), record(9, 3)]
        let mapping = ["--mapping", "glucose-meter"]
        #expect(try run.run(first, mapping).balance?.accepted == 3)
        let gap = try run.command("ledger", "--device", "meter")
        #expect(gap.end == .exit(65) && gap.text.contains("meter: 2 messages are missing by their sequence numbers"))
        #expect(!gap.text.contains("never came"))
        // The meter connects again: known records, with new numbers of the bridge, and one that was lost.
        let second = try run.run([record(5, 4), record(6, 5), record(7, 6), record(9, 7)], mapping)
        #expect(second.balance?.duplicate == 3 && second.balance?.accepted == 1, "\(second.error)")
        let rest = try run.command("ledger", "--device", "meter")
        #expect(rest.text.contains("meter: 1 message is missing by their sequence numbers"), "\(rest.text)")
        let series = try run.json("ledger", "--format", "json")["series"]?.elements ?? []
        #expect(series.compactMap { $0["duplicate"]?.integer }.reduce(0, +) == 3)
    }
}
