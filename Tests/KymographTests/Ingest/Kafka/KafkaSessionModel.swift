@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// A topic, its group, a store, a lane, and what all know, beside sessions. Each record has a value of its own.
struct KafkaSessionModel {
    private let seed: UInt64
    private var random: SeededGenerator
    private let topic = MemoryTopic(partitions: 3)
    private let keeper = MemoryPositions()
    private var frames = FrameQueue(longest: 100)
    private var session: KafkaSession
    private var now = ContinuousClock.now
    /// How many values there were.
    private var count = 0
    /// What the lane has of the socket, the records that it has taken from there, and how many of these are durable.
    private var socket: [UInt8] = []
    private var handed: [(position: RecordPosition, value: String)] = []
    private var durableCount = 0
    private var durable: Set<String> = []
    private var gone: Set<String> = []
    /// Those of them that went before anybody had a position in their partition.
    private var unplaced: Set<String> = []
    /// Those that an operator has passed over, or of which nobody can know.
    private var passed: Set<String> = []
    private var seen: Set<String> = []
    private var missed: UInt64 = 0

    init(seed: UInt64) throws {
        (self.seed, random) = (seed, SeededGenerator(seed: seed))
        session = KafkaSession(KafkaReading(), topic: "t", into: frames, by: MemoryConsumer(topic), at: now)
        try begin()
    }

