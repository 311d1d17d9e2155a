@testable import Kymograph
import KymographCore
import Testing
import TrialSupport

/// Positions that a store keeps beside those of the group.
@Suite struct KafkaPositionTests {
    /// A process that reads a topic.
    private final class Process {
        let topic: MemoryTopic
        let session: KafkaSession
        private let frames: FrameQueue
        private let keeper: MemoryPositions
        private var now = ContinuousClock.now

        init(
            _ topic: MemoryTopic, _ keeper: MemoryPositions, _ reading: KafkaReading = KafkaReading(),
            from places: KafkaPlaces = KafkaPlaces()
        ) throws {
            (self.topic, self.keeper, frames) = (topic, keeper, FrameQueue(longest: 100))
            session = KafkaSession(
                reading, topic: "t", into: frames, by: MemoryConsumer(topic), from: places, keeping: keeper, at: now)
            // It waits for the store then.
            keeper.commitsAtOnce(reading.beginning == .latest)
            try session.begin(at: now)
            keeper.commitsAtOnce(false)
        }

        /// What comes now, and is durable then, as `partition:offset value`.
        func taken() throws -> [String] {
            try session.fill(at: now)
            var bytes: [UInt8] = []
            frames.send { view in
                bytes += view.array
                return view.count
            }
            let view = PaddedBytes(copying: bytes)
            var (texts, place): ([String], Int) = ([], 0)
            while let frame = RecordFrame(view.view, from: place) {
                texts.append("\(frame.position.partition):\(frame.position.offset) \(view.view[frame.content].string)")
                session.finish(
                    RecordPosition(partition: frame.position.partition, offset: frame.position.offset + 1))
                place = frame.end
            }
            return texts
        }

        /// So many seconds pass.
        func pass(_ seconds: Int, commits: Bool = true) throws {
            for _ in 0..<seconds {
                now += .seconds(1)
                if commits { keeper.commit() }
                try session.tend(now)
                try session.fill(at: now)
            }
            if commits { keeper.commit() }
        }

        /// Ends in order.
        func end() {
            session.end(at: now)
            for _ in 0..<3 {
                keeper.commit()
                _ = session.hear(at: now)
            }
            keeper.commit()
        }

        func says(_ text: String) -> Bool { session.takeNews().notices.contains { "\($0)".contains(text) } }
    }

    private let topic = MemoryTopic(partitions: 2)
    private let keeper = MemoryPositions()

    /// Records of partition 0 that a process has read, and ended.
    private func read(_ values: String..., reading: KafkaReading = KafkaReading()) throws {
        let process = try Process(topic, keeper, reading)
        for value in values { topic.add(value, to: 0) }
        #expect(try process.taken().count == values.count)
        process.end()
        #expect(topic.position(0) == Int64(values.count) && keeper[0]?.next == Int64(values.count))
        #expect(keeper[0]?.told == Int64(values.count) && keeper[0]?.print != nil)
    }

    private func remake(_ values: [String]) {
        topic.change { $0.partitions[0] = MemoryTopic.Log(values: values.map { Array($0.utf8) }) }
    }

    private let others = (0..<9).map { "other \($0)" }
    private var otherRecords: [String] { others.enumerated().map { "0:\($0.offset) \($0.element)" } }

    /// What comes while kymo is away is read, by the store's position, whatever `startAt` says.
    @Test(arguments: [KafkaReading.Beginning.latest, .earliest]) func theGroupForgets(
        beginning: KafkaReading.Beginning
    ) throws {
        var reading = KafkaReading()
        reading.beginning = beginning
        try read("a", "b", reading: reading)
        topic.change { $0.positions = [:] }
        topic.add("c", to: 0)
        topic.add("d", to: 1)
        let process = try Process(topic, keeper, reading)
        #expect(try process.taken() == ["0:2 c", "1:0 d"])
        #expect(process.says("partition 0: the group has no position any more: it is read on from 2"))
        process.end()
        #expect(topic.position(0) == 3)
    }

    /// The group is told what the store has, and nothing before it has that.
    @Test func theStoreFirst() throws {
        let process = try Process(topic, keeper)
        topic.add("a", to: 0)
        _ = try process.taken()
        try process.pass(5, commits: false)
        #expect(topic.position(0) == nil)
        try process.pass(2)
        #expect(topic.position(0) == 1 && keeper[0]?.next == 1)
    }

