import GRDB
import KymographCore

/// What the counts of a ledger are called besides the names of ``Rejection``s, which a store has, too.
enum LedgerOutcome {
    /// Readings that a source gave, rejected ones among them.
    static let received = "received"
    /// Datagrams that the kernel dropped before anybody could read them.
    static let kernelDropped = "kernelDropped"
    /// Rejected readings that a window holds all the same: they are in the window's count, too.
    static let unwritten = "unwritten"
    /// Readings that count as superseded, and are not any more: what had taken their places was rejected later.
    static let unreplaced = "unreplaced"
    /// Readings that count as retracted, and are not any more: they were rejected for something else later.
    static let unretracted = "unretracted"
    /// Retractions that have taken a reading out, or had done so before.
    static let retractions = "retractions"
    /// Readings of windows that the archive has dropped.
    static let droppedReadings = "droppedReadings"
    /// Readings of such windows that added values to others.
    static let droppedMerged = "droppedMerged"
    /// Readings of such windows that were there already.
    static let droppedDuplicate = "droppedDuplicate"
    /// Readings of such windows whose values differed from what was there.
    static let droppedConflict = "droppedConflict"

    /// All of them: what is none of these is the name of a rejection.
    static let names: Set<String> = [
        received, kernelDropped, unwritten, unreplaced, unretracted, retractions, droppedReadings, droppedMerged,
        droppedDuplicate, droppedConflict,
    ]

    /// Whether `outcome` counts rejected readings.
    static func isRejection(_ outcome: String) -> Bool {
        !names.contains(outcome) && gap(outcome, 0) == nil && recovered(in: outcome) == nil
    }

    /// What comes before the reason of readings whose dead letters came again, and were taken. They stay among those
    /// that were rejected.
    private static let recovered = "recovered:"

    /// What the store counts for such a letter of a reason.
    static func recovered(_ reason: String) -> String { recovered + reason }

    /// The reason that `outcome` counts such letters of; nil when it counts something else.
    static func recovered(in outcome: String) -> String? {
        outcome.hasPrefix(recovered) ? String(outcome.dropFirst(recovered.count)) : nil
    }

    /// What comes before the name of a device whose bridge has passed over numbers of frames, and before that of one
    /// whose frames with such numbers have come after all. Neither are readings.
    private static let (missingFrames, lateFrames) = ("missingFrames:", "lateFrames:")

    /// What the store counts for `gap`.
    static func counts(of gap: FrameGap) -> [(count: Int, outcome: String)] {
        [(gap.missing, missingFrames + gap.device.text), (gap.late, lateFrames + gap.device.text)]
    }

    /// What `count` of `outcome` says of frames; nil when it counts readings or datagrams.
    static func gap(_ outcome: String, _ count: Int) -> FrameGap? {
        for (prefix, isLate) in [(missingFrames, false), (lateFrames, true)] where outcome.hasPrefix(prefix) {
            let device = IdentifierText(String(outcome.dropFirst(prefix.count)))
            return FrameGap(device: device, missing: isLate ? 0 : count, late: isLate ? count : 0)
        }
        return nil
    }

    /// What `settled`, retractions of a unit, add: of no series, since readings of several may be meant.
    static func settled(_ settled: [(source: Int, received: Instant)]) -> [TallyKey: Int] {
        var tallies: [TallyKey: Int] = [:]
        for (source, received) in settled {
            let key = TallyKey(source: source, series: -1, hour: hour(of: received), outcome: retractions)
            tallies[key, default: 0] += 1
        }
        return tallies
    }

    /// Nanoseconds of an hour.
    static let hourLength: Int64 = 3_600_000_000_000

    /// Hours since the epoch.
    static func hour(of instant: Instant) -> Int64 {
        let (hour, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: hourLength)
        return rest < 0 ? hour - 1 : hour
    }

    /// Counts a window that is dropped: series, start, sources, merged, duplicates, conflicts.
    static func countDropped(_ row: Row, in tallies: inout [TallyKey: Int]) {
        let series: Int = row[0]
        let hour = hour(of: Instant(nanoseconds: row[1]))
        func add(_ count: Int, _ outcome: String, source: Int = -1) {
            guard count > 0 else { return }
            tallies[TallyKey(source: source, series: series, hour: hour, outcome: outcome), default: 0] += count
        }
        for (source, count) in SourceShares.parse(row[2]) { add(count, droppedReadings, source: source) }
        add(row[3], droppedMerged)
        add(row[4], droppedDuplicate)
        add(row[5], droppedConflict)
    }

    /// What takes back the readings of a window that was dropped while late readings had it open.
    static func recalled(_ window: ClosedWindow) -> [TallyKey: Int] {
        var tallies: [TallyKey: Int] = [:]
        let hour = hour(of: window.start)
        for (source, count) in window.facts.restored.enumerated() where count > 0 {
            let key = TallyKey(source: source, series: window.series, hour: hour, outcome: droppedReadings)
            tallies[key] = -Int(count)
        }
        return tallies
    }

    /// What came to a window that was dropped while late readings, all of them known, had it open.
    static func missed(_ window: ClosedWindow) -> [TallyKey: Int] {
        let (facts, hour) = (window.facts, hour(of: window.start))
        let counts = [
            (droppedMerged, facts.merged), (droppedDuplicate, facts.duplicates), (droppedConflict, facts.conflicts),
        ]
        var tallies: [TallyKey: Int] = [:]
        for (outcome, count) in counts where count > 0 {
            tallies[TallyKey(source: -1, series: window.series, hour: hour, outcome: outcome)] = Int(count)
        }
        return tallies
    }
}

/// The text that says how many readings of a window came from which source: `0:60 3:1`.
enum SourceShares {
    /// Pairs of source number and count; a part that is no pair is left out.
    static func parse(_ text: String) -> [(source: Int, count: Int)] {
        text.split(separator: " ").compactMap { part in
            let numbers = part.split(separator: ":").compactMap { Int($0) }
            return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
        }
    }
}

extension TallyKey {
    /// Adds `count` to the row.
    func add(_ count: Int, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO tally VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (source, series, hour, outcome) DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [source, series, hour, outcome, count])
    }
}
