/// What a lane tells its owner. Called per batch and per rejected reading, never per good one.
package protocol LaneEvents: AnyObject {
    /// A reading of `source` was rejected.
    func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant, detail: RejectionDetail)
    /// `count` readings of `source` were received since the last time; rejected ones are among them.
    func received(_ count: Int, source: Int)
    /// Something happened to readings of `source` since the last time that their owner should know.
    func noted(_ notes: MappingNotes, source: Int)
    /// Numbers of a bridge's frames to `source` were passed over since the last time, or have come late.
    func missed(_ gaps: [FrameGap], source: Int)
    /// `count` readings were put into rings since the last time.
    func routed(_ count: Int)
    /// Nanoseconds by which readings received at `received`, by the wall clock, are to be stamped later, so that what
    /// comes later never has an earlier receive time. Asked once for all that came at the same time.
    func lead(at received: Instant) -> Int64
    /// The ring to `shard` has something new.
    func wake(shard: Int)
    /// The ring to `shard` is full and everything in it is published: block until it may have room. False when the
    /// pipeline is being ended by force and the reading must be given up.
    func waitForRoom(shard: Int) -> Bool
}

extension LaneEvents {
    /// None: the wall clock is trusted.
    package func lead(at received: Instant) -> Int64 { 0 }

    /// Forgets it.
    package func missed(_ gaps: [FrameGap], source: Int) {}
}

/// One source as a lane sees it.
package struct LaneInput: Sendable {
    /// Templates that apply, as numbers of the mapping set.
    package var templates: [Int]
    /// What the source contributes.
    package var context: SourceContext
    /// The source's number for the ledger (``ReadingSource``).
    package var ledgerNumber = 0
    /// Whether payloads like others before are read without a scan; the readings are the same.
    package var usesFastPath = true

    /// Makes an input.
    package init(templates: [Int], context: SourceContext) {
        self.templates = templates
        self.context = context
    }
}

/// Everything a lane's thread does with bytes: map them, number their series, write them into the rings.
///
/// One lane per thread; the edges call it once per datagram or line and once per batch.
package struct ReadingLane: ~Copyable {
    private var sources: OwnedList<MappedSource>
    private var output: LaneOutput
    private let limits: ScanLimits

    /// Makes a lane for `inputs`, whose places are the source numbers.
    package init(
        set: MappingSet, inputs: [LaneInput], limits: ScanLimits, router: consuming ReadingRouter,
        events: any LaneEvents
    ) {
        self.limits = limits
        sources = OwnedList(count: inputs.count) { MappedSource(set: set, input: inputs[$0], limits: limits) }
        output = LaneOutput(router: router, events: events, marks: inputs.map { ReadingSource.mark($0.ledgerNumber) })
    }

    /// Maps with `set`, which continues the former one, from here on. `inputs` are the same sources, and `generation`
    /// is what ``MappingExchange/announce(rings:)`` gave with it.
    ///
    /// Every shard learns of it in order with the readings: what was mapped by a newer set comes after the mark.
    package mutating func adopt(_ set: MappingSet, generation: Int, inputs: [LaneInput]) {
        precondition(inputs.count == sources.count)
        let limits = self.limits
        sources = OwnedList(count: inputs.count) { MappedSource(set: set, input: inputs[$0], limits: limits) }
        output.announceMappings(generation: generation)
    }

    /// Maps one line of a stream. `bytes` must be padded.
    package mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        sources[source].line(bytes, received: received, output: &output)
    }

    /// Maps the first line of `bytes`, and returns its length without its newline, where a source has sent lines of its
    /// shape before; nil when nothing has happened, and the line is still to be found. `bytes` must be padded.
    package mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? {
        output.begin(source: source, received: received)
        return sources[source].knownLine(bytes, received: received, output: &output)
    }

    /// Maps one datagram. `bytes` must be padded.
    package mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        sources[source].datagram(bytes, received: received, output: &output)
    }

    /// Counts and reports bytes that never became a payload.
    package mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        output.reject(reason, bytes: bytes, detail: RejectionDetail())
    }

    /// Slots written to the ring of each shard so far: everything that came before the last ``batchEnd()``, and perhaps
    /// more. What is to be acknowledged asks after that.
    package var written: [UInt64] { output.written }

    /// Publishes what was routed, wakes the shards and reports the counts.
    package mutating func batchEnd() {
        for source in 0..<sources.count {
            let notes = sources[source].takeNotes()
            if !notes.isEmpty { output.note(notes, source: source) }
            let gaps = sources[source].takeGaps()
            if !gaps.isEmpty { output.miss(gaps, source: source) }
        }
        output.batchEnd()
    }
}

/// A source's mapper and what the source contributes, in one place: lending a context out of an array counts
/// references, twice for every reading.
struct MappedSource: ~Copyable {
    private var mapper: Mapper
    private let context: SourceContext

