@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// How often something was done.
private final class Rounds {
    var count = 0
}

/// Where a topic is read from, and what its group is told.
@Suite struct KafkaSessionTests {
    private let topic = MemoryTopic(partitions: 3)
    private let frames = FrameQueue(longest: 100)

    private func begun(
        _ reading: KafkaReading = KafkaReading(), from places: KafkaPlaces = KafkaPlaces()
    ) throws -> KafkaSession {
        let session = KafkaSession(
            reading, topic: "t", into: frames, by: MemoryConsumer(topic), from: places, at: start)
        try session.begin()
        return session
    }

    private let start = ContinuousClock.now
    private let rounds = Rounds()

    /// The records that wait, each as `partition:offset value`.
    private func taken() -> [String] {
        var bytes: [UInt8] = []
        frames.send { view in
            bytes += view.array
            return view.count
        }
        let view = PaddedBytes(copying: bytes)
        var (texts, place): ([String], Int) = ([], 0)
        while let frame = RecordFrame(view.view, from: place) {
            let value = frame.kind == .nothing ? "-" : view.view[frame.content].string
            texts.append("\(frame.position.partition):\(frame.position.offset) \(value)")
            place = frame.end
        }
        #expect(place == bytes.count)
        return texts
    }

    private func finish(_ session: KafkaSession, _ partition: Int32, _ offset: Int64) throws {
        session.finish(RecordPosition(partition: partition, offset: offset))
        try tell(session)
    }

    /// Has the group told what is durable.
    private func tell(_ session: KafkaSession) throws {
        rounds.count += 1
        try session.tend(start + .seconds(100 * rounds.count))
        try session.fill()
    }

    private var positions: [Int64?] { [topic.position(0), topic.position(1), topic.position(2)] }

    private func says(_ session: KafkaSession, _ text: String) -> Bool {
        session.takeNews().notices.contains { "\($0)".contains(text) }
    }

    @Test func everythingFromTheBeginning() throws {
        topic.add("a", to: 0)
        topic.add(nil, to: 2)
        topic.add(String(repeating: "x", count: 200), to: 2)
        let session = try begun()
        try session.fill()
        let long = String(repeating: "x", count: 101)
        #expect(taken() == ["0:0 a", "2:0 -", "2:1 \(long)"])
        #expect(session.takeNews().notices == [.connected("reading 3 partitions of t")])
        #expect(session.progress == KafkaProgress(behind: 0, halted: 0, isUp: true))
        topic.add("b", to: 1)
        #expect(session.progress.behind == 1)
        try tell(session)
        #expect(positions == [0, 0, 0], "where it began, and nothing that is not on disk")
        try finish(session, 2, 2)
        #expect(positions == [0, 0, 2])
    }

    /// What comes while kymo is away is not passed over the next time.
    @Test func latestHoldsFromTheFirstStart() throws {
        topic.add("a", to: 0)
        var reading = KafkaReading()
        reading.beginning = .latest
        let first = try begun(reading)
        try first.fill()
        #expect(taken().isEmpty)
        first.end()
        topic.add("b", to: 0)
        topic.change { $0.partitions.append(MemoryTopic.Log(values: [Array("c".utf8)])) }
        try begun(reading).fill()
        #expect(taken() == ["0:1 b", "3:0 c"])
    }

    /// Where it begins with the latest is lost if the group does not take it: nothing is read before.
    @Test func latestWaitsForTheGroup() throws {
        var reading = KafkaReading()
        reading.beginning = .latest
        topic.change { $0.refusals = 1 }
        let error = #expect(throws: KafkaFault.self) { try begun(reading) }
        #expect(error?.message.contains("takes no position") == true)
        topic.add("a", to: 0)
        _ = try begun(reading)
        #expect(positions == [1, 0, 0])
    }

    /// The broker of one partition has gone: that is told, though others give records.
    @Test func oneBrokerIsAway() throws {
        let session = try begun()
        topic.change { $0.leaderless = [2] }
        for second in 1...90 {
            topic.add("a", to: 0)
            try session.tend(start + .seconds(second))
            try session.fill()
        }
        #expect(says(session, "partition 2 is not read: leader not available") && !session.progress.isUp)
        topic.change { $0.leaderless = [] }
        for second in 91...120 {
            try session.tend(start + .seconds(second))
            try session.fill()
        }
        #expect(session.progress.isUp)
    }

