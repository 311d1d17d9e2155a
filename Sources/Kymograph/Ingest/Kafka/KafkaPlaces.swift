/// Where a topic is read, over all sessions of a run.
struct KafkaPlaces {
    /// Partitions that are read, by number.
    var readers: [Int32: PartitionReader] = [:]
    /// Those of which brokers are to say which records they have.
    var questions = PartitionQuestions()

    /// Whether nothing was begun yet.
    var isEmpty: Bool { readers.isEmpty && questions.isEmpty }

    /// Those from which records are taken, and the next one of each.
    var positions: [RecordPosition] {
        readers.values.filter { !$0.isHalted && !questions.has($0.number) }.sorted { $0.number < $1.number }
            .map { RecordPosition(partition: $0.number, offset: $0.from) }
    }

    /// Partitions of which others tell positions.
    var contested: [Int32] { readers.values.filter(\.telling.isContested).map(\.number).sorted() }

    /// Takes a record that has come, unless it was read before.
    mutating func take(_ position: RecordPosition, _ record: TopicRecord) -> PartitionReader.Taking {
        guard !questions.has(position.partition) else { return .passed }
        return readers[position.partition]?.take(position.offset, record) ?? .passed
    }

    /// Makes the last record of each partition one that can be known again.
    mutating func close() { for number in readers.keys { readers[number]?.close() } }

    /// Goes on with another consumer.
    mutating func rewind() { for number in readers.keys { readers[number]?.rewind() } }
}