    init(set: MappingSet, input: LaneInput, limits: ScanLimits) {
        mapper = Mapper(
            set, templates: input.templates, limits: limits, usesFastPath: input.usesFastPath)
        context = input.context
    }

    mutating func takeNotes() -> MappingNotes { mapper.takeNotes() }

    mutating func takeGaps() -> [FrameGap] { mapper.takeGaps() }

    @inline(__always)
    mutating func line(_ bytes: ByteView, received: Instant, output: inout LaneOutput) {
        mapper.mapLine(bytes, context: context, received: received, output: &output)
    }

    @inline(__always)
    mutating func knownLine(_ bytes: ByteView, received: Instant, output: inout LaneOutput) -> Int? {
        mapper.mapKnownLine(bytes, context: context, received: received, output: &output)
    }

    @inline(__always)
    mutating func datagram(_ bytes: ByteView, received: Instant, output: inout LaneOutput) {
        mapper.mapDatagram(bytes, context: context, received: received, output: &output)
    }
}

/// Routes a lane's measurements and counts them.
struct LaneOutput: ~Copyable, MeasurementOutput {
    private var router: ReadingRouter
    private let events: any LaneEvents
    private var counts: RawArray<Int>
    private let marks: RawArray<UInt8>
    private var routed = 0
    private var source = 0
    private var mark: UInt8 = 0
    private var received = Instant.distantPast
    /// By how much readings are stamped later than ``received``: mapping goes by the wall clock, the order of what came
    /// does not.
    private var lead: Int64 = 0

    /// `marks` are those of the readings of each source.
    init(router: consuming ReadingRouter, events: any LaneEvents, marks: [UInt8]) {
        self.router = router
        self.events = events
        counts = RawArray(repeating: 0, count: marks.count)
        var kept = RawArray<UInt8>(capacity: marks.count)
        for mark in marks { kept.append(mark) }
        self.marks = kept
    }

    mutating func begin(source: Int, received: Instant) {
        self.source = source
        mark = marks[source]
        guard received != self.received else { return }
        self.received = received
        lead = events.lead(at: received)
    }

    @inline(__always)
    mutating func take(_ reading: PlainReading, key: ShortKey) -> Bool {
        var reading = reading
        if lead != 0 { reading.received = reading.received.advanced(by: lead) }
        guard router.stage(reading, mark: mark, key: key) else { return false }
        countStaged()
        return true
    }

    @inline(__always)
    mutating func accept(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Rejection? {
        var measurement = measurement
        if lead != 0 { measurement.received = measurement.received.advanced(by: lead) }
        guard payload.count == 0, router.stage(measurement, mark: mark, key: key) else {
            return acceptAtOnce(measurement, payload: payload, key: key)
        }
        countStaged()
        return nil
    }

    @inline(__always)
    private mutating func countStaged() {
        counts[source] += 1
        routed += 1
        if router.isStageFull { routeStaged() }
    }

    /// Routes what waits to be looked up together.
    private mutating func routeStaged() {
        guard router.routeStaged() else { return }
        report()
        router.publishQuietly()
    }

    @inline(never)
    private mutating func acceptAtOnce(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Rejection? {
        routeStaged()
        var marked = measurement
        marked.mark = mark
        while true {
            switch router.route(marked, payload: payload, key: key) {
            case .written(let isDue):
                counts[source] += 1
                routed += 1
                if isDue {
                    report()
                    router.publishQuietly()
                }
                return nil
            case .refused(let reason): return reason
            case .full(let shard):
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return .shutdown }
            }
        }
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        counts[source] += 1
        events.rejected(reason, bytes: bytes, source: source, received: received, detail: detail)
    }

    var written: [UInt64] { router.written }

    /// Waits for room where a ring is full; gives up only when the pipeline is ended by force.
    mutating func announceMappings(generation: Int) {
        routeStaged()
        for shard in 0..<router.shardCount {
            while !router.announceMappings(generation: generation, to: shard) {
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return }
            }
        }
        publish { [events] in events.wake(shard: $0) }
    }

    func note(_ notes: MappingNotes, source: Int) { events.noted(notes, source: source) }

    func miss(_ gaps: [FrameGap], source: Int) { events.missed(gaps, source: source) }

    /// Counts first: nobody must see more readings leave the rings than were put in and received.
    private mutating func publish(wake: (Int) -> Void) {
        report()
        router.publish(wake: wake)
    }

    mutating func batchEnd() {
        routeStaged()
        publish { [events] in events.wake(shard: $0) }
    }

    private mutating func report() {
        if routed > 0 { events.routed(routed) }
        routed = 0
        for source in 0..<counts.count where counts[source] > 0 {
            events.received(counts[source], source: source)
            counts[source] = 0
        }
    }
}
