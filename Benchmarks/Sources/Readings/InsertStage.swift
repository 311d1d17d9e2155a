import KymographCore

/// Takes readings from a ring into the windows of many series, as a shard does.
package struct InsertStage: ~Copyable, Stage {
    /// Counts what was accepted; windows that close are written to nobody.
    private final class Events: ShardEvents {
        var accepted: UInt64 = 0

        func block(_ block: ByteView, for route: BundleRoute, since: Instant) {}
        func rejected(_ reading: RejectedReading, payload: ByteView) { fatalError("rejected: \(reading.reason)") }
        func counted(_ tally: ShardTally) { accepted += UInt64(tally.accepted) }
    }

    private var load: InsertLoad
    private var producer: RingProducer
    private var shard: InMemoryShard
    private let events = Events()
    private var record: Measurement
    private var sent: UInt64 = 0

    /// Makes windows for four series of each of `devices` devices, and fills them once: their memory is used again by
    /// the windows that follow. ``roomForReadings`` more do not close a window.
    package init(devices: Int, perWindow: Int) {
        let set = Workload.mappings()
        load = InsertLoad(devices: devices, perWindow: perWindow)
        let ring = Ring()
        var limits = WindowLimits()
        limits.maxDevices = devices
        limits.maxSeries = load.count
        limits.maxOpenWindows = 2 * load.count
        limits.archiveBytes = 8 << 20
        let settings = WindowSettings(limits: limits)
        shard = InMemoryShard(
            rings: [ring], types: set.types, settings: settings, entries: Workload.entries(set), events: events)
        record = Measurement(instant: Workload.received, received: Workload.received)
        InsertStage.introduce(load, to: ring, record, &shard)
        producer = RingProducer(ring)
        record.setInline(0, Decimal64(mantissa: 72))
        roomForReadings = load.count * (perWindow - InsertLoad.warmRounds)
        run(load.count * (perWindow + InsertLoad.warmRounds))
    }

    /// How many readings can be taken from now on before windows close again.
    package let roomForReadings: Int

    /// Makes all series known, in order of their numbers, by a reading each that is too old to be in a window again.
    private static func introduce(
        _ load: InsertLoad, to ring: Ring, _ record: Measurement, _ shard: inout InMemoryShard
    ) {
        var router = ReadingRouter(rings: [ring], maxDevices: load.count, maxSeries: load.count)
        var old = record
        old.instant = Instant(nanoseconds: 0)
        old.setInline(0, Decimal64(mantissa: 1))
        for series in 0..<load.count {
            let key = SeriesKey.encode(load.identity(series))
            guard case .written = key.withByteView({ router.route(old, payload: ByteView(""), key: $0) }) else {
                fatalError("the ring is larger than a batch")
            }
            if series % 256 == 255 || series + 1 == load.count {
                router.publish { _ in }
                _ = shard.step(now: Workload.received)
            }
        }
    }

    /// Takes `count` readings.
    package mutating func run(_ count: Int) {
        let nothing = ByteView("")
        var left = count
        while left > 0 {
            let size = min(left, InsertLoad.batch)
            for _ in 0..<size {
                let (series, instant) = load.next()
                record.series = series
                record.instant = Instant(nanoseconds: instant)
                precondition(producer.write(record, payload: nothing))
            }
            producer.publish()
            _ = shard.step(now: Workload.received)
            left -= size
        }
        sent += UInt64(count)
    }
}
