@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What a reply says of each line or document.
@Suite struct HTTPIngestItemsTests {
    /// Knows what became of the readings of a body, until it is asked.
    private struct TellingConsumer: PayloadConsumer {
        var known: [Int: ReadingOutcomes]?
        private(set) var asked: [Int] = []

        init(known: [Int: ReadingOutcomes]) { self.known = known }

        mutating func line(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}
        mutating func batchEnd() {}
        mutating func takeItems(of count: ReadingCount) -> [Int: ReadingOutcomes]? {
            defer { known = nil }
            asked.append(count.number)
            return known
        }
    }

    private func outcomes(
        duplicate: Int = 0, conflict: Int = 0, retractions: Int = 0, rejected: [Rejection] = []
    ) -> ReadingOutcomes {
        var outcomes = ReadingOutcomes()
        (outcomes.duplicate, outcomes.conflict, outcomes.retractions) = (duplicate, conflict, retractions)
        for reason in rejected { outcomes.reject(reason) }
        return outcomes
    }

    /// One after the other, with the sums of all before them; of an item without counts all were accepted. One body is
    /// asked for once, and where nothing is known of it, nothing is told.
    @Test func saysWhatBecameOfEach() {
        var items = HTTPIngestItems()
        items.add([.invalidJSON], ReadingCount(taken: 0, number: 0))
        items.add([], ReadingCount(taken: 0, number: 0))
        items.add([], ReadingCount(taken: 1, number: -1))
        items.add([.missingValue], ReadingCount(taken: 12, number: -2))
        items.add([], ReadingCount(taken: 2, number: -3))
        items.add([], ReadingCount(taken: 5, number: -4))
        let known = [
            -1: outcomes(conflict: 1), -3: outcomes(retractions: 1, rejected: [.retracted]),
            -2: outcomes(duplicate: 2, rejected: [.tooManyReadings, .missingValue, .tooManyReadings]),
        ]
        var consumer = TellingConsumer(known: known)
        let told = """
            ,"accepted":12,"duplicate":2,"conflict":1,"retractions":1,"rejectedLater":4,"items":[\
            {"rejected":["invalidJSON"]},{},{"replaced":1},\
            {"new":7,"known":2,"rejected":["missingValue","tooManyReadings"]},\
            {"retractions":1,"rejected":["retracted"]},{"new":5}]}
            """
        let (first, second) = (items.text(from: &consumer), items.text(from: &consumer))
        #expect(first == told && second == nil && consumer.asked == [-1, -1], "\(first ?? "nothing")")
    }

    /// A lane of which a ring is full as the counts called `missing` begin.
    private struct FullConsumer: PayloadConsumer {
        var missing: Set<Int>
        private(set) var (lines, counts) = (0, 0)

        init(missing: Set<Int>) { self.missing = missing }

