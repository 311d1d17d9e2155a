import KymographCore

/// What reads partitions of a topic. Belongs to one thread.
protocol RecordConsumer: AnyObject {
    /// How many partitions the topic has, as brokers answer within `milliseconds`.
    ///
    /// - Throws: ``KafkaFault`` with what they say, or that nobody has answered.
    func partitions(milliseconds: Int32) throws(KafkaFault) -> Int

    /// What brokers call their cluster; empty where they do not say. To be asked when they have answered.
    var cluster: IdentifierText { get }

    /// The group's positions in `partitions`, without those that have none.
    ///
    /// - Throws: ``KafkaFault``, as ``partitions(milliseconds:)``.
    func positions(in partitions: [Int32], milliseconds: Int32) throws(KafkaFault) -> [RecordPosition]

    /// The offsets of `partition`, from that of the first record which it has up to that of the next one which it gets.
    ///
    /// - Throws: ``KafkaFault``, as ``partitions(milliseconds:)``.
    func offsets(of partition: Int32, milliseconds: Int32) throws(KafkaFault) -> Range<Int64>

    /// Begins to read from `positions`, and no other partitions any more.
    ///
    /// - Throws: ``KafkaFault``
    func read(from positions: [RecordPosition]) throws(KafkaFault)

    /// The next record, or what is wrong with a partition; nil when there is none for now.
    func next() -> RecordEvent?

    /// Has the group's positions set. ``look()`` tells what became of it.
    ///
    /// - Throws: ``KafkaFault``
    func commit(_ positions: [RecordPosition]) throws(KafkaFault)

    /// The offset of the next record that `partition` gets, as the last answer had it; nil before there was one.
    func knownEnd(of partition: Int32) -> Int64?

    /// What has happened since the last look.
    func look() -> ConsumerNews

    /// Why it can read nothing more; nil while it can.
    var end: KafkaFault? { get }
}

/// What a consumer gives.
enum RecordEvent {
    /// A record, and what of it goes to the lane.
    case record(RecordPosition, TopicRecord, RecordContent)
    /// What is wrong with a partition.
    case fault(partition: Int32, KafkaFault)
}

/// What a consumer tells.
struct ConsumerNews {
    /// Positions that were set, or were not.
    var committed: [(position: RecordPosition, fault: KafkaFault?)] = []
    /// What is wrong with brokers and connections.
    var faults: [KafkaFault] = []
}
