/// How many entries a transaction may have: as many as its settings allow, fewer after one that took too long, and
/// slowly more again.
struct PostgresBatchLimit {
    /// Most entries for now.
    private(set) var entries: Int
    private let most: Int

    /// What it does not go below. Each transaction costs the store a commit of its own, besides the database's. A batch
    /// that still takes too long goes in halves.
    private static let least = 8

    init(most: Int) { (entries, self.most) = (most, most) }

    /// Notes that a batch took too long of which `half` is half.
    mutating func shrink(to half: Int) { entries = max(min(Self.least, most), min(entries, half)) }

    /// Notes that a batch was taken. Slowly: each time that it is too much costs a whole timeout.
    mutating func grow() { entries = min(most, entries + max(1, entries / 8)) }
}