    /// In the normal case nothing comes twice, and nothing is said.
    @Test func readsOn() throws {
        try read("a", "b")
        let process = try Process(topic, keeper)
        topic.add("c", to: 0)
        #expect(try process.taken() == ["0:2 c"])
        #expect(process.session.takeNews().notices == [.connected("reading 2 partitions of t")])
    }

    /// What is there in place of the last record that was read tells that what follows is not what was to come; for as
    /// long as nobody sets the position.
    @Test(arguments: [true, false]) func remadeAndGrown(isForgotten: Bool) throws {
        try read("a", "b")
        remake(others)
        if isForgotten { topic.change { $0.positions = [:] } }
        for _ in 0..<2 {
            let process = try Process(topic, keeper)
            #expect(try process.taken().isEmpty && process.session.progress.halted == 1)
            #expect(process.says("partition 0 is read no more: the record 1, which was the last to be read"))
            try process.pass(3)
            process.end()
        }
        topic.change { $0.positions[0] = 0 }
        let process = try Process(topic, keeper)
        #expect(try process.taken() == otherRecords && process.session.progress.halted == 0)
        process.end()
        #expect(topic.position(0) == 9 && keeper[0]?.next == 9)
    }

    /// Also when the consumer is another one, within a process.
    @Test func remadeMeanwhile() throws {
        let process = try Process(topic, keeper)
        for value in ["a", "b"] { topic.add(value, to: 0) }
        #expect(try process.taken() == ["0:0 a", "0:1 b"])
        remake(others)
        let other = try Process(topic, keeper, from: process.session.places)
        #expect(try other.taken().isEmpty && other.session.progress.halted == 1)
    }

    /// A partition that is shorter than it was is the same, by the same message as without a store.
    @Test func remadeAndShorter() throws {
        try read("a", "b")
        remake(["c"])
        let process = try Process(topic, keeper)
        try process.pass(40)
        #expect(try process.taken().isEmpty && process.says("partition 0 is read no more: it ends at 1"))
    }

    /// What retention or compaction has taken can be compared with nothing: that is said, and reading goes on.
    @Test(arguments: [true, false]) func unproven(isTrimmed: Bool) throws {
        try read("a", "b")
        if isTrimmed { topic.trim(2, of: 0) } else { topic.change { $0.partitions[0].hidden = [1] } }
        topic.add("c", to: 0)
        topic.add("d", to: 0)
        let process = try Process(topic, keeper)
        #expect(try process.taken() == ["0:2 c", "0:3 d"])
        let notices = process.session.takeNews().notices.map { "\($0)" }
        #expect(notices.count { $0.contains("the record before 2 is no longer there") } == 1, "\(notices)")
    }

    /// What ends a transaction is no record that anybody is given: that before it is compared.
    @Test func transactions() throws {
        try read("a", "b")
        topic.add("end of the transaction", to: 0)
        topic.change { $0.partitions[0].hidden = [2] }
        topic.add("c", to: 0)
        let process = try Process(topic, keeper)
        #expect(try process.taken() == ["0:3 c"] && !process.says("no longer there"))
        process.end()
        remake(others)
        let other = try Process(topic, keeper)
        #expect(try other.taken().isEmpty && other.says("the record 3, which was the last to be read"))
    }

    /// Tools set positions, also to where they were before.
    @Test func anOperatorSetsPositions() throws {
        try read("a", "b", "c")
        topic.change { $0.positions[0] = 1 }
        let back = try Process(topic, keeper)
        #expect(try back.taken() == ["0:1 b", "0:2 c"])
        #expect(back.says("partition 0: the position was set back from 3 to 1"))
        back.end()
        for value in ["d", "e", "f"] { topic.add(value, to: 0) }
        topic.change { $0.positions[0] = 5 }
        let forward = try Process(topic, keeper)
        let news = forward.session.takeNews()
        #expect(news.missed == 2 && "\(news.notices)".contains("set forward from 3, where the store has it, to 5"))
        #expect(try forward.taken() == ["0:5 f"])
        forward.end()
        #expect(topic.position(0) == 6 && keeper[0]?.next == 6)
    }