    private mutating func pick(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    mutating func step() throws {
        switch pick(15) {
        case 0, 1: for _ in 0...pick(5) { topic.add(nextValue(), to: Int32(pick(3))) }
        case 2, 3: try fill()
        case 4, 5: carry(pick(200))
        case 6, 7: acknowledge(pick(handed.count - durableCount + 1))
        case 8, 9:
            now += .milliseconds(Int64(pick(3_000)))
            if pick(4) == 0 { topic.change { $0.refusals = 1 } }
            try session.tend(now)
            hear()
        case 10: keeper.commit()
        case 11: if pick(3) == 0 { trim() }
        case 12: if pick(3) == 0 { try begin(from: session.places) }
        case 13: if pick(3) == 0 { try restart() }
        default: try interfere()
        }
        check()
    }

    private mutating func nextValue() -> String {
        count += 1
        return "value \(count)"
    }

    private mutating func fill() throws {
        try session.fill()
        hear()
    }

    /// A session tells what it knows before another one is there.
    private mutating func hear() { missed += session.takeNews().missed }

    /// The lane reads at most `count` bytes.
    private mutating func carry(_ count: Int) {
        var left = count
        frames.send { view in
            let size = min(left, view.count)
            socket += view[0..<size].array
            left -= size
            return size
        }
        let bytes = PaddedBytes(copying: socket)
        var place = 0
        while let frame = RecordFrame(bytes.view, from: place) {
            let value = bytes.view[frame.content].string
            handed.append((frame.position, value))
            seen.insert(value)
            place = frame.end
        }
        socket.removeFirst(place)
    }

    private mutating func acknowledge(_ count: Int) {
        for (position, value) in handed[durableCount..<durableCount + count] {
            durable.insert(value)
            session.finish(RecordPosition(partition: position.partition, offset: position.offset + 1))
        }
        durableCount += count
    }

    /// Values of `partition` whose offsets are in `range`.
    private func values(_ partition: Int32, _ range: Range<Int64>) -> [String] {
        let log = topic.change { $0.partitions[Int(partition)] }
        return log.range.clamped(to: range).map { offset in
            String(decoding: log.values[Int(offset - log.first)] ?? [], as: UTF8.self)
        }
    }

    private func end(_ partition: Int32) -> Int64 { topic.change { $0.partitions[Int(partition)].range.upperBound } }

    /// What is not read yet may go, as by the time that a topic keeps records.
    private mutating func trim() {
        let (partition, count) = (Int32(pick(3)), pick(6))
        let first = topic.change { $0.partitions[Int(partition)].first }
        let dropped = values(partition, first..<first + Int64(count))
        topic.trim(count, of: partition)
        gone.formUnion(dropped)
        // Whoever is new there begins behind it.
        if topic.position(partition) == nil, keeper[partition] == nil { unplaced.formUnion(dropped) }
    }

    /// Another session, of the same process or of another one.
    private mutating func begin(from places: KafkaPlaces = KafkaPlaces()) throws {
        session = KafkaSession(
            KafkaReading(), topic: "t", into: frames, by: MemoryConsumer(topic), from: places, keeping: keeper, at: now)
        try session.begin(at: now)
        hear()
    }

    /// The process is killed.
    private mutating func crash() {
        keeper.crash()
        (frames, socket, handed, durableCount) = (FrameQueue(longest: 100), [], [], 0)
    }

    private mutating func restart() throws {
        crash()
        try begin()
    }

    // MARK: What others do while kymo is away

    private mutating func interfere() throws {
        guard pick(3) == 0 else { return }
        crash()
        switch pick(3) {
        case 0: topic.change { $0.positions = [:] }
        case 1: move(Int32(pick(3)))
        default: return try remake(Int32(pick(3)))
        }
        try begin()
    }

    /// An operator sets a position.
    private mutating func move(_ partition: Int32) {
        let position = Int64(pick(Int(end(partition)) + 1))
        if position > topic.position(partition) ?? 0 { passed.formUnion(gone.union(values(partition, 0..<position))) }
        topic.change { $0.positions[partition] = position }
    }

    /// A topic is removed, made again, and grows beyond where it was read: nothing of it may be taken for what was to
    /// come. An operator has all of it read then.
    private mutating func remake(_ partition: Int32) throws {
        let (row, group) = (keeper[partition], topic.position(partition))
        // Nobody can tell of what another topic had dropped.
        passed.formUnion(gone)
        let last = max(row?.next ?? 0, group ?? 0)
        let new = (0..<last + Int64(pick(5))).map { _ in nextValue() }
        topic.change { $0.partitions[Int(partition)] = MemoryTopic.Log(values: new.map { Array($0.utf8) }) }
        try begin()
        try fill()
        carry(.max)
        let isOwn = row.map { row in group.map { row.told...row.next ~= $0 } ?? true } ?? false
        let isWhole = group.map { $0 <= 0 && $0 < row?.next ?? 0 } ?? false
        guard isOwn, row?.print != nil, !isWhole else {
            // By positions alone, nobody can know.
            passed.formUnion(values(partition, 0..<max(group ?? 0, row?.next ?? 0)))
            return try noteStart()
        }
        #expect(seen.isDisjoint(with: new), "seed \(seed): \(row ?? TopicPosition(next: 0, told: 0)), \(group ?? -1)")
        #expect(session.places.readers[partition]?.isHalted == true, "seed \(seed)")
        crash()
        topic.change { $0.positions[partition] = 0 }
        try begin()
        try noteStart()
    }

    /// The store hears where reading has begun: until then, what it has is of the topic from before.
    private mutating func noteStart() throws {
        now += .seconds(2)
        try session.tend(now)
        hear()
        keeper.commit()
    }

    private func check() {
        for partition in Int32(0)..<3 {
            let position = topic.position(partition) ?? 0
            for value in values(partition, 0..<position) where !passed.contains(value) {
                #expect(durable.contains(value), "seed \(seed): \(value) of \(partition) was passed over")
            }
            guard let row = keeper[partition] else { continue }
            for value in values(partition, 0..<row.next) where !passed.contains(value) {
                #expect(durable.contains(value), "seed \(seed): the store is ahead of \(value) of \(partition)")
            }
        }
    }

    mutating func finish() throws {
        topic.change { $0.refusals = 0 }
        for _ in 0..<8 {
            now += .seconds(20)
            keeper.commit()
            try session.tend(now)
            try fill()
            carry(.max)
            acknowledge(handed.count - durableCount)
        }
        for _ in 0..<3 {
            now += .seconds(2)
            try session.tend(now)
            keeper.commit()
        }
        check()
        for partition in Int32(0)..<3 {
            #expect(topic.position(partition) ?? 0 == end(partition), "seed \(seed)")
            #expect(keeper[partition]?.next ?? 0 == end(partition), "seed \(seed)")
            for value in values(partition, 0..<end(partition)) where !passed.contains(value) {
                #expect(durable.contains(value), "seed \(seed): \(value) is not there")
            }
        }
        let unread = gone.subtracting(seen).subtracting(unplaced).subtracting(passed)
        #expect(missed >= unread.count, "seed \(seed): \(unread.count) were never read, and \(missed) told of")
        #expect(!gone.isEmpty || !passed.isEmpty || missed == 0, "seed \(seed)")
    }
}
