import KymographCore

/// What is read of a topic, and from where.
package struct KafkaReading: Hashable, Sendable {
    /// Where a partition is read from of which neither the group nor the store has a position.
    package enum Beginning: Hashable, Sendable {
        /// At the first record that it has.
        case earliest
        /// Behind the last one that it has.
        case latest
    }

    /// The group of which positions are kept at the brokers.
    package var group = "kymo"
    /// Which partitions; nil for all.
    package var partitions: PartitionSet?
    /// Where to begin.
    package var beginning = Beginning.earliest
    /// How headers are read, which become properties of an envelope around the value; nil when they are not.
    package var headers: HeaderEncoding?
    /// File of further properties of librdkafka; as it may have secrets, one that nobody else can read.
    package var propertiesFile: String?

    /// Whether it has partitions of the same group as `other`.
    func overlaps(_ other: KafkaReading) -> Bool {
        guard IdentifierText(group) == IdentifierText(other.group) else { return false }
        guard let mine = partitions?.numbers, let theirs = other.partitions?.numbers else { return true }
        return !Set(mine).isDisjoint(with: theirs)
    }

    /// All of it, for the group `kymo`, from the first record.
    package init() {}
}
