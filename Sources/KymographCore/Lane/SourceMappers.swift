/// The mappers of the sources of a lane.
///
/// Sources without templates, such as those that a reload has removed, share one, by which all that still comes of them
/// is rejected: a mapper takes about 200 KiB, and reloads may bring other names for as long as the process lives.
struct SourceMappers: ~Copyable {
    private let set: MappingSet
    private let inputs: [LaneInput]
    private let limits: ScanLimits
    /// Those of sources with templates, by their numbers; the one of all others, if there are any; and behind it those
    /// that were narrowed.
    private var mappers = OwnedList<MappedSource>(count: 0) { _ in preconditionFailure("an empty list") }
    /// By place, the source of the mapper; nil of the one that sources share.
    private var owners: [Int?] = []
    /// By the numbers of sources, the place of the mapper.
    private var places: RawArray<Int>
    /// Which source each of the last mappers is of, and with which templates alone.
    private var narrowed: [(source: Int, templates: [Int], place: Int)] = []
    /// The source that is narrowed now, and the place of its mapper.
    private var narrow: (source: Int, place: Int) = (-1, -1)

    /// Maps `inputs`, whose places are the source numbers, with `set`.
    init(set: MappingSet, inputs: [LaneInput], limits: ScanLimits) {
        (self.set, self.inputs, self.limits) = (set, inputs, limits)
        places = RawArray(repeating: -1, count: inputs.count)
        for (source, input) in inputs.enumerated() where !input.templates.isEmpty {
            places[source] = append(input, of: source)
        }
        guard let first = inputs.firstIndex(where: \.templates.isEmpty) else { return }
        let shared = append(inputs[first], of: nil)
        for source in inputs.indices where places[source] < 0 { places[source] = shared }
    }

    /// Adds a mapper; its place.
    private mutating func append(_ input: LaneInput, of source: Int?) -> Int {
        mappers.append(MappedSource(set: set, input: input, limits: limits))
        owners.append(source)
        return mappers.count - 1
    }

    /// How many there are.
    var count: Int { mappers.count }

    /// The mapper of `source`.
    @inline(__always)
    subscript(source: Int) -> MappedSource {
        _read { yield mappers[place(source)] }
        _modify { yield &mappers[place(source)] }
    }

    @inline(__always)
    private func place(_ source: Int) -> Int { source == narrow.source ? narrow.place : places[source] }

    /// Maps what `source` brings from here on by those of its templates alone that are numbered `templates`, up to the
    /// next call; nil for all of all sources.
    mutating func narrow(_ source: Int, to templates: [Int]?) {
        guard let templates else { return narrow = (-1, -1) }
        if let known = narrowed.first(where: { $0.source == source && $0.templates == templates }) {
            return narrow = (source, known.place)
        }
        var input = inputs[source]
        input.templates = templates
        narrow = (source, append(input, of: source))
        narrowed.append((source, templates, narrow.place))
    }

    /// What the mapper at `place` has noted since the last call, and of which source; nil when that is nothing. Where
    /// there are no templates, nothing is noted.
    mutating func takeNotes(at place: Int) -> (source: Int, notes: MappingNotes, gaps: [FrameGap])? {
        guard let source = owners[place] else { return nil }
        let (notes, gaps) = (mappers[place].takeNotes(), mappers[place].takeGaps())
        return notes.isEmpty && gaps.isEmpty ? nil : (source, notes, gaps)
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

    /// Of `owner` in place of the context's own, where it is told.
    @inline(never)
    mutating func payload(
        _ bytes: ByteView, isLine: Bool, of owner: PayloadOwner, received: Instant, output: inout LaneOutput
    ) {
        var context = context
        if let device = owner.device { context.defaultDevice = device }
        if let patient = owner.patient { context.defaultPatient = patient }
        if isLine {
            mapper.mapLine(bytes, context: context, received: received, output: &output)
        } else {
            mapper.mapDatagram(bytes, context: context, received: received, output: &output)
        }
    }
}
