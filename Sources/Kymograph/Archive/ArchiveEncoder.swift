package import KymographCore
package import KymographTemplates

/// Writes archived windows as Observations, as the pipeline does.
package struct ArchiveEncoder: ~Copyable {
    private var encoder: ObservationEncoder
    private let types: [MeasurementType]
    private let templates: [FHIRTemplate?]

    /// Writes with the templates of `set`, which continues the types of the store.
    package init(set: MappingSet, options: ObservationOptions) {
        encoder = ObservationEncoder(
            types: set.types, templates: set.fhirTemplates, options: options, digest: .openSSL)
        (types, templates) = (set.types, set.fhirTemplates)
    }

    /// Names of the types that the store has readings of and that no template of `set` writes.
    package static func unwritable(_ set: MappingSet, stored former: [FormerType]) -> [String] {
        former.indices.filter { former[$0].history.hasTemplate && set.fhirTemplates[$0] == nil }
            .map { former[$0].type.name }
    }

    /// Names of the types whose Observations have the tag `code` or `system|code`.
    package static func types(tagged tag: String, _ set: MappingSet) -> Set<String> {
        let tagged = set.types.indices.filter { set.fhirTemplates[$0]?.tagNames.contains(tag) ?? false }
        return Set(tagged.map { set.types[$0].name })
    }

    /// An Observation of a window.
    package struct Part {
        /// Its first reading; of a window without any, when its last one was.
        package var first: Instant
        /// Its last reading; of a window without any, when its last one was.
        package var last: Instant
        /// JSON.
        package var resource: [UInt8]
    }

    /// The Observations of `window`, one JSON text each: one, or one for each reading of types that are not grouped.
    /// Nil when the block is damaged.
    ///
    /// The status is `amended` when a grouped window was written more than once, else `final`; `preliminary` in place
    /// of both where the template says so, or the window is open. Of a window that has no reading any more it is
    /// `entered-in-error`. Single readings do not wait for their window to close, and are `final` in an open one, too.
    package mutating func observations(of window: ArchivedWindow) -> [[UInt8]]? {
        parts(of: window).map { $0.map(\.resource) }
    }

    /// The same, each with its first and last reading.
    package mutating func parts(of window: ArchivedWindow) -> [Part]? {
        guard window.readings > 0 else {
            guard window.forEachReading({ _, _ in }) else { return nil }
            return emptied(window).map { Part(first: window.last, last: window.last, resource: $0) }
        }
        var parts: [Part] = []
        let isWhole = forEachContent(of: window) { encoder, content in
            let count = content.readings.count
            let first = count > 0 ? content.readings[0].instant : window.last
            let last = count > 0 ? content.readings[count - 1].instant : window.last
            parts += Self.written(content, &encoder).map { Part(first: first, last: last, resource: $0) }
        }
        return isWhole ? parts : nil
    }

    /// The resources that the readings of `window` are in, each with its last reading: one for each reading of types
    /// that are not grouped, else one alone. Empty where no template writes the type. Nil when the block is damaged.
    package mutating func names(of window: ArchivedWindow) -> [(last: Instant, name: ResourceName?)]? {
        guard templates[window.series.type] != nil else { return window.forEachReading { _, _ in } ? [] : nil }
        var names: [(last: Instant, name: ResourceName?)] = []
        let isWhole = forEachContent(of: window) { encoder, content in
            let count = content.readings.count
            guard count > 0 else { return }
            names.append((content.readings[count - 1].instant, encoder.name(of: content)))
        }
        return isWhole ? names : nil
    }

    /// Hands each content of `window` to `body`, with what writes it; false when the block is damaged.
    private mutating func forEachContent(
        of window: ArchivedWindow, _ body: (inout ObservationEncoder, borrowing WindowContent) -> Void
    ) -> Bool {
        var settings = WindowSettings()
        settings.limits.maxReadingsPerWindow = Int(Int32.max)
        settings.limits.preliminaryEvery = 0
        // The readings are what they are, whatever becomes of new ones.
        var types = types
        for index in types.indices where types[index].sameInstant != .merge { types[index].sameInstant = .keep }
        var machine = WindowMachine<MemoryArchive>(types: types, settings: settings)
        guard let series = machine.define(window.series) else { return false }
        let isWhole = window.forEachReading { reading, payload in
            _ = machine.add(series: series, reading, payload: payload)
        }
        guard isWhole else { return false }
        machine.drain()
        let status = status(of: window)
        while let emission = machine.nextEmission() {
            let shown = machine.content(of: emission)
            let content = WindowContent(
                series: shown.series, start: shown.start, end: shown.end, status: status, readings: shown.readings)
            body(&encoder, content)
            // Also what gives no Observation, which would come again and again.
            machine.settle(emission)
        }
        return true
    }

    private func status(of window: ArchivedWindow) -> ObservationStatus {
        guard types[window.series.type].grouping != .instance else { return .final }
        return window.isOpen ? .preliminary : window.revision > 1 ? .amended : .final
    }

    /// Says that what was sent of a window was an error: its readings have moved to other times.
    private mutating func emptied(_ window: ArchivedWindow) -> [[UInt8]] {
        let grouping = types[window.series.type].grouping
        // Of single readings the archive does not know which there were.
        guard window.revision > (window.isOpen ? 0 : 1), grouping != .instance else { return [] }
        let isOpenEnded = grouping == .correlation
        let none = ReadingSlab([])
        let content = WindowContent(
            series: window.series, start: isOpenEnded ? window.last : window.start,
            end: isOpenEnded ? window.last : window.end, status: .enteredInError,
            readings: none.readings(from: 0, count: 0))
        return Self.written(content, &encoder)
    }

    private static func written(
        _ content: borrowing WindowContent, _ encoder: inout ObservationEncoder
    ) -> [[UInt8]] {
        var writer = ByteWriter()
        guard case .written = encoder.encode(content, into: &writer) else { return [] }
        // A summary is several Observations, one a line.
        return writer.view.array.split(separator: 0x0A).map(Array.init)
    }
}
