import KymographCore
import Testing
import TrialSupport

/// All orders in which the steps of the two sides of a ring can come, as a model checker has them.
///
/// Each call looks at the other side's position, or changes its own, at most once, and the slots are read and written
/// between such steps by one side alone. So all orders of calls are all that two threads can do, and what the processor
/// may move besides is the matter of `RingStressTests` with ThreadSanitizer.
@Suite struct RingInterleavingTests {
    /// What the writer does, call by call. A record that was refused is written by the next call for one.
    enum Writing: Equatable {
        case write(length: Int)
        case publish
    }

    /// What the reader does.
    enum Reading: Equatable {
        case take
        case release
    }

    /// Programs of both sides, and the number of slots that were used before: the end of the ring is met at each place
    /// of a record, and a ring is full at each.
    struct Case: CustomStringConvertible {
        var before: Int
        /// Of these, what the reader has not given back.
        var unreleased: Int
        var writing: [Writing]
        var reading: [Reading]

        var description: String { "from \(before), \(unreleased) unreleased: \(writing), \(reading)" }
    }

    private static let capacity = 512

    private static func cases(seed: UInt64) -> [Case] {
        var random = WindowRandom(seed: seed)
        return (0..<Trials.count(tenthOf: 60)).map { number in
            // Half of them near the end, and half of them nearly full.
            let before = number % 2 == 0 ? capacity - random.int(0...6) : random.int(capacity...2 * capacity)
            let unreleased = min(before, number / 2 % 2 == 0 ? capacity - random.int(0...4) : random.int(0...8))
            let writing = (0..<7).map { place -> Writing in
                if place == 6 || random.int(0...3) == 0 { return .publish }
                // One slot, two, and some.
                return .write(length: [0, 0, 1, 64, 65, 200][random.int(0...5)])
            }
            let reading = (0..<6).map { _ in random.int(0...2) == 0 ? Reading.release : .take }
            return Case(before: before, unreleased: unreleased, writing: writing, reading: reading)
        }
    }

    @Test(arguments: Trials.seeds(2)) func nothingIsLostDoubledOrOvertaken(seed: UInt64) {
        var orders = 0
        for each in Self.cases(seed: seed) {
            Self.forEachOrder(of: each.writing.count, and: each.reading.count) { order in
                orders += 1
                let fault = Trial(each).run(order)
                if let fault { Issue.record("seed \(seed), \(each), order \(order): \(fault)") }
                return fault == nil
            }
        }
        // 13 over 6 each.
        #expect(orders == 1_716 * Trials.count(tenthOf: 60))
    }

    /// Calls `body` with each order of `first` steps of the one and `second` of the other (true); ends when it says so.
    private static func forEachOrder(of first: Int, and second: Int, _ body: ([Bool]) -> Bool) {
        for bits in 0..<(1 << (first + second)) where bits.nonzeroBitCount == second {
            guard body((0..<first + second).map { bits >> $0 & 1 == 1 }) else { return }
        }
    }

    /// One ring, its two sides, and a queue that says what must come out.
    private struct Trial: ~Copyable {
        private let ring = Ring(capacity: RingInterleavingTests.capacity)
        private let plan: Case
        private var producer: RingProducer
        private var consumer: RingConsumer
        /// Lengths of what was written, by number.
        private var lengths: [Int] = []
        private var published = 0
        private var taken = 0
        /// Slots that the reader has taken and not given back, and what was in them.
        private var held: [(payload: ByteView, number: Int)] = []

        init(_ plan: Case) {
            self.plan = plan
            producer = RingProducer(ring)
            consumer = RingConsumer(ring)
        }

        /// What is wrong; nil when nothing is. At the end both sides go on until all is through.
        consuming func run(_ order: [Bool]) -> String? {
            prepare()
            var (writing, reading) = (plan.writing[...], plan.reading[...])
            for isReader in order {
                if isReader {
                    if let fault = read(reading.removeFirst()) { return fault }
                } else {
                    _ = write(writing.removeFirst())
                }
            }
            for step in plan.writing {
                var isDone = write(step)
                while !isDone {
                    producer.publish()
                    while taken < lengths.count { if let fault = read(.take) { return fault } }
                    if let fault = read(.release) { return fault }
                    isDone = write(step)
                }
            }
            producer.publish()
            published = lengths.count
            while taken < lengths.count { if let fault = read(.take) { return fault } }
            if let fault = read(.release) { return fault }
            guard consumer.next() == nil, ring.isEmpty, ring.usedSlots == 0 else { return "more than was written" }
            return nil
        }

        /// Has the first slots go through, without arrays, since it comes with each order.
        private mutating func prepare() {
            for slot in 0..<plan.before {
                if slot <= plan.before - plan.unreleased { consumer.release() }
                _ = producer.write(RecordPlan.record(UInt64(slot), length: 0), payload: ByteView(""))
                producer.publish()
                _ = consumer.next()
            }
            if plan.unreleased == 0 { consumer.release() }
            lengths = Array(repeating: 0, count: plan.before)
            (published, taken) = (plan.before, plan.before)
        }

        /// Whether it was done: a record has no room in a ring that is full.
        private mutating func write(_ step: Writing) -> Bool {
            switch step {
            case .publish:
                producer.publish()
                published = lengths.count
                return true
            case .write(let length):
                guard put(UInt64(lengths.count), length: length, &producer) else { return false }
                lengths.append(length)
                return true
            }
        }

        private mutating func read(_ step: Reading) -> String? {
            switch step {
            case .release:
                for (payload, number) in held
                where payload.array != RecordPlan.payload(UInt64(number), length: lengths[number]) {
                    return "\(number) was overwritten before it was released"
                }
                held = []
                consumer.release()
                return nil
            case .take:
                guard let record = consumer.next() else {
                    return taken == published ? nil : "\(taken) was published and is not there"
                }
                // Records are published by themselves, too, while much is written.
                guard taken < lengths.count, record.instant.nanoseconds == Int64(taken) else {
                    return "\(record.instant.nanoseconds) in the place of \(taken)"
                }
                let payload = consumer.payload(of: record)
                guard payload.array == RecordPlan.payload(UInt64(taken), length: lengths[taken]) else {
                    return "\(taken) has another payload"
                }
                if payload.count > 0 { held.append((payload, taken)) }
                taken += 1
                return nil
            }
        }
    }
}
