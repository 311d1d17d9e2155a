import GRDB
package import KymographCore

extension LedgerReport {
    /// A topic that a source reads, and up to where the store has it.
    package struct Topic: Codable, Sendable, Equatable {
        /// What brokers call their cluster; empty where they do not say.
        package var cluster: IdentifierText
        /// The group.
        package var group: IdentifierText
        /// The topic.
        package var topic: IdentifierText
        /// Partitions that the instance reads, by their numbers.
        package var partitions: [Partition] = []

        /// Whether both are of the same topic and group.
        func isSame(as other: Topic) -> Bool {
            cluster == other.cluster && group == other.group && topic == other.topic
        }

        /// The topic and its group in words.
        package var name: String { "topic \(topic) for the group \(group)" }
    }

    /// A partition, of which all records before the position are durable.
    package struct Partition: Codable, Sendable, Equatable {
        /// Its number.
        package var partition: Int32
        /// The record to be read next.
        package var position: Int64
        /// Whether another client tells positions of the same group.
        package var isContested: Bool
    }
}

extension LedgerReport.Topic {
    /// Those that a store has, without partitions that were taken out of the instance.
    static func stored(_ db: Database) throws -> [LedgerReport.Topic] {
        var topics: [TopicName: LedgerReport.Topic] = [:]
        for (name, position) in try [TopicPartition: TopicPosition].stored(db) where position.telling != .left {
            let key = name.topic
            let none = LedgerReport.Topic(cluster: key.cluster, group: key.group, topic: key.topic)
            topics[key, default: none].partitions.append(
                LedgerReport.Partition(
                    partition: name.number, position: position.next, isContested: position.telling == .contested))
        }
        for key in topics.keys { topics[key]?.partitions.sort { $0.partition < $1.partition } }
        return topics.values.sorted { ($0.topic, $0.group, $0.cluster) < ($1.topic, $1.group, $1.cluster) }
    }
}
