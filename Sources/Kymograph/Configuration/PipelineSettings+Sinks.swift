import KymographCore

extension PipelineSettings {
    /// One place that bundles go to, and which of them.
    public struct Sink: Sendable {
        /// Standard output or a directory; ``Destination/nowhere`` for a server.
        public var destination = Destination.nowhere
        /// The FHIR server, if it is one.
        public var server = ServerSettings()
        /// The name in messages and receipts, and under which progress is kept; nil for the usual one.
        public var statedName: String?
        /// Patterns of types that it gets; empty for all.
        public var types: [String] = []
        /// Patterns of devices.
        public var devices: [String] = []
        /// Patterns of sources' names.
        public var sources: [String] = []
        /// Patterns of tags.
        public var tags: [String] = []
        /// Where the values were written, by key (`to`, `types[0]`); empty for a sink made in code.
        public var origins: [String: SettingOrigin] = [:]

        /// A sink that gets everything.
        public init() {}

        /// The name in messages and receipts, and under which progress is kept.
        public var name: String {
            if let statedName { return statedName }
            switch destination {
            case .standardOutput: return "stdout"
            case .directory(let path): return "files \(path)"
            case .nowhere: return "server \(server.base)"
            }
        }

        /// What it gets. `numbers` has the ledger's number of each source of `all`.
        func filter(_ all: [Source]) -> SinkFilter {
            var filter = SinkFilter()
            filter.types = types.map(NamePattern.init)
            filter.devices = devices.map(NamePattern.init)
            filter.tags = tags.map(NamePattern.init)
            guard !sources.isEmpty else { return filter }
            let patterns = sources.map(NamePattern.init)
            filter.sources = all.filter { source in patterns.contains { $0.matches(source.name.utf8) } }
                .map(\.ledgerNumber)
            return filter
        }
    }

    /// The sinks that were listed, or else those of `output.to` and `server`.
    public var outgoingSinks: [Sink] {
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

    /// Patterns of types that no mapping of `set` has, in sentences. A reload may bring them.
    func strayTypes(_ set: MappingSet) -> [String] {
        sinks.flatMap { sink in
            sink.types.filter { type in
                let pattern = NamePattern(type)
                return !set.types.contains { pattern.matches($0.name.utf8) }
            }.map { type in
                let advice = NearestName.advice(for: type, among: set.types.map(\.name), otherwise: "see kymo explain")
                return "sink \(sink.name): no mapping has a type '\(type)'; \(advice)"
            }
        }
    }

    /// Which sinks get what; nil when all get everything.
    func router(_ set: MappingSet) -> BundleRouter? {
        BundleRouter(outgoingSinks.map { $0.filter(sources) }, types: set.types, templates: set.fhirTemplates)
    }
}
