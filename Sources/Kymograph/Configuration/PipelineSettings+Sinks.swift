import KymographCore
import KymographTemplates

extension PipelineSettings {
    /// One place that entries go to without a list of ``sinks``: standard output, a directory, or none.
    package struct Destination: Sendable, Equatable {
        /// The place; nil for none: a FHIR server gets everything.
        package var address: (any SinkAddress)?

        /// Standard output.
        package static let standardOutput = Destination(address: StandardOutputAddress())
        /// None.
        package static let nowhere = Destination(address: nil)

        /// Rotating files in the directory at `path`.
        package static func directory(_ path: String) -> Destination {
            Destination(address: DirectoryAddress(path: path))
        }

        /// Whether both are the same place.
        package static func == (one: Destination, other: Destination) -> Bool {
            guard let address = one.address, let otherAddress = other.address else {
                return one.address == nil && other.address == nil
            }
            return address.isSame(as: otherAddress)
        }
    }

    /// What a sink gets.
    package enum SinkFormat: String, Sendable, CaseIterable {
        /// Observations and other resources, as `output.format` says.
        case fhir
        /// Readings, as normalised events of iomt-fhir.
        case events
    }

    /// One place that entries go to, and which of them.
    package struct Sink: Sendable {
        /// The place; nil where none is named.
        package var address: (any SinkAddress)?
        /// What was read of each kind, by its key: its settings may come before its place.
        var drafts: [String: any SinkAddress] = [:]
        /// The name in messages and receipts, and under which progress is kept; nil for the usual one.
        package var statedName: String?
        /// Patterns of types that it gets; empty for all.
        package var types: [String] = []
        /// Patterns of devices.
        package var devices: [String] = []
        /// Patterns of sources' names.
        package var sources: [String] = []
        /// Numbers of the sources that the patterns name, of earlier runs too; none before a pipeline has looked.
        var sourceNumbers: [Int] = []
        /// Patterns of tags.
        package var tags: [String] = []
        /// What it gets; nil for what is usual of its kind.
        package var statedFormat: SinkFormat?
        /// Its place among all sinks that this process has had; nil for that in the list.
        var place: Int?
        /// Where the values were written, by key (`to`, `types[0]`); empty for a sink made in code.
        package var origins: [String: SettingOrigin] = [:]

        /// A sink without a place.
        init() {}

        /// A sink that gets everything.
        package init(_ address: some SinkAddress) { self.address = address }

        /// The name in messages and receipts, and under which progress is kept.
        package var name: String { statedName ?? address?.name ?? "" }

        /// Whether it gets readings as events, not resources.
        package var takesEvents: Bool {
            let isUsual = address?.kind.capabilities.contains(.prefersEvents) ?? false
            return statedFormat.map { $0 == .events } ?? isUsual
        }

        /// Which readings, or windows of them, it gets.
        var filter: SinkFilter {
            var filter = SinkFilter()
            filter.types = types.map(NamePattern.init)
            filter.devices = devices.map(NamePattern.init)
            filter.tags = tags.map(NamePattern.init)
            filter.sources = sources.isEmpty ? nil : sourceNumbers
            return filter
        }
    }

    /// Directories that a running pipeline writes to: those of the store and of files.
    var writtenDirectories: [String] {
        let outputs = outgoingSinks.compactMap { ($0.address as? DirectoryAddress)?.path }
        return (store.keeping == .everything ? [store.directory].compactMap(\.self) : []) + outputs
    }

    /// The sinks that were listed, or else those of `output.to` and `server`.
    package var outgoingSinks: [Sink] {
        guard sinks.isEmpty else { return sinks }
        var found: [Sink] = []
        if let address = destination.address {
            var sink = Sink(address)
            // Whatever the directory is called: a run that writes to another one goes on.
            if !address.kind.capabilities.contains(.answers) { sink.statedName = "output" }
            found.append(sink)
        }
        if server.isNamed { found.append(Sink(server)) }
        return found
    }

