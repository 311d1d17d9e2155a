import KymographCore

/// What a lane has rejected since it reported its counts last.
struct LaneRejections {
    private var letters: [Int: [StoredDeadLetter]] = [:]
    /// Those without a letter, by reason.
    private var counts: [Int: [Rejection: Int]] = [:]

    /// What is counted of letters that came again and were taken.
    private var recovered: [Int: [TallyKey]] = [:]

    mutating func add(_ letter: StoredDeadLetter, source: Int) { letters[source, default: []].append(letter) }

    mutating func add(reason: Rejection, source: Int) { counts[source, default: [:]][reason, default: 0] += 1 }

    mutating func add(recovered key: TallyKey, source: Int) { recovered[source, default: []].append(key) }

    mutating func take(
        source: Int
    ) -> (letters: [StoredDeadLetter], counts: [Rejection: Int], recovered: [TallyKey]) {
        (
            letters.removeValue(forKey: source) ?? [], counts.removeValue(forKey: source) ?? [:],
            recovered.removeValue(forKey: source) ?? []
        )
    }
}
