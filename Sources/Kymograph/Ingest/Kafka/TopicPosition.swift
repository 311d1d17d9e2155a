package import KymographCore

/// A topic, as a group reads it.
package struct TopicName: Hashable, Sendable {
    /// What brokers call their cluster: names of hosts may change. Empty where they do not say.
    package var cluster: IdentifierText
    /// The group.
    package var group: IdentifierText
    /// The topic.
    package var topic: IdentifierText

    /// Takes the three.
    package init(cluster: IdentifierText, group: IdentifierText, topic: IdentifierText) {
        (self.cluster, self.group, self.topic) = (cluster, group, topic)
    }
}

/// A partition of a topic.
package struct TopicPartition: Hashable, Sendable {
    /// The topic.
    package var topic: TopicName
    /// Its number.
    package var number: Int32
}

/// Up to where a store has a partition.
package struct TopicPosition: Hashable, Sendable {
    /// Who tells positions of it. The raw values are in stores.
    package enum Telling: Int, Sendable {
        /// This instance alone, as far as it knows.
        case own
        /// Another client, too: the group's position may be that of what this store does not have.
        case contested
        /// Others: the partition was taken out of this instance.
        case left
    }

    /// All records before this one are durable.
    var next: Int64
    /// The group has this position, or one of those from there up to `next`, unless somebody else has set it.
    var told: Int64
    var telling = Telling.own
    /// The record right before `next`; nil where that is none that was seen.
    var print: RecordPrint?
}

/// What keeps positions of topics beyond the process. For any thread.
package protocol PositionKeeper: Sendable {
    /// Those of `topic`, by partition.
    func positions(of topic: TopicName) -> [Int32: TopicPosition]

    /// Whether there are any of the same topic and group on another cluster.
    func knowsOthers(than topic: TopicName) -> Bool

    /// Keeps `positions` of `topic`; a number for ``isKept(_:)``. Does not wait.
    func keep(_ positions: [Int32: TopicPosition], of topic: TopicName) -> Int

    /// Whether what ``keep(_:of:)`` has given `number` for is durable.
    func isKept(_ number: Int) -> Bool
}

/// Keeps none.
struct NoPositions: PositionKeeper {
    func positions(of topic: TopicName) -> [Int32: TopicPosition] { [:] }
    func knowsOthers(than topic: TopicName) -> Bool { false }
    func keep(_ positions: [Int32: TopicPosition], of topic: TopicName) -> Int { 0 }
    func isKept(_ number: Int) -> Bool { true }
}