    @Test func onlySomePartitions() throws {
        for number in 0..<3 { topic.add("\(number)", to: Int32(number)) }
        var reading = KafkaReading()
        reading.partitions = try PartitionSet(parsing: "2,0")
        try begun(reading).fill()
        #expect(taken() == ["0:0 0", "2:0 2"])
        reading.partitions = try PartitionSet(parsing: "1-3")
        let error = #expect(throws: KafkaFault.self) { try begun(reading) }
        #expect(error?.kind == .unfit && error?.message.contains("names 3") == true)
    }

    /// The topic keeps records for less time than kymo was away.
    @Test func recordsAreGone() throws {
        for number in 0..<3 { topic.add("\(number)", to: 1) }
        let first = try begun()
        try first.fill()
        for number in 3..<10 { topic.add("\(number)", to: 1) }
        try first.fill()
        try finish(first, 1, 5)
        #expect(topic.position(1) == 3, "the last record before that can be known again")
        _ = taken()
        topic.trim(5, of: 1)
        let second = try begun()
        let news = second.takeNews()
        let isTold = news.notices.contains { "\($0)".contains("partition 1: records from 3 up to 5") }
        #expect(news.missed == 2 && isTold)
        try second.fill()
        #expect(taken() == (5..<10).map { "1:\($0) \($0)" })
        try tell(second)
        #expect(topic.position(1) == 5, "they are told of once")
        // Also while it reads: those that are on their way are not passed over.
        topic.add("10", to: 1)
        topic.change { $0.partitions[1] = MemoryTopic.Log(first: 20, values: [Array("20".utf8)]) }
        try second.fill()
        try tell(second)
        #expect(taken() == ["1:20 20"] && second.takeNews().missed == 10)
        try tell(second)
        #expect(topic.position(1) == 5)
    }

    /// Brokers have lost records that they had acknowledged: nothing of that partition is taken for what was to come.
    @Test func recordsAreLost() throws {
        for number in 0..<10 { topic.add("\(number)", to: 1) }
        let first = try begun()
        try first.fill()
        try finish(first, 1, 10)
        _ = taken()
        topic.lose(4, of: 1)
        let second = try begun()
        #expect(says(second, "partition 1 is not read yet") && !second.progress.isUp)
        try second.tend(start + .seconds(10))
        #expect(second.progress.halted == 0, "a transaction may be open")
        try second.tend(start + .seconds(20))
        #expect(says(second, "partition 1 is read no more: it ends at 6"))
        #expect(second.progress == KafkaProgress(behind: 0, halted: 1, isUp: true))
        for number in 0..<8 { topic.add("new \(number)", to: 1) }
        topic.add("other", to: 0)
        try second.fill()
        second.end()
        #expect(taken() == ["0:0 other"] && topic.position(1) == 10)
        let third = try begun(from: second.places)
        try third.fill()
        #expect(taken() == ["0:0 other"] && third.progress.halted == 1)
    }

    /// What a broker gives is damaged: what comes behind it is not taken, nor is its place told.
    @Test func recordsAreDamaged() throws {
        let session = try begun()
        topic.change { $0.partitionFaults = [(1, KafkaFault(code: -199, saying: "bad CRC"))] }
        topic.add("a", to: 0)
        topic.add("b", to: 1)
        try session.fill()
        #expect(taken() == ["0:0 a"] && session.progress.halted == 1)
        #expect(says(session, "partition 1 is read no more: what it has at 0, or behind that, cannot be read: bad CRC"))
    }

    /// Brokers say that there is no such record, and that there is: once may be, twice not.
    @Test func recordsAreDoubtful() throws {
        let session = try begun()
        topic.add("a", to: 1)
        topic.change { $0.partitionFaults = [(1, KafkaFault(code: -140, saying: "no offset"))] }
        try session.fill()
        #expect(taken().isEmpty)
        try tell(session)
        #expect(taken() == ["1:0 a"] && session.progress.halted == 0)
        topic.add("b", to: 1)
        for _ in 0..<3 {
            // It comes before the record, each time.
            topic.change { $0.partitionFaults = [(1, KafkaFault(code: -140, saying: "no offset"))] }
            try tell(session)
        }
        #expect(taken().isEmpty && says(session, "its brokers have the record 1, and do not give it"))
    }

    /// A partition without a leader holds up no other.
    @Test func aPartitionIsAway() throws {
        for number in 0..<3 { topic.add("\(number)", to: Int32(number)) }
        topic.change { $0.leaderless = [1] }
        let session = try begun()
        #expect(says(session, "partition 1 is not read yet, and asked for again: leader not available"))
        try session.fill()
        #expect(taken() == ["0:0 0", "2:0 2"])
        topic.change { $0.leaderless = [] }
        for second in [6, 12] {
            try session.tend(start + .seconds(second))
            try session.fill()
        }
        #expect(taken() == ["1:0 1"])
    }

