@testable import Kymograph
import KymographCore
import Synchronization

/// A topic in memory, with the positions of its one group.
final class MemoryTopic: Sendable {
    /// The records of a partition.
    struct Log: Sendable {
        /// The offset of the first one.
        var first: Int64 = 0
        var values: [[UInt8]?] = []
        /// Those that no consumer is given: records of transactions, and what compaction has taken out.
        var hidden: Set<Int64> = []

        var range: Range<Int64> { first..<first + Int64(values.count) }
    }

    struct State {
        var cluster = IdentifierText("cluster-1")
        var partitions: [Log]
        var positions: [Int32: Int64] = [:]
        /// How many of the next commits are refused, and of the next questions not answered.
        var refusals = 0
        var silences = 0
        /// How many of the next commits get no answer.
        var losses = 0
        /// Partitions that no broker leads, and what is wrong with others, once.
        var leaderless: Set<Int32> = []
        var partitionFaults: [(Int32, KafkaFault)] = []
        /// What brokers say of themselves next.
        var faults: [KafkaFault] = []
        /// What ends the consumer that there is.
        var end: KafkaFault?
    }

    private let state: Mutex<State>

    init(partitions: Int) {
        state = Mutex(State(partitions: Array(repeating: Log(), count: partitions)))
    }

    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock { body(&$0) } }

    /// Adds a value, which is nil for a tombstone; its offset.
    @discardableResult
    func add(_ value: String?, to partition: Int32) -> Int64 {
        change { state in
            state.partitions[Int(partition)].values.append(value.map { Array($0.utf8) })
            return state.partitions[Int(partition)].range.upperBound - 1
        }
    }

    /// Drops the first `count` records of `partition`.
    func trim(_ count: Int, of partition: Int32) {
        change { state in
            let most = min(count, state.partitions[Int(partition)].values.count)
            state.partitions[Int(partition)].values.removeFirst(most)
            state.partitions[Int(partition)].first += Int64(most)
        }
    }

    /// Loses the last `count` records of `partition`.
    func lose(_ count: Int, of partition: Int32) {
        change { $0.partitions[Int(partition)].values.removeLast(count) }
    }

    func position(_ partition: Int32) -> Int64? { change { $0.positions[partition] } }
}

/// Reads a ``MemoryTopic``.
final class MemoryConsumer: RecordConsumer {
    private let topic: MemoryTopic
    private var places: [Int32: Int64] = [:]
    private var news = ConsumerNews()

    init(_ topic: MemoryTopic) { self.topic = topic }

    private func ask<Result: Sendable>(
        _ body: (inout MemoryTopic.State) -> Result
    ) throws(KafkaFault) -> Result {
        let result: Result? = topic.change { state in
            guard state.silences == 0 else {
                state.silences -= 1
                return nil
            }
            return body(&state)
        }
        guard let result else { throw KafkaFault(.unreachable, "no broker answers") }
        return result
    }

    func partitions(milliseconds: Int32) throws(KafkaFault) -> Int { try ask { $0.partitions.count } }

    var cluster: IdentifierText { topic.change { $0.cluster } }

    func positions(in partitions: [Int32], milliseconds: Int32) throws(KafkaFault) -> [RecordPosition] {
        try ask { state in
            partitions.compactMap { number in
                state.positions[number].map { RecordPosition(partition: number, offset: $0) }
            }
        }
    }

    func offsets(of partition: Int32, milliseconds: Int32) throws(KafkaFault) -> Range<Int64> {
        let range = try ask { state in
            state.leaderless.contains(partition) ? nil : state.partitions[Int(partition)].range
        }
        guard let range else { throw KafkaFault(.unable, "leader not available") }
        return range
    }

    func read(from positions: [RecordPosition]) throws(KafkaFault) {
        places = Dictionary(uniqueKeysWithValues: positions.map { ($0.partition, $0.offset) })
    }

    func next() -> RecordEvent? {
        if let (partition, fault) = topic.change({ $0.partitionFaults.isEmpty ? nil : $0.partitionFaults.removeFirst() }
        ) {
            return .fault(partition: partition, fault)
        }
        for (partition, place) in places.sorted(by: { $0.key < $1.key }) {
            let hidden = topic.change { $0.partitions[Int(partition)].hidden }
            let offset = (place...).first { !hidden.contains($0) } ?? place
            let (range, value) = topic.change { state in
                let log = state.partitions[Int(partition)]
                return (log.range, log.range.contains(offset) ? log.values[Int(offset - log.first)] : nil)
            }
            if range.contains(offset) {
                places[partition] = offset + 1
                let content = value.map { RecordContent.payload($0) } ?? .nothing
                return .record(
                    RecordPosition(partition: partition, offset: offset), TopicRecord(value: value), content)
            }
            guard offset == range.upperBound else {
                places[partition] = nil
                return .fault(partition: partition, KafkaFault(.nowhere, "no such offset"))
            }
        }
        return nil
    }

    func commit(_ positions: [RecordPosition]) throws(KafkaFault) {
        let isRefused: Bool? = topic.change { state in
            guard state.losses == 0 else {
                state.losses -= 1
                return nil
            }
            guard state.refusals == 0 else {
                state.refusals -= 1
                return true
            }
            for position in positions { state.positions[position.partition] = position.offset }
            return false
        }
        guard let isRefused else { return }
        news.committed += positions.map { ($0, isRefused ? KafkaFault(.unable, "not now") : nil) }
    }

    func knownEnd(of partition: Int32) -> Int64? { topic.change { $0.partitions[Int(partition)].range.upperBound } }

    func look() -> ConsumerNews {
        defer { news = ConsumerNews() }
        news.faults += topic.change { state in
            defer { state.faults = [] }
            return state.faults
        }
        return news
    }

    var end: KafkaFault? {
        topic.change { state in
            defer { state.end = nil }
            return state.end
        }
    }
}