    /// A process that is killed behind the store's commit, and before the group's: nothing comes twice.
    @Test func killedInBetween() throws {
        let process = try Process(topic, keeper)
        topic.add("a", to: 0)
        _ = try process.taken()
        try process.pass(3)
        topic.add("b", to: 0)
        _ = try process.taken()
        topic.change { $0.refusals = 100 }
        try process.pass(3)
        #expect(topic.position(0) == 1 && keeper[0]?.next == 2)
        topic.change { $0.refusals = 0 }
        topic.add("c", to: 0)
        let next = try Process(topic, keeper)
        #expect(try next.taken() == ["0:2 c"])
        #expect(next.session.takeNews().notices == [.connected("reading 2 partitions of t")])
        next.end()
        #expect(topic.position(0) == 3)
    }

    /// Another client tells positions: that is said, nothing is told against it, and after a restart nothing is passed
    /// over that this store does not have.
    @Test func aSecondInstance() throws {
        let process = try Process(topic, keeper)
        for value in ["a", "b", "c", "d"] { topic.add(value, to: 0) }
        #expect(try process.taken().count == 4)
        try process.pass(61)
        #expect(topic.position(0) == 4 && process.session.progress.isUp)
        topic.change { $0.positions[0] = 2 }
        try process.pass(130)
        #expect(process.says("another client tells positions of partition 0 under the group kymo: in 0 it has 2"))
        #expect(!process.session.progress.isUp && keeper[0]?.telling == .contested)
        topic.add("e", to: 0)
        #expect(try process.taken() == ["0:4 e"], "reading goes on")
        try process.pass(61)
        #expect(topic.position(0) == 2 && keeper[0]?.next == 5)
        // It is ahead of this store.
        for value in ["f", "g"] { topic.add(value, to: 0) }
        topic.change { $0.positions[0] = 7 }
        process.end()
        #expect(topic.position(0) == 7)
        let second = try Process(topic, keeper)
        #expect(second.says("it is read on from 5, where the store has it, and not from 7"))
        #expect(try second.taken() == ["0:5 f", "0:6 g"])
        #expect(!second.session.progress.isUp)
        try second.pass(600)
        topic.add("h", to: 0)
        #expect(try second.taken() == ["0:7 h"])
        try second.pass(140)
        #expect(second.says("nobody else tells positions of partition 0 any more") && second.session.progress.isUp)
        #expect(topic.position(0) == 8 && keeper[0]?.telling == .own)
    }

    /// A partition that is given to another instance is not this one's any more: what the group has then holds.
    @Test func aPartitionMoves() throws {
        try read("a", "b")
        var reading = KafkaReading()
        reading.partitions = try PartitionSet(parsing: "1")
        try Process(topic, keeper, reading).end()
        #expect(keeper[0]?.telling == .left)
        topic.add("c", to: 0)
        topic.add("d", to: 0)
        topic.change { $0.positions[0] = 3 }
        let process = try Process(topic, keeper)
        #expect(try process.taken() == ["0:3 d"] && process.session.takeNews().missed == 0)
        process.end()
        #expect(keeper[0]?.telling == .own && keeper[0]?.next == 4)
    }

    /// Offsets of another cluster say nothing.
    @Test func anotherCluster() throws {
        try read("a", "b")
        topic.change { state in
            state.cluster = "cluster-2"
            state.positions = [:]
        }
        let process = try Process(topic, keeper)
        #expect(try process.taken() == ["0:0 a", "0:1 b"] && process.says("on another cluster"))
    }

    /// Records that differ in anything are told apart.
    @Test func prints() {
        let records = [
            TopicRecord(value: Array("ab".utf8), key: Array("c".utf8), milliseconds: 1),
            TopicRecord(value: Array("b".utf8), key: Array("ca".utf8), milliseconds: 1),
            TopicRecord(value: Array("ab".utf8), key: Array("c".utf8), milliseconds: 2),
            TopicRecord(value: Array("ab".utf8), key: Array("c".utf8)), TopicRecord(value: Array("ab".utf8)),
            TopicRecord(value: [], key: Array("c".utf8)), TopicRecord(value: nil, key: Array("c".utf8)),
            TopicRecord(value: nil, key: []), TopicRecord(value: nil),
        ]
        #expect(Set(records.map(RecordPrint.init)).count == records.count)
        #expect(RecordPrint(records[0]) == RecordPrint(stored: RecordPrint(records[0]).bytes))
        #expect(RecordPrint(stored: [1]) == nil)
    }
}
