/// How many devices and series a lane takes.
package struct DeviceLimits: Sendable {
    var devices: Int
    var series: Int

    /// Most `devices`, and most `series` of them.
    package init(devices: Int, series: Int) { (self.devices, self.series) = (devices, series) }
}

/// The lane's way to the shards: numbers series and writes their readings into the ring of the shard that owns them.
///
/// A series is introduced to its ring once, by a definition record, and from then on named by its number there.
///
/// Readings can be staged: sixteen are looked up together, and written into their rings in the order in which they
/// came. A staged reading is as good as written, because what could hinder it is ruled out before.
package struct ReadingRouter: ~Copyable {
    private var producers: OwnedList<RingProducer>
    private var shortRoutes = RouteTable(capacity: 1_024)
    /// Series whose keys are not short, and their routes.
    private var longKeys = SeriesTable(capacity: 16)
    private var longRoutes = RawArray<Route>(capacity: 16)
    private var devices = SeriesTable(capacity: 256)
    private var staged = StagedReadings()
    private var nextNumber: RawArray<UInt32>
    /// Whether a shard got something that it was not woken for.
    private var isQuiet: RawArray<Bool>
    private var maxDevices: Int
    private var maxSeries: Int
    /// Whether a device, and whether a series, was refused since these limits are in use.
    private var (refusesDevices, refusesSeries) = (false, false)
    /// Whether ``takeIntroductions()`` has something new to tell.
    private var hasNews = true

    /// Routes over `rings`, one per shard. New devices beyond `maxDevices`, or series beyond `maxSeries`, are refused.
    package init(rings: [Ring], maxDevices: Int, maxSeries: Int) {
        producers = OwnedList(count: rings.count) { RingProducer(rings[$0]) }
        nextNumber = RawArray(repeating: 0, count: rings.count)
        isQuiet = RawArray(repeating: false, count: rings.count)
        self.maxDevices = maxDevices
        self.maxSeries = maxSeries
    }

    /// Takes over `limits` for what comes; devices and series that are known stay.
    mutating func takeOver(_ limits: DeviceLimits) {
        (maxDevices, maxSeries) = (limits.devices, limits.series)
        (refusesDevices, refusesSeries, hasNews) = (false, false, true)
    }

    /// The devices and series that were met so far; nil when that is the same as at the last call.
    mutating func takeIntroductions() -> Introductions? {
        guard hasNews else { return nil }
        hasNews = false
        return Introductions(
            devices: LimitFill(met: devices.count, limit: maxDevices, refuses: refusesDevices),
            series: LimitFill(met: seriesCount, limit: maxSeries, refuses: refusesSeries))
    }

    /// What became of a reading.
    package enum Outcome: Equatable, Sendable {
        /// It will be in the ring after the next publish, which is due now or at the end of the batch.
        case written(isDue: Bool)
        /// The ring of this shard is full: publish, wait, and route again.
        case full(shard: Int)
        /// It is over a cap.
        case refused(Rejection)
    }

    /// Routes one reading whose series is `key` (a ``SeriesKey``).
    @inline(__always)
    package mutating func route(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Outcome {
        if payload.count > RingProducer.alwaysFits, let refused = refusal(payload) { return .refused(refused) }
        guard let route = find(key) else { return introduce(measurement, payload: payload, key: key) }
        let isWritten = producers[Int(route.shard)].write(measurement, series: route.number, payload: payload)
        return isWritten ? .written(isDue: producers[Int(route.shard)].isDue) : .full(shard: Int(route.shard))
    }

    /// Why a reading with so long a payload can never be in the rings, which settings may have made small.
    private func refusal(_ payload: ByteView) -> Rejection? {
        producers[0].canHold(payload) ? nil : .tooManySamples
    }

    @inline(__always)
    private func find(_ key: ByteView) -> Route? {
        if let short = ShortKey(key) { return shortRoutes.find(short, hash: short.hash) }
        return longKeys.find(key).map { longRoutes[$0] }
    }

    private mutating func introduce(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Outcome {
        let device = SeriesKey.device(of: key)
        let isKnownDevice = devices.find(device) != nil
        guard isKnownDevice || devices.count < maxDevices else { return refuse(isDevice: true) }
        guard seriesCount < maxSeries else { return refuse(isDevice: false) }
        // All series of a device live on one shard, so that its Observations leave in order.
        let shard = ReadingRouter.shard(ofDevice: device, of: nextNumber.count)
        var definition = Measurement(instant: measurement.instant, received: measurement.received)
        definition.kind = RecordKind.definition.rawValue
        definition.series = nextNumber[shard]
        definition.payloadBytes = key.count
        guard producers[shard].write(definition, series: definition.series, payload: key) else {
            return .full(shard: shard)
        }
        if !isKnownDevice { _ = devices.insert(device) }
        insert(key, Route(shard: UInt32(shard), number: nextNumber[shard]))
        nextNumber[shard] += 1
        hasNews = true
        return route(measurement, payload: payload, key: key)
    }

    private mutating func refuse(isDevice: Bool) -> Outcome {
        if isDevice, !refusesDevices { (refusesDevices, hasNews) = (true, true) }
        if !isDevice, !refusesSeries { (refusesSeries, hasNews) = (true, true) }
        return .refused(.tooManyDevices)
    }

    private var seriesCount: Int { shortRoutes.count + longRoutes.count }

    private mutating func insert(_ key: ByteView, _ route: Route) {
        if let short = ShortKey(key) { return shortRoutes.insert(short, route) }
        _ = longKeys.insert(key)
        longRoutes.append(route)
    }

    /// Routes a retraction of the series `key`, which is not introduced: nothing is filed there.
    @inline(never)
    mutating func route(_ record: Measurement, retraction payload: ByteView) -> Outcome {
        guard producers[0].canHold(payload) else { return .refused(.tooManySamples) }
        let shard = ReadingRouter.shard(ofKey: Tombstone.key(in: payload), of: nextNumber.count)
        let isWritten = producers[shard].write(record, series: 0, payload: payload)
        return isWritten ? .written(isDue: producers[shard].isDue) : .full(shard: shard)
    }

    /// Tells `shard`, in order with the readings, that a document with retractions has ended. False when its ring is
    /// full.
    mutating func endDocument(for shard: Int) -> Bool {
        var record = Measurement(instant: .distantPast, received: .distantPast)
        record.kind = RecordKind.documentEnd.rawValue
        return producers[shard].write(record, series: 0, payload: ByteView(""))
    }

    /// Has `shard` tell, in order with the readings, what became of those since the last such record, under `number`.
    /// False when its ring is full.
    mutating func endCount(_ number: Int, for shard: Int) -> Bool {
        var record = Measurement(instant: .distantPast, received: Instant(nanoseconds: Int64(number)))
        record.kind = RecordKind.countEnd.rawValue
        return producers[shard].write(record, series: 0, payload: ByteView(""))
    }

    /// Slots written to the ring of `shard` so far; what is staged is not among them.
    func written(to shard: Int) -> UInt64 { producers[shard].written }

    private static func shard(ofDevice device: ByteView, of shards: Int) -> Int {
        Int(SeriesTable.hash(device) >> 32) % shards
    }

    /// The shard, of `shards`, that owns the series of `key` (a ``SeriesKey``).
    package static func shard(ofKey key: ByteView, of shards: Int) -> Int {
        shard(ofDevice: SeriesKey.device(of: key), of: shards)
    }

    /// Slots written to the ring of each shard so far; what is staged is not among them.
    var written: [UInt64] { (0..<producers.count).map { producers[$0].written } }

    /// Number of shards.
    var shardCount: Int { nextNumber.count }

    /// Tells `shard`, in order with the readings, that the mapping set of this generation is in use. False when its
    /// ring is full.
    mutating func announceMappings(generation: Int, to shard: Int) -> Bool {
        var record = Measurement(instant: .distantPast, received: Instant(nanoseconds: Int64(generation)))
        record.kind = RecordKind.mappings.rawValue
        return producers[shard].write(record, series: 0, payload: ByteView(""))
    }

    // MARK: Staging

    /// Takes a reading without payload, with another `mark`, for ``routeStaged()``. False, and nothing is taken, when
    /// its key is long, or when it might be refused by then, or not have room: it is to be routed at once, behind those
    /// that are staged.
    @inline(__always)
    mutating func stage(_ measurement: Measurement, mark: UInt8, key: ByteView) -> Bool {
        guard let short = ShortKey(key), mayStageNext() else { return false }
        let hash = short.hash
        shortRoutes.prefetch(hash)
        staged.append(measurement, mark: mark, key: short, hash: hash)
        return true
    }

    /// The same for a plain reading.
    @inline(__always)
    mutating func stage(_ reading: PlainReading, mark: UInt8, key: ShortKey) -> Bool {
        guard mayStageNext() else { return false }
        let hash = key.hash
        shortRoutes.prefetch(hash)
        staged.append(reading, mark: mark, key: key, hash: hash)
        return true
    }

    @inline(__always)
    private mutating func mayStageNext() -> Bool { staged.count > 0 ? !staged.isFull : mayStage() }

    /// Whether no more can be staged.
    @inline(__always)
    var isStageFull: Bool { staged.isFull }

    /// Whether as many readings as can be staged will have room, whatever series they are of.
    private mutating func mayStage() -> Bool {
        let most = StagedReadings.most
        guard seriesCount + most <= maxSeries, devices.count + most <= maxDevices else { return false }
        // A reading, and a definition that its series may need: two slots, and one before the end of the ring.
        for shard in 0..<producers.count where !producers[shard].hasRoom(slots: UInt64(most) * 4) { return false }
        return true
    }

    /// Lends what is staged, each with its ``SeriesKey``.
    @inline(never)
    func withStaged(_ body: (Measurement, ByteView) -> Void) {
        for place in 0..<staged.count {
            staged[place].key.bytes.withByteView { body(staged.reading(place), $0) }
        }
    }

    /// Writes what is staged into the rings. Whether so much has been written that it should be published.
    @inline(never)
    mutating func routeStaged() -> Bool {
        var isDue = false
        for place in 0..<staged.count where routeStaged(place) { isDue = true }
        staged.removeAll()
        return isDue
    }

    @inline(__always)
    private mutating func routeStaged(_ place: Int) -> Bool {
        guard let route = shortRoutes.find(staged[place].key, hash: staged[place].hash) else {
            return introduceStaged(place)
        }
        let shard = Int(route.shard)
        let reading = staged[place].reading
        producers[shard].prefetch(slotsAhead: StagedReadings.most)
        let isWritten =
            reading.isPlain
            ? producers[shard].write(reading, series: route.number)
            : producers[shard].write(staged.reading(place), series: route.number, payload: ByteView(""))
        precondition(isWritten, "there was room when it was staged")
        return producers[shard].isDue
    }

    private mutating func introduceStaged(_ place: Int) -> Bool {
        let (reading, key) = (staged.reading(place), staged[place].key.bytes)
        guard case .written(let isDue) = key.withByteView({ introduce(reading, payload: ByteView(""), key: $0) }) else {
            preconditionFailure("there was room when it was staged")
        }
        return isDue
    }

    /// Makes everything routed visible to the shards, and tells `wake` of each shard that got something since it was
    /// last woken.
    @inline(__always)
    package mutating func publish(wake: (Int) -> Void) {
        for shard in 0..<nextNumber.count where producers[shard].publish() || isQuiet[shard] {
            isQuiet[shard] = false
            wake(shard)
        }
    }

    /// Whether `shard` got something that it was not woken for.
    func hasUnseen(_ shard: Int) -> Bool { isQuiet[shard] }

    /// Makes everything routed visible, and wakes nobody yet: shards that work see it.
    mutating func publishQuietly() {
        for shard in 0..<nextNumber.count where producers[shard].publish() { isQuiet[shard] = true }
    }
}
