import KymographCore

/// What a lane has rejected since it reported its counts last.
struct LaneRejections {
    private var letters: [Int: [StoredDeadLetter]] = [:]
    /// Those without a letter, by reason.
    private var counts: [Int: [Rejection: Int]] = [:]

    /// All of them so far, those that were reported, too: with a letter, and without.
    private(set) var totals = (kept: 0, dropped: 0)

    mutating func add(_ letter: StoredDeadLetter, source: Int) {
        letters[source, default: []].append(letter)
        totals.kept += 1
    }

    mutating func add(reason: Rejection, source: Int) {
        counts[source, default: [:]][reason, default: 0] += 1
        totals.dropped += 1
    }

    mutating func take(source: Int) -> (letters: [StoredDeadLetter], counts: [Rejection: Int]) {
        (letters.removeValue(forKey: source) ?? [], counts.removeValue(forKey: source) ?? [:])
    }
}
