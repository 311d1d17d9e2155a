import FoundationEssentials
import GRDB
import KymographCore

/// The journal that an earlier run has left, for the shards.
struct StoreReplay {
    /// What a shard took from it.
    struct Outcome: Sendable {
        /// Readings whose windows were not archived yet.
        var readings = 0
        /// Those of them that no window takes: they are dead letters.
        var rejected = 0
        /// Readings of series that the store does not know any more.
        var unknown = 0
        /// Blocks that could not be read whole.
        var damagedBlocks = 0
    }

    private let store: Store
    private let shard: Int
    private let shards: Int

    /// The part of `shard` among `shards`.
    init(_ store: Store, shard: Int, of shards: Int) {
        self.store = store
        self.shard = shard
        self.shards = shards
    }

    /// Gives all blocks to `target`, oldest first.
    func run(into target: inout StoredShard) -> Outcome {
        var keys: [Int: [UInt8]?] = [:]
        var lost: Set<Int> = []
        var unknown = 0
        var damaged: [Int64] = []
        var last: Int64 = 0
        func find(_ number: Int) -> [UInt8]? {
            let key = key(number, &keys, &lost)
            if lost.contains(number) { unknown += 1 }
            return key
        }
        while let row = next(after: last) {
            last = row.number
            let (withdrawn, superseding) = withdrawn(from: row.number)
            guard let block = row.block,
                target.replay(block, except: withdrawn, superseding: superseding, series: find)
            else {
                damaged.append(row.number)
                continue
            }
        }
        // One shard tells of a block that all of them have stumbled over.
        if shard == 0, !damaged.isEmpty { store.quarantine(damaged, of: .journal) }
        return Outcome(
            readings: target.replayed, rejected: target.replayRejected, unknown: shard == 0 ? unknown : 0,
            damagedBlocks: shard == 0 ? damaged.count : 0)
    }

    private func next(after number: Int64) -> (number: Int64, block: JournalBlock?)? {
        let row = store.read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT number, readings, codec, key_id, checksum, body FROM journal WHERE number > ?
                    ORDER BY number LIMIT 1
                    """, arguments: [number])
        }
        guard let row = row.flatMap({ $0 }) else { return nil }
        let content = StoredBody.content(codec: row[2], key: row[3], checksum: row[4], bytes: row[5])
        return (row[0], content.map { JournalBlock(number: row[0], count: row[1], bytes: $0) })
    }

    /// Readings of a block that an earlier run has rejected, and counted so; and those for which it rejected others.
    private func withdrawn(from block: Int64) -> (withdrawn: Set<Int>, superseding: Set<Int>) {
        let rows = store.read { db in
            try Row.fetchAll(
                try db.cachedStatement(sql: "SELECT place, supersedes FROM withdrawn WHERE block = ?"),
                arguments: [block])
        }
        let places: [(place: Int, supersedes: Bool)] = (rows ?? []).map { ($0[0], $0[1]) }
        return (Set(places.filter { !$0.supersedes }.map(\.place)), Set(places.filter(\.supersedes).map(\.place)))
    }

    /// The key of a series that belongs to this shard. Of one that the store has lost, nobody knows whose it is.
    private func key(_ number: Int, _ keys: inout [Int: [UInt8]?], _ lost: inout Set<Int>) -> [UInt8]? {
        if let known = keys[number] { return known }
        let data = store.read { db in
            try Data.fetchOne(db, sql: "SELECT key FROM series WHERE number = ?", arguments: [number])
        }
        let key = data.flatMap { $0 }.map { [UInt8]($0) }
        if key == nil { lost.insert(number) }
        let isMine = key?.withByteView { ReadingRouter.shard(ofKey: $0, of: shards) } == shard
        keys[number] = .some(isMine ? key : nil)
        return isMine ? key : nil
    }
}
