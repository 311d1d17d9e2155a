package import KymographCore

extension PipelineSettings {
    /// The sources to open: those that were named, or the default ones when none was.
    package var listeningSources: [Source] {
        sources.isEmpty ? Self.defaultSources : sources.filter { !$0.isRemoved }
    }

    /// What source `number` is opened with, by a lane that shares ports with others.
    func laneConfiguration(_ number: Int, sharesPort: Bool) -> SourceConfiguration {
        let source = sources[number]
        var configuration = source.configuration
        configuration.number = number
        configuration.statedName = source.statedName ?? ""
        configuration.framing = framing(of: source)
        configuration.lineCap = lineBytes
        configuration.sharesPort = sharesPort && configuration.isShareable
        configuration.longestRest = longestRest
        return configuration
    }

    /// The mappings that `source` uses: its own, or the common ones; the one of two files comes last.
    package func references(of source: Source) -> [MappingReference] {
        let own = source.namedFiles.references(beside: source.mappings)
        return own.isEmpty ? namedFiles.references(beside: mappings) : own
    }

    /// Names of the mappings that `source` uses: its own, or the common ones.
    package func mappings(of source: Source) -> [String] { references(of: source).map(\.name) }

    /// How the bytes of `source` become payloads.
    func framing(of source: Source) -> StreamFraming { source.statedFraming ?? framing }

    /// Whether something that ends by itself is a table whose first row has the names of its columns.
    package var readsNamesOfColumns: Bool {
        listeningSources.contains { source in
            guard source.configuration.capabilities.contains(.ends), case .table(let table) = framing(of: source)
            else { return false }
            return table.columns == nil
        }
    }

    /// The framing of a stream that is not NDJSON, as one writes it; nil for all other sources.
    func framingText(of source: Source) -> String? {
        guard source.configuration.capabilities.contains(.framing) else { return nil }
        let framing = framing(of: source)
        return framing == .lines ? nil : FramingText.text(framing)
    }

    /// What a lane needs to know of each source.
    func laneInputs(set: MappingSet) -> [LaneInput] { sources.map { laneInput($0, set: set) } }

    /// What a lane needs to know of `source`; `set` holds its mappings, see ``ConfigurationLoader/checkMappings(_:)``.
    package func laneInput(_ source: Source, set: MappingSet) -> LaneInput {
        var input = LaneInput(
            templates: source.isRemoved ? [] : set.templates(of: mappings(of: source)),
            context: SourceContext(
                defaultDevice: Array((source.defaultDevice ?? "").utf8),
                defaultPatient: Array((source.defaultPatient ?? "").utf8),
                // With a map, that is asked of the patient by the map.
                requiresPatient: requiresPatient && patients.book == nil,
                maxFuture: maxFuture, timezone: source.timezone))
        input.ledgerNumber = source.ledgerNumber
        input.usesFastPath = usesFastPath
        input.dropsWhenFull = source.configuration.dropsWhenFull
        return input
    }
}
