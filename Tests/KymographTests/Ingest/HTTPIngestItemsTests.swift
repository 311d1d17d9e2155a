@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What a reply says of each line or document.
@Suite struct HTTPIngestItemsTests {
    /// Knows what became of the readings of some counts.
    private struct TellingConsumer: PayloadConsumer {
        var known: [Int: ReadingOutcomes]

        mutating func line(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}
        mutating func batchEnd() {}
        mutating func takeOutcomes(of count: ReadingCount) -> ReadingOutcomes? {
            count.number == 0 ? ReadingOutcomes() : known.removeValue(forKey: count.number)
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

    /// One after the other, with the sums of all before them; one of which nothing is known leaves all untold, and
    /// nothing of the others behind.
    @Test func saysWhatBecameOfEach() {
        var items = HTTPIngestItems()
        items.add([.invalidJSON], ReadingCount(taken: 0, number: 0))
        items.add([], ReadingCount(taken: 0, number: 0))
        items.add([], ReadingCount(taken: 1, number: 1))
        items.add([.missingValue], ReadingCount(taken: 12, number: 2))
        items.add([], ReadingCount(taken: 2, number: 3))
        let known = [
            1: outcomes(conflict: 1), 3: outcomes(retractions: 1, rejected: [.retracted]),
            2: outcomes(duplicate: 2, rejected: [.tooManyReadings, .missingValue, .tooManyReadings]),
        ]
        var consumer = TellingConsumer(known: known)
        let told = """
            ,"accepted":7,"duplicate":2,"conflict":1,"retractions":1,"rejectedLater":4,"items":[\
            {"rejected":["invalidJSON"]},{},{"replaced":1},\
            {"new":7,"known":2,"rejected":["missingValue","tooManyReadings"]},\
            {"retractions":1,"rejected":["retracted"]}]}
            """
        let (first, second) = (items.text(from: &consumer), items.text(from: &consumer))
        #expect(first == told && second == nil && consumer.known.isEmpty, "\(first ?? "nothing")")
        consumer.known = known
        consumer.known[2] = nil
        let third = items.text(from: &consumer)
        #expect(third == nil && consumer.known.isEmpty)
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
            items.add(Array(early), ReadingCount(taken: taken, number: taken > 0 ? number + 1 : 0))
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
            consumer.known[number + 1] = fate
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
