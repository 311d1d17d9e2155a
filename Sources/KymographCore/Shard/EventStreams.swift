/// The sinks that get readings as events instead of Observations.
package struct EventSinks: Sendable {
    /// One of them.
    package struct Sink: Hashable, Sendable {
        /// Its place among the sinks.
        package var number: Int
        /// Which readings it gets: each by itself, not with its window.
        package var filter: SinkFilter

        /// A sink.
        package init(number: Int, filter: SinkFilter) { (self.number, self.filter) = (number, filter) }
    }

    let sinks: [Sink]
    let types: [MeasurementType]
    let templates: [FHIRTemplate?]

    /// No sink gets events.
    package static let none = EventSinks([], types: [], templates: [])

    /// `templates` has one element per type.
    package init(_ sinks: [Sink], types: [MeasurementType], templates: [FHIRTemplate?]) {
        (self.sinks, self.types, self.templates) = (sinks, types, templates)
    }
}

/// The blocks of events that a shard is filling, one for each sink that gets events.
///
/// A reading becomes an event when it is accepted, not when its window closes: its event is handed over together with
/// the part of the journal that has the reading, so that either both are durable or none (docs/decisions/0033).
struct EventStreams: ~Copyable {
    /// A block, and whose events are in it.
    struct Stream: ~Copyable {
        let sink: EventSinks.Sink
        let route: BundleRoute
        var block = EntryBlockWriter(form: BundleForm(format: .ndjson))
        /// By series, whether its type and device let its readings pass, and whether the tags of its template do.
        var passes: [(route: Bool, tagged: Bool)?] = []

        init(_ sink: EventSinks.Sink) {
            self.sink = sink
            var route = BundleRoute.none
            route.insert(sink.number)
            self.route = route
        }
    }

    private var streams: OwnedList<Stream>
    private var types: [MeasurementType]
    private var tags: [[String]]
    /// When the oldest reading was received whose event waits; nil when none does.
    private(set) var since: Instant?

    /// Bytes of a block after which it ends.
    private static var blockBytes: Int { 256 << 10 }

    init(_ sinks: EventSinks) {
        streams = OwnedList(count: sinks.sinks.count) { Stream(sinks.sinks[$0]) }
        types = sinks.types
        tags = sinks.templates.map { $0?.tagNames ?? [] }
    }

    /// Whether no sink gets events.
    @inline(__always)
    var isEmpty: Bool { streams.count == 0 }

    /// Follows newer mappings.
    mutating func adopt(_ types: [MeasurementType], _ templates: [FHIRTemplate?]) {
        guard !isEmpty else { return }
        self.types = types
        tags = templates.map { $0?.tagNames ?? [] }
        for index in 0..<streams.count { streams[index].passes = [] }
    }

    /// Adds the event of a reading of `identity`, the machine's series `series`, for each sink that gets it, or has got
    /// the one whose place it takes for one of `formerTags` (``ReadingTags``); whether the blocks are full.
    mutating func append(
        _ reading: Measurement, _ payload: ByteView, series: Int, _ identity: SeriesIdentity,
        formerTags: ByteView = ByteView("")
    ) -> Bool {
        var isFull = false
        for index in 0..<streams.count where passes(index, reading, payload, formerTags, series, identity) {
            streams[index].block.append(reading, payload, types[identity.type], identity)
            if since == nil { since = reading.received }
            isFull = isFull || streams[index].block.bytes.count >= EventStreams.blockBytes
        }
        return isFull
    }

    private mutating func passes(
        _ index: Int, _ reading: Measurement, _ payload: ByteView, _ formerTags: ByteView, _ series: Int,
        _ identity: SeriesIdentity
    ) -> Bool {
        let filter = streams[index].sink.filter
        if let sources = filter.sources, !sources.contains(ReadingSource.number(reading.mark)) { return false }
        let (passes, isTagged) = passes(index, series, identity)
        return passes
            && (isTagged || filter.matches(list: ReadingTags.list(in: payload)) || filter.matches(list: formerTags))
    }

    private mutating func passes(_ index: Int, _ series: Int, _ identity: SeriesIdentity) -> (Bool, Bool) {
        let filter = streams[index].sink.filter
        while streams[index].passes.count <= series { streams[index].passes.append(nil) }
        if let known = streams[index].passes[series] { return known }
        let passes = (
            filter.mayMatch(type: types[identity.type].name, device: identity.device),
            filter.matches(tags: tags[identity.type])
        )
        streams[index].passes[series] = passes
        return passes
    }

    /// Ends all blocks, and gives each that has events to `ended`.
    mutating func finish(_ ended: (BundleRoute, ByteView) -> Void) {
        guard since != nil else { return }
        since = nil
        for index in 0..<streams.count where streams[index].block.count > 0 {
            ended(streams[index].route, streams[index].block.finish())
            streams[index].block.removeAll()
        }
    }
}

extension EntryBlockWriter {
    /// Appends the event of a reading.
    fileprivate mutating func append(
        _ reading: Measurement, _ payload: ByteView, _ type: MeasurementType, _ identity: SeriesIdentity
    ) {
        let holes = EntryHoles()
        begin()
        MeasurementJSON.append(reading, payload: payload, type: type, identity: identity, to: &bytes)
        endBody()
        bytes.append(Array(type.name.utf8))
        end(.type)
        for part in [EntryPart.id, .fullURL, .system] { end(part) }
        bytes.append(identity.device)
        end(.value)
        for part in [EntryPart.whole, .encounter] { end(part) }
        end(.event, holes: holes)
    }
}

extension Measurement {
    /// Whether it has the values of `other`; `payload` and `others` are what the two have beside their own words.
    func says(as other: Measurement, _ payload: ByteView, _ others: ByteView) -> Bool {
        guard present == other.present, payload.equals(others) else { return false }
        return (0..<Measurement.inlineValues).allSatisfy { slot in
            guard let own = inline(slot), let its = other.inline(slot) else { return true }
            return own.mantissa == its.mantissa && own.exponent == its.exponent
        }
    }
}