        mutating func line(_ bytes: ByteView, source: Int, received: Instant) { lines += 1 }
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}
        mutating func batchEnd() {}
        mutating func endItem() -> ReadingCount? {
            counts += 1
            return missing.contains(counts) ? nil : ReadingCount(taken: 1, number: -counts)
        }
        mutating func takeItems(of count: ReadingCount) -> [Int: ReadingOutcomes]? { [:] }
    }

    /// Where a ring was full as one of the counts began, all lines are taken, and nothing is told of any; the next body
    /// is told again.
    @Test func aRingThatIsFull() throws {
        for missing in 1...3 {
            var consumer = FullConsumer(missing: [missing])
            let progress = StreamProgress(
                number: 0, lineCap: 1_024, acknowledging: .byProtocol, isFresh: true, hasOpenEnds: false)
            var intake = StreamIntake(progress)
            let body = PaddedBytes(copying: Array("{\"a\":1}\n{\"a\":2}\r\n\n{\"a\":3}".utf8))
            var report = HTTPIngestReport(.items)
            try report.handOn(body.view, .lines, &intake, to: &consumer)
            #expect(consumer.lines == 3 && report.items == nil && !report.tellsSum)
            #expect(report.text(hasRoom: false) == "{\"received\":3,\"rejectedCount\":0,\"rejected\":[]}\n")
            report = HTTPIngestReport(.items)
            try report.handOn(body.view, .lines, &intake, to: &consumer)
            let text = report.items?.text(from: &consumer)
            #expect(consumer.lines == 6 && text?.hasSuffix(#""items":[{"new":1},{"new":1},{"new":1}]}"#) == true)
        }
    }

    /// Takes items from the store's queue, as lane 1.
    private struct QueueConsumer: PayloadConsumer {
        let queue: StoreQueue

        mutating func line(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}
        mutating func batchEnd() {}
        mutating func takeItems(of count: ReadingCount) -> [Int: ReadingOutcomes]? {
            ItemNumber(count: count.number).flatMap { queue.takeItems(ofBody: $0.body, lane: 1) }
        }
    }

    /// A body of which the store has forgotten a part tells nothing, though what came later of it is there; one whose
    /// parts come in several commits, and between those of others, tells all.
    @Test func partlyForgotten() throws {
        var consumer = QueueConsumer(queue: try StoreQueue())
        func number(_ body: Int, _ item: Int) -> Int { -(body << 10 | item) }
        func commit(_ shard: Int, _ body: Int, _ items: ClosedRange<Int>) {
            var unit = ShardUnit(shard: shard)
            unit.counts = items.map {
                CountedReadings(lane: 1, number: number(body, $0), outcomes: outcomes(duplicate: 1))
            }
            consumer.queue.commit(.made(unit), through: 0)
        }
        func items(_ body: Int) -> HTTPIngestItems {
            var items = HTTPIngestItems()
            for item in 1...2 { items.add([], ReadingCount(taken: 3, number: number(body, item))) }
            return items
        }
        commit(0, 1, 1...2)
        commit(0, 200, 1...2)
        for body in 2...132 { commit(0, body, 1...1_000) }
        commit(1, 1, 2...2)
        commit(1, 200, 2...2)
        let (forgotten, kept) = (items(1).text(from: &consumer), items(200).text(from: &consumer))
        #expect(forgotten == nil)
        #expect(kept?.hasSuffix(#""items":[{"new":2,"known":1},{"new":1,"known":2}]}"#) == true, "\(kept ?? "")")
    }

    /// A body without any reading asks for nothing: whatever was forgotten, all of it is known.
    @Test func aBodyWithoutReadings() {
        var items = HTTPIngestItems()
        items.add([.invalidJSON], ReadingCount(taken: 0, number: 0))
        var consumer = TellingConsumer(known: [:])
        consumer.known = nil
        let text = items.text(from: &consumer)
        #expect(text?.hasSuffix(#""items":[{"rejected":["invalidJSON"]}]}"#) == true && consumer.asked.isEmpty)
    }

    /// A reply has room for whatever becomes of the readings, and no more than is said of its length.
    @Test(arguments: Trials.seeds(200)) func hasRoomForAll(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (items, consumer) = (HTTPIngestItems(), TellingConsumer(known: [:]))
        let longest = Rejection.allCases.sorted { $0.name.utf8.count > $1.name.utf8.count }
        let count = Int.random(in: 0...30, using: &random)
        for number in 0..<count {
            let most = [0, 1, 2, 5, 100_000][Int.random(in: 0..<5, using: &random)]
            let taken = Int.random(in: 0...most, using: &random)
            let early = longest.prefix(Int.random(in: 0...6, using: &random))
            items.add(Array(early), ReadingCount(taken: taken, number: taken > 0 ? -number - 1 : 0))
            guard taken > 0 else { continue }
            var fate = ReadingOutcomes()
            for _ in 0..<min(taken, 12) {
                switch Int.random(in: 0..<5, using: &random) {
                case 0: fate.duplicate += 1
                case 1: fate.conflict += 1
                case 2: fate.reject(longest[Int.random(in: 0..<12, using: &random)])
                case 3:
                    fate.retractions += 1
                    fate.note(longest[Int.random(in: 0..<12, using: &random)])
                default: break
                }
            }
            consumer.known?[-number - 1] = fate
        }
        let room = items.roomBytes
        #expect(items.room.utf8.count == room && room <= 300 + 200 * count)
        let told = items.text(from: &consumer)
        let text = try #require(told)
        #expect(text.utf8.count <= room, "\(text)")
        let tree = try JSONTree(parsing: Array("{\"received\":0\(text)".utf8))
        #expect(tree["items"]?.elements?.count == count, "\(text)")
    }
}