    /// The sinks, each at its place; nil where one was that has gone.
    var placedSinks: [Sink?] {
        let outgoing = outgoingSinks
        let last = outgoing.enumerated().map { $0.element.place ?? $0.offset }.max() ?? -1
        var places: [Sink?] = Array(repeating: nil, count: max(last + 1, sinkPlaces))
        for (index, sink) in outgoing.enumerated() {
            let place = sink.place ?? index
            places[place] = sink
            places[place]?.place = place
        }
        return places
    }

    /// Whether entries go by the outbox of a store, so that sinks can come and go. A single directory, or standard
    /// output, gets them directly; events leave the shard with their journal, and so by the outbox.
    var usesOutbox: Bool {
        let outgoing = outgoingSinks
        guard store.keeping == .everything else { return false }
        guard outgoing.count == 1, let only = outgoing.first else { return true }
        return only.takesEvents || only.address?.kind.capabilities.contains(.mayBeAway) == true
    }

    /// Gives each sink the numbers of the sources that its patterns name, and keeps all for rules; `known` are those
    /// of all sources.
    mutating func resolveSources(_ known: [(name: String, number: Int)]) {
        knownSources = known
        for index in sinks.indices {
            let patterns = sinks[index].sources.map(NamePattern.init)
            let named = known.filter { source in patterns.contains { $0.matches(source.name.utf8) } }
            sinks[index].sourceNumbers = named.map(\.number)
        }
    }

    /// Why a sink cannot get what its patterns of sources name, or a rule be about it; nil where all can.
    var unknownSource: String? {
        guard sinks.contains(where: { $0.sourceNumbers.contains(ReadingSource.other) }) else {
            return unknownSource(of: ruleList.resources)
        }
        return "a sink is to get the readings of one source, and that is beyond the \(ReadingSource.other - 1) "
            + "that windows can tell apart: use another data directory, or fewer sources"
    }

    /// Patterns of types, tags and values that no mapping of `set` has, and of sinks and sources that there are not, in
    /// sentences. A reload may bring them. Until then a rule or filter with such a pattern lets pass what it was to
    /// hold up.
    package func strayPatterns(_ set: MappingSet) -> [String] {
        let types = set.types.map(\.name)
        let tags = set.fhirTemplates.flatMap { $0?.tagNames ?? [] } + tagsOfReadings
        return sinks.flatMap { sink in
            PipelineSettings.stray(sink.types, among: types, "type", "sink", sink.name)
                + strayTags(sink, among: tags)
        } + listeningSources.flatMap { PipelineSettings.stray($0.types, among: types, "type", "source", $0.name) }
            + strayRules(set)
    }

    /// Those of `patterns` that mean none of `names`, each in a sentence.
    static func stray(
        _ patterns: [String], among names: [String], _ noun: String, _ owner: String, _ name: String
    ) -> [String] {
        patterns.filter { text in
            let pattern = NamePattern(text)
            return !names.contains { pattern.matches($0.utf8) }
        }.map { text in
            let isListed = ["sink", "source"].contains(noun)
            let advice = NearestName.advice(
                for: text, among: names, otherwise: "look into the \(isListed ? "list of \(noun)s" : "mappings")")
            return "\(owner) \(name): \(isListed ? "there is no \(noun)" : "no mapping has a \(noun)") '\(text)'; "
                + advice
        }
    }

    /// Which sinks get which Observations, and which of them get readings as events.
    var routing: SinkRouting {
        let places = placedSinks
        let filters = places.map { sink in
            var filter = sink?.filter
            filter?.takesObservations = sink?.takesEvents == false
            return filter
        }
        let events = places.enumerated().compactMap { place, sink in
            sink.flatMap { $0.takesEvents ? EventSinks.Sink(number: place, filter: $0.filter) : nil }
        }
        return SinkRouting(filters: filters, events: events)
    }
}
