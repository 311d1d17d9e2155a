/// A lane's rings to the shards: puts records there, waits for room, wakes shards, and counts what it has put.
struct LaneRings: ~Copyable {
    private var router: ReadingRouter
    private let events: any LaneEvents
    /// The source of what is put. All that is staged is of one: a batch ends before another source is read.
    var source = 0
    /// Readings of each source since the last report; rejected ones are among them.
    private var counts: RawArray<Int>
    /// Readings of each template of the set in use.
    private var byTemplate: SharedCounts
    /// Readings that were routed since the last report, and before.
    private var (routed, routedBefore) = (0, 0)
    /// Whether each reading is shown to a tap: when it is routed, so that it costs nothing when it is staged.
    private(set) var isTapped = false

    /// Puts readings of `sourceCount` sources; `byTemplate` counts those of each template.
    init(router: consuming ReadingRouter, events: any LaneEvents, sourceCount: Int, byTemplate: SharedCounts) {
        self.router = router
        self.events = events
        self.byTemplate = byTemplate
        counts = RawArray(repeating: 0, count: sourceCount)
    }

    /// Counts readings of `sourceCount` sources, those that there were first, by the templates of `set` from here on.
    mutating func adopt(_ set: MappingSet, sourceCount: Int) {
        while counts.count < sourceCount { counts.append(0) }
        byTemplate = events.readingCounts(for: set)
    }

    /// Slots written to the ring of each shard so far.
    var written: [UInt64] { router.written }

    /// Slots written to the ring of `shard` so far.
    func written(to shard: Int) -> UInt64 { router.written(to: shard) }

    var shardCount: Int { router.shardCount }

    /// Readings that were put so far.
    var taken: Int { routedBefore + routed }

    /// Takes over `limits` for devices and series that are new.
    mutating func takeOver(_ limits: DeviceLimits) { router.takeOver(limits) }

    // MARK: Readings

    /// Takes a plain reading, to be put with others; false, and nothing is taken, when it is to be put by itself.
    @inline(__always)
    mutating func stage(_ reading: PlainReading, mark: UInt8, key: ShortKey, template: Int32) -> Bool {
        guard router.stage(reading, mark: mark, key: key) else { return false }
        countStaged(template)
        return true
    }

    /// The same for a reading without payload.
    @inline(__always)
    mutating func stage(_ measurement: Measurement, mark: UInt8, key: ByteView, template: Int32) -> Bool {
        guard router.stage(measurement, mark: mark, key: key) else { return false }
        countStaged(template)
        return true
    }

    @inline(__always)
    private mutating func countStaged(_ template: Int32) {
        counts[source] &+= 1
        byTemplate.add(Int(template))
        routed &+= 1
        if router.isStageFull { routeStaged() }
    }

    /// Routes what waits to be looked up together.
    mutating func routeStaged() {
        if isTapped { showStaged() }
        guard router.routeStaged() else { return }
        report()
        router.publishQuietly()
    }

    /// Routes a reading behind those that are staged, and waits for room unless `dropsWhenFull`; why it is not taken.
    @inline(never)
    mutating func route(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32, dropsWhenFull: Bool
    ) -> Rejection? {
        routeStaged()
        while true {
            switch router.route(measurement, payload: payload, key: key) {
            case .written(let isDue):
                if isTapped { events.tapped(measurement, payload: payload, key: key, source: source) }
                noteRouted(template, isDue)
                return nil
            case .refused(let reason): return reason
            case .full(let shard):
                if dropsWhenFull { return dropped(by: shard) }
                if !waitForRoom(shard) { return .shutdown }
            }
        }
    }

    /// Routes a retraction behind what is staged; why it is not taken.
    mutating func route(_ record: Measurement, retraction payload: ByteView, template: Int32) -> Rejection? {
        routeStaged()
        while true {
            switch router.route(record, retraction: payload) {
            case .written(let isDue):
                noteRouted(template, isDue)
                return nil
            case .refused(let reason): return reason
            case .full(let shard): if !waitForRoom(shard) { return .shutdown }
            }
        }
    }

    /// Counts a record of `template` that is in a ring; reports when it is due.
    private mutating func noteRouted(_ template: Int32, _ isDue: Bool) {
        counts[source] += 1
        byTemplate.add(Int(template))
        routed += 1
        guard isDue else { return }
        report()
        router.publishQuietly()
    }

    /// Counts a reading of the source that was rejected.
    mutating func noteRejected() { counts[source] += 1 }

    /// What has no room in the ring to `shard` is dropped; the shard hears once of what came before it.
    private mutating func dropped(by shard: Int) -> Rejection {
        if routed > 0 || router.hasUnseen(shard) { publish() }
        return .bufferFull
    }

    // MARK: Taps

    mutating func setTapped(_ isTapped: Bool) {
        routeStaged()
        self.isTapped = isTapped
    }

    @inline(never)
    private func showStaged() {
        router.withStaged { [events, source] in events.tapped($0, payload: ByteView(""), key: $1, source: source) }
    }

    // MARK: Marks between readings

    /// Tells `shard` that a document with retractions has ended. False when the pipeline is ended by force.
    mutating func endDocument(for shard: Int) -> Bool {
        while !router.endDocument(for: shard) { if !waitForRoom(shard) { return false } }
        return true
    }

    /// Has `shard` tell under `number` what became of the readings since the last such mark. False when its ring is
    /// full, and, if it `waits` for room, when the pipeline is ended by force.
    mutating func endCount(_ number: Int, for shard: Int, waits: Bool) -> Bool {
        while !router.endCount(number, for: shard) { if !waits || !waitForRoom(shard) { return false } }
        return true
    }

    /// Tells all shards that the mapping set of this generation is in use; gives up only when the pipeline is ended by
    /// force.
    mutating func announceMappings(generation: Int) {
        routeStaged()
        for shard in 0..<router.shardCount {
            while !router.announceMappings(generation: generation, to: shard) { if !waitForRoom(shard) { return } }
        }
        publish()
    }

    /// Waits until the ring to `shard` may have room. False when the pipeline is ended by force.
    private mutating func waitForRoom(_ shard: Int) -> Bool {
        publish()
        return events.waitForRoom(shard: shard)
    }

    // MARK: Reports

    /// Makes what is in the rings visible. Counts first: nobody must see more readings leave the rings than were put in
    /// and received.
    mutating func publish() {
        report()
        router.publish { [events] in events.wake(shard: $0) }
    }

    private mutating func report() {
        if let introductions = router.takeIntroductions() { events.met(introductions) }
        if routed > 0 { events.routed(routed) }
        (routed, routedBefore) = (0, routedBefore + routed)
        for source in 0..<counts.count where counts[source] > 0 {
            events.received(counts[source], source: source)
            counts[source] = 0
        }
    }
}
