import GRDB
import KymographCore

/// Dead letters whose bytes a lane has mapped again. What was rejected of them was given to the store before.
struct LetterArrival: Sendable {
    /// Their numbers.
    var letters: [Int64]
    /// The lane.
    var lane: Int
    /// By shard, the slots of the lane's ring up to which their readings are.
    var positions: [UInt64]
}

/// Letters that came again in a run, until all that came of them is durable. For the store's thread alone.
struct LetterArrivals {
    private var waiting: [LetterArrival] = []
    /// By shard, slots of each lane's ring whose readings are durable.
    private var taken: [Int: [UInt64]] = [:]

    /// Settles what is durable with `batch`, within its transaction.
    mutating func settle(with batch: StoreBatch, _ db: Database) throws {
        for unit in batch.units where !unit.taken.isEmpty { taken[unit.shard] = unit.taken }
        waiting += batch.arrivals
        guard !waiting.isEmpty else { return }
        for letter in waiting.filter(isDurable).flatMap(\.letters) { try SettledLetters.settle(letter, db) }
        waiting.removeAll(where: isDurable)
    }

    private func isDurable(_ arrival: LetterArrival) -> Bool {
        arrival.positions.enumerated().allSatisfy { shard, position in
            position == 0 || (taken[shard]?[arrival.lane] ?? 0) >= position
        }
    }
}
