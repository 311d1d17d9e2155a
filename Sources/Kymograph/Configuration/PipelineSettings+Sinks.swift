import KymographCore

extension PipelineSettings {
    /// One place that bundles go to, and which of them.
    package struct Sink: Sendable {
        /// Standard output or a directory; ``Destination/nowhere`` for a server.
        package var destination = Destination.nowhere
        /// The FHIR server, if it is one.
        package var server = ServerSettings()
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
        /// Where the values were written, by key (`to`, `types[0]`); empty for a sink made in code.
        package var origins: [String: SettingOrigin] = [:]

        /// A sink that gets everything.
        package init() {}

        /// The name in messages and receipts, and under which progress is kept.
        package var name: String {
            if let statedName { return statedName }
            switch destination {
            case .standardOutput: return "stdout"
            case .directory(let path): return "files \(path)"
            case .nowhere: return "server \(server.base)"
            }
        }

        /// What it gets.
        var filter: SinkFilter {
            var filter = SinkFilter()
            filter.types = types.map(NamePattern.init)
            filter.devices = devices.map(NamePattern.init)
            filter.tags = tags.map(NamePattern.init)
            filter.sources = sources.isEmpty ? nil : sourceNumbers
            return filter
        }
    }

    /// The sinks that were listed, or else those of `output.to` and `server`.
    package var outgoingSinks: [Sink] {
        guard sinks.isEmpty else { return sinks }
        var found: [Sink] = []
        if destination != .nowhere {
            var sink = Sink()
            sink.destination = destination
            // Whatever the directory is called: a run that writes to another one goes on.
            sink.statedName = "output"
            found.append(sink)
        }
        if server.isNamed {
            var sink = Sink()
            sink.server = server
            found.append(sink)
        }
        return found
    }

    /// Gives each sink the numbers of the sources that its patterns name; `known` are those of all sources.
    mutating func resolveSources(_ known: [(name: String, number: Int)]) {
        for index in sinks.indices {
            let patterns = sinks[index].sources.map(NamePattern.init)
            let named = known.filter { source in patterns.contains { $0.matches(source.name.utf8) } }
            sinks[index].sourceNumbers = named.map(\.number)
        }
    }

    /// Patterns of types and tags that no mapping of `set` has, in sentences. A reload may bring them.
    func strayPatterns(_ set: MappingSet) -> [String] {
        let (types, tags) = (set.types.map(\.name), set.fhirTemplates.flatMap { $0?.tagNames ?? [] })
        return sinks.flatMap { sink in
            PipelineSettings.stray(sink.types, among: types, "type", sink.name)
                + PipelineSettings.stray(sink.tags, among: tags, "tag", sink.name)
        }
    }

    private static func stray(
        _ patterns: [String], among names: [String], _ noun: String, _ sink: String
    ) -> [String] {
        patterns.filter { text in
            let pattern = NamePattern(text)
            return !names.contains { pattern.matches($0.utf8) }
        }.map { text in
            let advice = NearestName.advice(for: text, among: names, otherwise: "look into the mappings")
            return "sink \(sink): no mapping has a \(noun) '\(text)'; \(advice)"
        }
    }

    /// Which sinks get what; nil when all get everything.
    func router(_ set: MappingSet) -> BundleRouter? {
        BundleRouter(outgoingSinks.map(\.filter), types: set.types, templates: set.fhirTemplates)
    }
}
