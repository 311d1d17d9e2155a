import Foundation
import KymographCore
import Testing

/// Two threads over one ring: `swift test -c release --filter RingConcurrencyTests`, and the same with
/// `--sanitize=thread`. Without `-c release` the sanitizer sees nothing of the slots, because generic code of the
/// standard library, which is not instrumented, touches them then.
@Suite(.serialized) struct RingStressTests {
    /// Messages in all tests of this suite together: 10^7, and a tenth of it in slow debug code.
    #if DEBUG
    static let messages: UInt64 = 1_000_000
    #else
    static let messages: UInt64 = 10_000_000
    #endif

    @Test(arguments: [(512, 1), (8_192, 9)] as [(Int, UInt64)])
    func everyMessageArrivesOnceInOrder(_ capacity: Int, _ share: UInt64) {
        let ring = Ring(capacity: capacity)
        let count = RingStressTests.messages / 10 * share
        let writer = StressThread { StressWriter(ring).run(count) }
        let (taken, faults) = StressReader(ring).run(count)
        writer.join()
        #expect(taken == count)
        #expect(faults == 0)
        #expect(ring.isEmpty)
    }
}

/// What both sides know about message `number`.
enum StressMessage {
    /// Most are one slot; some have up to 40, so that records meet the end of the ring at every offset.
    static func length(_ number: UInt64) -> Int {
        let mixed = number &* 0x9E37_79B9_7F4A_7C15 >> 40
        if mixed & 7 != 0 { return 0 }
        return Int(mixed >> 3 & 63 == 0 ? mixed % 2_500 : mixed % 100)
    }

    static func record(_ number: UInt64) -> KymographCore.Measurement {
        var record = KymographCore.Measurement(
            instant: Instant(nanoseconds: Int64(number)), received: Instant(nanoseconds: Int64(number &* 3)))
        record.payloadBytes = length(number)
        record.setInline(0, Decimal64(mantissa: Int64(number ^ 0x5555), exponent: 2))
        return record
    }
}

struct StressWriter: ~Copyable {
    private var producer: RingProducer
    /// Payloads are cut out of one text, at a place that follows from the number.
    private var pattern = ByteWriter(capacity: 4_096)

    init(_ ring: Ring) {
        producer = RingProducer(ring)
        for index in 0..<2_760 { pattern.append(UInt8(truncatingIfNeeded: index % 251)) }
    }

    consuming func run(_ count: UInt64) {
        for number in 0..<count {
            let start = Int(number % 251)
            let payload = pattern.view(start..<(start + StressMessage.length(number)))
            while !producer.write(StressMessage.record(number), payload: payload) {
                producer.publish()
                Thread.yieldToOthers()
            }
            if number % 37 == 0 { producer.publish() }
        }
        producer.publish()
    }
}

struct StressReader: ~Copyable {
    private var consumer: RingConsumer

    init(_ ring: Ring) { consumer = RingConsumer(ring) }

    /// Takes `count` messages; how many came and how many of them were wrong.
    consuming func run(_ count: UInt64) -> (taken: UInt64, faults: Int) {
        var number: UInt64 = 0
        var faults = 0
        while number < count {
            guard let record = consumer.next() else {
                consumer.release()
                Thread.yieldToOthers()
                continue
            }
            if !isRight(record, number) { faults += 1 }
            number += 1
            if number % 53 == 0 { consumer.release() }
        }
        consumer.release()
        return (number, faults)
    }

    private func isRight(_ record: KymographCore.Measurement, _ number: UInt64) -> Bool {
        guard record.instant.nanoseconds == Int64(number), record.received.nanoseconds == Int64(number &* 3),
            record.inline(0) == Decimal64(mantissa: Int64(number ^ 0x5555), exponent: 2)
        else { return false }
        let payload = consumer.payload(of: record)
        guard payload.count == StressMessage.length(number) else { return false }
        for index in 0..<payload.count where payload[index] != UInt8((Int(number % 251) + index) % 251) { return false }
        return true
    }
}

/// A thread that can be waited for.
final class StressThread: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [ended] in
            body()
            ended.signal()
        }
        thread.start()
    }

    func join() { ended.wait() }
}

extension Thread {
    /// Lets the other side work where there is one core for both.
    static func yieldToOthers() { Thread.sleep(forTimeInterval: 0) }
}