    /// Brokers forget the positions of a group that tells none for days.
    @Test func positionsAreToldAgain() throws {
        let session = try begun()
        try tell(session)
        topic.change { $0.positions = [:] }
        try session.tend(start + .seconds(3_599))
        #expect(topic.position(0) == nil)
        try session.tend(start + .seconds(3_601))
        #expect(positions == [0, 0, 0])
    }

    /// A position that nobody has answered is told by the next session.
    @Test func anAnswerIsLost() throws {
        topic.change { $0.losses = 1 }
        let first = try begun()
        try tell(first)
        #expect(topic.position(0) == nil)
        let second = try begun(from: first.places)
        try tell(second)
        #expect(topic.position(0) == 0)
    }

    /// Refusals of positions are told when they last, and once.
    @Test func positionsAreRefused() throws {
        let session = try begun()
        topic.change { $0.refusals = 1_000 }
        var told = 0
        for second in 1...60 {
            try session.tend(start + .seconds(second))
            try session.fill(at: start + .seconds(second))
            if says(session, "takes no positions") { told += 1 }
            if second < 30 { #expect(told == 0) }
        }
        #expect(told == 1 && !session.progress.isUp)
        topic.change { $0.refusals = 0 }
        try session.tend(start + .seconds(62))
        try session.fill(at: start + .seconds(62))
        #expect(says(session, "takes positions again") && session.progress.isUp)
    }

    /// However long a lane is behind, what waits for it has bounds.
    @Test func framesHaveBounds() {
        let frames = FrameQueue(longest: 1_000)
        for offset in 0..<50_000 {
            frames.append(
                RecordPosition(partition: 0, offset: Int64(offset)), .payload(Array(repeating: 0x78, count: 1_000)))
            var isFirst = true
            frames.send { view in
                defer { isFirst = false }
                return isFirst ? view.count - 1 : 0
            }
        }
        #expect(frames.capacity < 4 << 20 && !frames.isEmpty)
    }

    @Test func theTopicGrows() throws {
        let session = try begun()
        topic.change { $0.partitions.append(MemoryTopic.Log(values: [Array("a".utf8)])) }
        try session.tend(start + .seconds(59))
        try session.fill()
        #expect(taken().isEmpty)
        for second in 61...63 { try session.tend(start + .seconds(second)) }
        try session.fill()
        #expect(taken() == ["3:0 a"])
    }

    @Test func brokersGoAndComeBack() throws {
        topic.change { $0.silences = 1 }
        let error = #expect(throws: KafkaFault.self) { try begun() }
        #expect(error?.message == "no broker answers")
        let session = try begun()
        _ = session.takeNews()
        topic.change {
            $0.faults = [KafkaFault(code: -195, saying: "one is down"), KafkaFault(code: -187, saying: "all")]
        }
        try session.fill()
        #expect(session.takeNews().notices == [.disconnected("all (Kafka error -187)")])
        topic.change { $0.faults = [KafkaFault(code: -187, saying: "all")] }
        try session.fill()
        #expect(session.takeNews().notices.isEmpty, "it is known")
        topic.add("a", to: 0)
        try session.fill()
        #expect(session.takeNews().notices == [.connected("reading again")])
    }

    /// A topic in which nothing is written is up again when its brokers answer, and not with the next record.
    @Test func aQuietTopicComesBack() throws {
        let session = try begun()
        topic.change { $0.faults = [KafkaFault(code: -187, saying: "all")] }
        try session.fill()
        #expect(!session.progress.isUp)
        for second in 1...40 {
            try session.tend(start + .seconds(second))
            try session.fill()
        }
        #expect(session.progress.isUp && says(session, "reading again"))
        // An answer about a partition is not one that gives its records.
        topic.change { $0.faults = [KafkaFault(code: 29, saying: "not authorized")] }
        try session.fill(at: start + .seconds(41))
        for second in 42...70 {
            try session.tend(start + .seconds(second))
            try session.fill()
        }
        #expect(!session.progress.isUp)
    }

    /// Whatever happens, the group is never told more than what is durable, all is read, and what could not be read is
    /// counted.
    @Test(arguments: Trials.seeds(tenthOf: 300)) func anySequence(seed: UInt64) throws {
        var model = try KafkaSessionModel(seed: seed)
        for _ in 0..<150 { try model.step() }
        try model.finish()
    }
}
