import KymographCore

/// Puts measurements into a ring and takes them out, 64 at a time, on one thread.
package struct RingStage: ~Copyable, Stage {
    private var producer: RingProducer
    private var consumer: RingConsumer
    private var record = Measurement(instant: Workload.received, received: Workload.received)
    private var sum: Int64 = 0

    /// Readings between two publications.
    package static let batch = 64

    /// Makes a ring of `capacity` slots.
    package init(capacity: Int = 8_192) {
        let ring = Ring(capacity: capacity)
        producer = RingProducer(ring)
        consumer = RingConsumer(ring)
        record.setInline(0, Decimal64(mantissa: 72))
    }

    /// Sends `count` measurements.
    package mutating func run(_ count: Int) {
        var left = count
        let nothing = ByteView("")
        while left > 0 {
            let size = min(left, RingStage.batch)
            for _ in 0..<size {
                record.series &+= 1
                precondition(producer.write(record, payload: nothing))
            }
            producer.publish()
            while let taken = consumer.next() { sum &+= Int64(taken.series) }
            consumer.release()
            left -= size
        }
    }

    /// Seconds for `count` measurements from one thread to another.
    package static func acrossThreads(_ count: Int, capacity: Int = 8_192) -> Double { RingRace(capacity).run(count) }
}
