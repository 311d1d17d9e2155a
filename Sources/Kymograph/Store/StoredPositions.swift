import FoundationEssentials
import GRDB
import KymographCore
import Synchronization

extension TopicPosition {
    /// Where a store keeps them.
    static let table = "topic_position"

    /// Notes that groups may be ahead of what a repaired store has of their topics, also of those that it seems to have
    /// left: that it read them again may be what is lost. Whether there are any.
    static func contest(_ db: Database) throws -> Bool {
        try db.execute(sql: "UPDATE \(table) SET telling = ?", arguments: [Telling.contested.rawValue])
        return db.changesCount > 0
    }
}

/// Up to where a store has partitions of topics, as it keeps that: with the readings up to there, or behind them.
extension [TopicPartition: TopicPosition] {
    private static let columns = #"cluster, "group", topic, partition, next, told, telling, print"#

    /// Writes them in the place of what was kept of the same partitions.
    func write(_ db: Database) throws {
        let sql =
            "INSERT OR REPLACE INTO \(TopicPosition.table) (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        for (name, position) in self {
            try db.cachedStatement(sql: sql).execute(arguments: [
                name.topic.cluster.text, name.topic.group.text, name.topic.topic.text, name.number, position.next,
                position.told, position.telling.rawValue, position.print.map { Data($0.bytes) },
            ])
        }
    }

    /// What is kept; nothing in a store from before there was such a table.
    ///
    /// - Throws: ``StoreError`` when a row is damaged: what was read of its partition is not known.
    static func stored(_ db: Database) throws -> Self {
        guard try db.tableExists(TopicPosition.table) else { return [:] }
        var positions: Self = [:]
        for row in try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(TopicPosition.table)") {
            guard let (name, position) = entry(Array(row.databaseValues)) else {
                throw StoreError(.damaged, "the positions in topics are damaged")
            }
            positions[name] = position
        }
        return positions
    }

    /// A partition and its position, of the columns of a row; nil when it is damaged.
    static func entry(_ values: [DatabaseValue]) -> (name: TopicPartition, position: TopicPosition)? {
        guard values.count == 8, let cluster = String.fromDatabaseValue(values[0]),
            let group = String.fromDatabaseValue(values[1]), let topic = String.fromDatabaseValue(values[2]),
            let number = Int32.fromDatabaseValue(values[3]), let next = Int64.fromDatabaseValue(values[4]),
            let told = Int64.fromDatabaseValue(values[5]),
            let telling = Int.fromDatabaseValue(values[6]).flatMap(TopicPosition.Telling.init)
        else { return nil }
        var position = TopicPosition(next: next, told: told, telling: telling)
        if !values[7].isNull {
            guard let bytes = Data.fromDatabaseValue(values[7]), let print = RecordPrint([UInt8](bytes)) else {
                return nil
            }
            position.print = print
        }
        let name = TopicName(
            cluster: IdentifierText(cluster), group: IdentifierText(group), topic: IdentifierText(topic))
        return (TopicPartition(topic: name, number: number), position)
    }
}

/// The positions of a store, as far as they were told; they are written when the store's thread commits next.
final class StorePositions: PositionKeeper {
    private let all: Mutex<[TopicPartition: TopicPosition]>
    private let queue: StoreQueue

    /// `stored` is what an earlier run has kept.
    init(_ stored: [TopicPartition: TopicPosition], _ queue: StoreQueue) {
        all = Mutex(stored)
        self.queue = queue
    }

    func positions(of topic: TopicName) -> [Int32: TopicPosition] {
        all.withLock { all in
            all.reduce(into: [:]) { if $1.key.topic == topic { $0[$1.key.number] = $1.value } }
        }
    }

    func knowsOthers(than topic: TopicName) -> Bool {
        all.withLock { all in
            all.keys.contains { name in
                var other = name.topic
                other.cluster = topic.cluster
                return other == topic && name.topic != topic
            }
        }
    }

    func keep(_ positions: [Int32: TopicPosition], of topic: TopicName) -> Int {
        let named = Dictionary(
            uniqueKeysWithValues: positions.map { (TopicPartition(topic: topic, number: $0.key), $0.value) })
        all.withLock { $0.merge(named) { $1 } }
        queue.add { $0.positions.merge(named) { $1 } }
        // Another change may have come meanwhile: it is waited for, too.
        return queue.changes
    }

    /// Notes of which partitions nobody here reads any more, as `isRead` says: others may, and tell positions of them.
    /// One of which the group may be ahead stays so.
    func leave(unless isRead: (TopicPartition) -> Bool) {
        let left = all.withLock { all in
            let left = all.filter { $0.value.telling == .own && !isRead($0.key) }.mapValues { position in
                var position = position
                position.telling = .left
                return position
            }
            all.merge(left) { $1 }
            return left
        }
        if !left.isEmpty { queue.add { $0.positions.merge(left) { $1 } } }
    }

    func hurry() { queue.hurry() }

    func isKept(_ number: Int) -> Bool { queue.isCommitted(number) }
}
