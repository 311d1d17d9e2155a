import CLimits
import Glibc
import KymographCore

/// Two threads, one ring: what a lane and a shard do, without their work.
final class RingRace: @unchecked Sendable {
    private let ring: Ring
    private var count = 0

    init(_ capacity: Int) { ring = Ring(capacity: capacity) }

    /// Seconds for `count` measurements.
    func run(_ count: Int) -> Double {
        self.count = count
        let start = ContinuousClock.now
        var thread = pthread_t()
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // Safe: this object outlives the thread, which is joined below.
        let error = unsafe pthread_create(
            &thread, nil,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<RingRace>.fromOpaque(context).takeUnretainedValue().produce()
                }
                return nil
            }, context)
        precondition(error == 0)
        consume()
        pthread_join(thread, nil)
        let taken = ContinuousClock.now - start
        return Double(taken.components.seconds) + Double(taken.components.attoseconds) * 1e-18
    }

    private func produce() {
        var producer = RingProducer(ring)
        var record = Measurement(instant: Workload.received, received: Workload.received)
        let nothing = ByteView("")
        var spins: UInt32 = 0
        for number in 0..<count {
            record.series = UInt32(truncatingIfNeeded: number)
            while !producer.write(record, payload: nothing) {
                producer.publish()
                unsafe limits_relax(&spins)
            }
        }
        producer.publish()
    }

    private func consume() {
        var consumer = RingConsumer(ring)
        var taken = 0
        var spins: UInt32 = 0
        while taken < count {
            let before = taken
            while let record = consumer.next() {
                precondition(record.series == UInt32(truncatingIfNeeded: taken))
                taken += 1
                if taken - before >= 4_096 { break }
            }
            consumer.release()
            if taken == before { unsafe limits_relax(&spins) }
        }
    }
}
