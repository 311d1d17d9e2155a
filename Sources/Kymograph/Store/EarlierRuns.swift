import KymographCore

/// What earlier runs have left in a store.
struct EarlierRuns: Sendable {
    /// The start of the latest window.
    let latestWindow: Instant
    /// The last number that a block has.
    let lastBlock: Int64
    /// Whether there are series.
    let hasSeries: Bool
    /// Whether there are retractions.
    let hasRetractions: Bool

    /// As `facts` say.
    init(_ facts: StoreFacts) {
        latestWindow = facts.latestWindow.map { Instant(nanoseconds: $0) } ?? .distantPast
        lastBlock = facts.lastBlock
        hasSeries = facts.lastSeries >= 0
        hasRetractions = facts.hasRetractions
    }
}
