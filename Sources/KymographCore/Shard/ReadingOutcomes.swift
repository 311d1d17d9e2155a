/// What became of readings, but for those that were accepted: these are all others.
package struct ReadingOutcomes: Hashable, Sendable {
    /// Readings that were there already.
    package var duplicate = 0
    /// Readings that took the place of others.
    package var conflict = 0
    /// Readings that no window took, or whose place others have that were there before.
    package var rejected = 0
    /// Retractions.
    package var retractions = 0
    /// Why readings, or retractions, were rejected.
    package private(set) var reasons = RejectionReasons()

    /// None.
    package init() {}

    /// Adds others.
    package mutating func add(_ other: ReadingOutcomes) {
        duplicate += other.duplicate
        conflict += other.conflict
        rejected += other.rejected
        retractions += other.retractions
        reasons.formUnion(other.reasons)
    }

    /// Counts a reading that was rejected.
    @inline(never)
    package mutating func reject(_ reason: Rejection) {
        rejected += 1
        note(reason)
    }

    /// Notes why something was rejected that is counted otherwise.
    package mutating func note(_ reason: Rejection) { reasons.insert(reason) }

    /// Whether there are none: all readings were accepted.
    package var isEmpty: Bool { total == 0 && reasons.isEmpty }

    /// All of them.
    package var total: Int { duplicate + conflict + rejected + retractions }
}

/// What became of the readings that a lane has counted together, as far as they went to one shard.
package struct CountedReadings: Sendable {
    /// The lane.
    package var lane: Int
    /// The lane's number of the count: of all readings of a request, or of an item (``ItemNumber/init(count:)``).
    package var number: Int
    /// What became of them.
    package var outcomes: ReadingOutcomes
}
