import KymographCore
import Testing
import TrialSupport

@Suite struct RingTests {
    /// Takes the next record as its number and payload; nil when there is none.
    private func take(_ consumer: inout RingConsumer) -> (UInt64, [UInt8])? {
        guard let record = consumer.next() else { return nil }
        return (UInt64(bitPattern: record.instant.nanoseconds), consumer.payload(of: record).array)
    }

    @Test func nothingIsSeenBeforeItIsPublished() {
        let ring = Ring(capacity: 512)
        var producer = RingProducer(ring)
        var consumer = RingConsumer(ring)
        #expect(put(1, length: 0, &producer))
        #expect(take(&consumer) == nil && ring.isEmpty)
        let published = [producer.publish(), producer.publish()]
        #expect(published == [true, false])
        #expect(take(&consumer)?.0 == 1)
        #expect(take(&consumer) == nil && !ring.isEmpty)
        consumer.release()
        #expect(ring.isEmpty && ring.usedSlots == 0)
    }

    @Test func aFullRingRefusesAndTakesUpAgain() {
        let ring = Ring(capacity: 512)
        var producer = RingProducer(ring)
        var consumer = RingConsumer(ring)
        for number in 0..<512 as Range<UInt64> { #expect(put(number, length: 0, &producer)) }
        #expect(!put(512, length: 0, &producer))
        producer.publish()
        #expect(ring.usedSlots == 512)
        #expect(take(&consumer)?.0 == 0)
        // Taken is not yet given back.
        #expect(!put(512, length: 0, &producer))
        consumer.release()
        #expect(put(512, length: 0, &producer))
        #expect(!put(513, length: 0, &producer))
        #expect(!put(513, length: 1, &producer))
    }

    @Test func longRecordsDoNotWrap() {
        let ring = Ring(capacity: 512)
        var producer = RingProducer(ring)
        var consumer = RingConsumer(ring)
        // The end of the ring has 12 slots, and the record needs 256: 12 are padding.
        for number in 0..<500 as Range<UInt64> { #expect(put(number, length: 0, &producer)) }
        producer.publish()
        for number in 0..<500 as Range<UInt64> { #expect(take(&consumer)?.0 == number) }
        #expect(!put(500, length: 255 * 64, &producer))
        consumer.release()
        #expect(put(500, length: 255 * 64, &producer))
        producer.publish()
        #expect(ring.usedSlots == 12 + 256)
        let taken = take(&consumer)
        #expect(taken?.0 == 500 && taken?.1 == RecordPlan.payload(500, length: 255 * 64))
        consumer.release()
        #expect(ring.isEmpty)
    }

    /// A whole electrocardiogram.
    @Test(arguments: [0, 1, 4_095, 4_096, 8_191]) func longPayloadsComeBack(_ start: Int) {
        let ring = Ring()
        var producer = RingProducer(ring)
        var consumer = RingConsumer(ring)
        for number in 0..<UInt64(start) { #expect(put(number, length: 0, &producer)) }
        producer.publish()
        while consumer.next() != nil {}
        consumer.release()
        for length in [65_535, 65_536, 4_095 * 64] {
            #expect(put(7, length: length, &producer))
            producer.publish()
            #expect(take(&consumer)?.1 == RecordPlan.payload(7, length: length))
            consumer.release()
        }
    }

    @Test(arguments: 0..<512) func theLongestRecordFitsAnywhereInAnEmptyRing(_ start: Int) {
        let ring = Ring(capacity: 512)
        var producer = RingProducer(ring)
        var consumer = RingConsumer(ring)
        for number in 0..<UInt64(start) { #expect(put(number, length: 0, &producer)) }
        producer.publish()
        while consumer.next() != nil {}
        consumer.release()
        #expect(put(7, length: 255 * 64, &producer))
        producer.publish()
        #expect(take(&consumer)?.1 == RecordPlan.payload(7, length: 255 * 64))
    }

    @Test func publishesByItselfWhileABatchIsWritten() {
        let ring = Ring(capacity: 1_024)
        var producer = RingProducer(ring)
        for number in 0..<200 as Range<UInt64> { #expect(put(number, length: 0, &producer)) }
        #expect(ring.usedSlots > 0)
    }

    @Test(arguments: Trials.seeds(8)) func behavesLikeAQueue(_ seed: UInt64) {
        var random = WindowRandom(seed: seed)
        let ring = Ring(capacity: 512)
        var producer = RingProducer(ring)
        var consumer = RingConsumer(ring)
        let longest = [0, 64, 640, 255 * 64][Int(seed) % 4]
        var queue: [(UInt64, Int)] = []
        var number: UInt64 = 0
        var refusals = 0
        let steps = Trials.count(tenthOf: 20_000)
        for _ in 0..<steps {
            switch random.int(0...9) {
            case 0...4:
                let length = random.int(0...longest)
                if put(number, length: length, &producer) {
                    queue.append((number, length))
                    number += 1
                } else {
                    refusals += 1
                }
            case 5: producer.publish()
            case 6: consumer.release()
            default:
                guard let (taken, payload) = take(&consumer) else { continue }
                let expected = queue.removeFirst()
                #expect(taken == expected.0, "seed \(seed)")
                #expect(payload == RecordPlan.payload(expected.0, length: expected.1), "seed \(seed)")
            }
        }
        producer.publish()
        while let (taken, _) = take(&consumer) { #expect(taken == queue.removeFirst().0, "seed \(seed)") }
        consumer.release()
        #expect(queue.isEmpty && ring.isEmpty && number > steps / 20, "seed \(seed), \(refusals) refusals")
    }
}
