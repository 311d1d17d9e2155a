/// The lane's way to the shards: numbers series and writes their readings into the ring of the shard that owns them.
///
/// A series is introduced to its ring once, by a definition record, and from then on named by its number there.
public struct ReadingRouter: ~Copyable {
    struct Route: BitwiseCopyable {
        var shard: UInt32
        var number: UInt32
    }

    private var producers: OwnedList<RingProducer>
    private var series = SeriesTable(capacity: 1_024)
    private var devices = SeriesTable(capacity: 256)
    private var routes = RawArray<Route>(capacity: 1_024)
    private var nextNumber: RawArray<UInt32>
    /// Whether a shard got something that it was not woken for.
    private var isQuiet: RawArray<Bool>
    private let maxDevices: Int
    private let maxSeries: Int

    /// Routes over `rings`, one per shard. New devices beyond `maxDevices`, or series beyond `maxSeries`, are refused.
    public init(rings: [Ring], maxDevices: Int, maxSeries: Int) {
        producers = OwnedList(count: rings.count) { RingProducer(rings[$0]) }
        nextNumber = RawArray(repeating: 0, count: rings.count)
        isQuiet = RawArray(repeating: false, count: rings.count)
        self.maxDevices = maxDevices
        self.maxSeries = maxSeries
    }

    /// What became of a reading.
    public enum Outcome: Equatable, Sendable {
        /// It will be in the ring after the next publish, which is due now or at the end of the batch.
        case written(isDue: Bool)
        /// The ring of this shard is full: publish, wait, and route again.
        case full(shard: Int)
        /// It is over a cap.
        case refused(Rejection)
    }

    /// Routes one reading whose series is `key` (a ``SeriesKey``).
    @inline(__always)
    public mutating func route(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Outcome {
        guard let known = series.find(key) else { return introduce(measurement, payload: payload, key: key) }
        let route = routes[known]
        let isWritten = producers[Int(route.shard)].write(measurement, series: route.number, payload: payload)
        return isWritten ? .written(isDue: producers[Int(route.shard)].isDue) : .full(shard: Int(route.shard))
    }

    private mutating func introduce(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Outcome {
        let device = SeriesKey.device(of: key)
        let isKnownDevice = devices.find(device) != nil
        guard isKnownDevice || devices.count < maxDevices else { return .refused(.tooManyDevices) }
        guard series.count < maxSeries else { return .refused(.tooManyDevices) }
        // All series of a device live on one shard, so that its Observations leave in order.
        let shard = ReadingRouter.shard(ofDevice: device, of: nextNumber.count)
        var definition = Measurement(instant: measurement.instant, received: measurement.received)
        definition.kind = RecordKind.definition.rawValue
        definition.series = nextNumber[shard]
        definition.payloadBytes = UInt16(key.count)
        guard producers[shard].write(definition, series: definition.series, payload: key) else {
            return .full(shard: shard)
        }
        if !isKnownDevice { _ = devices.insert(device) }
        _ = series.insert(key)
        routes.append(Route(shard: UInt32(shard), number: nextNumber[shard]))
        nextNumber[shard] += 1
        return route(measurement, payload: payload, key: key)
    }

    private static func shard(ofDevice device: ByteView, of shards: Int) -> Int {
        Int(SeriesTable.hash(device) >> 32) % shards
    }

    /// The shard, of `shards`, that owns the series of `key` (a ``SeriesKey``).
    public static func shard(ofKey key: ByteView, of shards: Int) -> Int {
        shard(ofDevice: SeriesKey.device(of: key), of: shards)
    }

    /// Slots written to the ring of each shard so far.
    var written: [UInt64] { (0..<producers.count).map { producers[$0].written } }

    /// Number of shards.
    var shardCount: Int { nextNumber.count }

    /// Tells `shard`, in order with the readings, that a newer mapping set is in use. False when its ring is full.
    mutating func announceMappings(to shard: Int) -> Bool {
        var record = Measurement(instant: .distantPast, received: .distantPast)
        record.kind = RecordKind.mappings.rawValue
        return producers[shard].write(record, series: 0, payload: ByteView(""))
    }

    /// Makes everything routed visible to the shards, and tells `wake` of each shard that got something since it was
    /// last woken.
    @inline(__always)
    public mutating func publish(wake: (Int) -> Void) {
        for shard in 0..<nextNumber.count where producers[shard].publish() || isQuiet[shard] {
            isQuiet[shard] = false
            wake(shard)
        }
    }

    /// Makes everything routed visible, and wakes nobody yet: shards that work see it.
    mutating func publishQuietly() {
        for shard in 0..<nextNumber.count where producers[shard].publish() { isQuiet[shard] = true }
    }
}
