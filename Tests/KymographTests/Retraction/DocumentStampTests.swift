@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing

/// Receive times of what a lane brings of one moment: readings, retractions, and dead letters of the same payloads.
@Suite struct DocumentStampTests {
    /// The clock is asked by others whenever something is told, a moment later by the wall clock.
    private final class Record: LaneEvents {
        let clock = ReceiveClock(now: DocumentStampTests.start, steady: DocumentStampTests.start)
        /// Of each rejection, the receive time of its letter.
        var letters: [Instant] = []

        func rejected(
            _ reason: Rejection, bytes: ByteView, source: Int, received: Instant, lead: Int64, detail: RejectionDetail
        ) {
            letters.append(received.advanced(by: lead))
            _ = clock.asked(at: DocumentStampTests.start.advanced(by: 5_000_000), steady: DocumentStampTests.start)
        }

        func lead(at received: Instant) -> Int64 { clock.lead(at: received, steady: DocumentStampTests.start) }
        func ownLead(at received: Instant) -> Int64 { clock.ownLead(at: received, steady: DocumentStampTests.start) }
        func received(_ count: Int, source: Int) {}
        func noted(_ notes: MappingNotes, source: Int) {}
        func routed(_ count: Int) {}
        func wake(shard: Int) {}
        func waitForRoom(shard: Int) -> Bool { preconditionFailure("the ring is larger than the test") }
    }

    /// What a lane has put into its ring.
    private struct Stamps {
        /// By value.
        var readings: [Int64: Instant] = [:]
        var retractions: [Instant] = []
    }

    private static let start = Instant(seconds: 1_900_000_000)

    private let record = Record()
    private let ring = Ring(capacity: 4_096)
    private let set: MappingSet

    init() throws { set = try #require(MappingLoader.load([RetractionMapping().named]).set) }

    private func lane() -> ReadingLane {
        ReadingLane(
            set: set, inputs: [LaneInput(templates: set.templates(of: set.mappings), context: SourceContext())],
            limits: ScanLimits(), router: ReadingRouter(rings: [ring], maxDevices: 100, maxSeries: 100),
            events: record)
    }

    private func take(_ text: String, _ lane: inout ReadingLane) {
        let storage = PaddedBytes(copying: Array(text.utf8))
        lane.datagram(storage.view, source: 0, received: Self.start)
    }

    private func stamps(_ lane: inout ReadingLane) -> Stamps {
        lane.batchEnd()
        var stamps = Stamps()
        var consumer = RingConsumer(ring)
        while let record = consumer.next() {
            if record.kind == RecordKind.retraction.rawValue { stamps.retractions.append(record.received) }
            guard record.kind == RecordKind.measurement.rawValue else { continue }
            stamps.readings[record.inline(0)?.mantissa ?? -1] = record.received
        }
        consumer.release()
        return stamps
    }

    private func reading(_ id: String, _ value: Int) -> String { #"{"d":"w","i":"\#(id)","t":1,"named":\#(value)}"# }

    private func gone(_ id: String) -> String { #"{"gone":"named","d":"w","i":"\#(id)"}"# }

    /// Catches: a letter of a payload that is later than what came behind that, since it asks for a time of its own.
    @Test func aLetterIsAsOldAsItsReadings() throws {
        var lane = lane()
        take(reading("a", 70), &lane)
        _ = record.clock.asked(at: Self.start.advanced(by: 5_000_000), steady: Self.start)
        take("[\(reading("a", 71)),{\"none\":1}]", &lane)
        take(reading("a", 72), &lane)
        let found = stamps(&lane)
        #expect(record.letters == [Self.start] && found.readings == [70: Self.start, 71: Self.start, 72: Self.start])
    }

    /// All of a document has one time, and that is no other's: what came before it, and what comes behind it, is so by
    /// its time.
    @Test(arguments: [false, true]) func aDocumentHasATimeOfItsOwn(isInParts: Bool) throws {
        var lane = lane()
        take(reading("a", 60), &lane)
        let parts = [gone("a"), reading("a", 61), gone("b"), #"{"none":1}"#, reading("b", 62)]
        if isInParts {
            lane.beginParts()
            for part in parts { take(part, &lane) }
            lane.endParts()
        } else {
            take("[\(parts.joined(separator: ","))]", &lane)
        }
        // By another lane meanwhile.
        let other = record.clock.asked(at: Self.start, steady: Self.start)
        take(reading("a", 63), &lane)
        take("[\(gone("a")),\(reading("a", 64))]", &lane)
        let found = stamps(&lane)
        let own = try #require(found.readings[61])
        #expect(found.retractions.count == 3 && found.retractions[..<2].allSatisfy { $0 == own })
        #expect(record.letters == [own] && found.readings[62] == own)
        let (before, behind) = (try #require(found.readings[60]), try #require(found.readings[63]))
        #expect(before < own && own < other && own < behind)
        #expect(found.readings[64] == found.retractions[2] && behind < found.retractions[2])
    }

    /// A part that takes back what an earlier one has renewed comes behind that.
    @Test func aReadingThatIsRenewedTwice() throws {
        var lane = lane()
        lane.beginParts()
        for part in [gone("a"), reading("a", 61), gone("a"), reading("a", 62)] { take(part, &lane) }
        lane.endParts()
        let found = stamps(&lane)
        let (first, second) = (try #require(found.readings[61]), try #require(found.readings[62]))
        #expect(found.retractions == [first, second] && first < second)
    }

    /// Letters of one moment that come again one after the other are each asked for.
    @Test func lettersOfOneMoment() throws {
        var lane = lane()
        lane.isReturned = true
        take(reading("a", 61), &lane)
        _ = record.clock.ownLead(at: Self.start, steady: Self.start)
        take(reading("a", 62), &lane)
        lane.isReturned = true
        take(reading("a", 63), &lane)
        lane.isReturned = false
        let found = stamps(&lane).readings
        #expect(found[61] == Self.start && found[62] == Self.start)
        #expect(found[63] == Self.start.advanced(by: 2))
    }
}
