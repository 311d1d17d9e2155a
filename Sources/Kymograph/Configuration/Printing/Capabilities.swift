import FoundationEssentials
import KymographCore
import KymographTemplates

/// What this program can do, for programs that decide by it. docs/capabilities.schema.json says what it has.
package struct Capabilities: Encodable, Sendable {
    /// A mapping, and the types of readings that it gives.
    package struct Mapping: Encodable, Sendable {
        package var name: String
        /// Whether it is built in; otherwise it was named.
        package var isBuiltIn: Bool
        package var types: [String]
    }

    /// A kind of source.
    package struct Source: Encodable, Sendable {
        /// Its key in the configuration.
        package var kind: String
        /// What is written as address.
        package var form: String
        /// Whether a framing finds its payloads.
        package var hasFraming: Bool
        /// Whether other machines can reach it.
        package var isNetwork: Bool
        /// Most clients at a time, unless the configuration says another number; nil where none connect.
        package var connections: Int?
    }

    /// A kind of sink.
    package struct Sink: Encodable, Sendable {
        /// Its key in the configuration.
        package var kind: String
        /// What is written as its place.
        package var form: String
    }

    /// A number that something may not be beyond.
    package struct Limit: Encodable, Sendable {
        /// Key of the setting, or a name of what cannot be set.
        package var name: String
        /// The number in force.
        package var value: Int
        /// The greatest that the configuration can say; nil for what cannot be set.
        package var most: Int?
        /// `bytes`, `sources`, or `1` for a plain number.
        package var unit: String
    }

    /// The form of this document: greater when a member goes or means something else.
    package var form = 1
    /// Version of kymo.
    package var version = KymographVersion.number
    /// The commit that it was built from.
    package var commit = KymographVersion.commit
    /// Version of the tables of stores that it writes.
    package var storeVersion = StoreSchema.version
    /// Versions of FHIR that it writes.
    package var fhirVersions = FHIRVersion.allCases.map(\.rawValue)
    /// The version of the mapping language that it reads (``MappingDialect``).
    package var mappingDialect = MappingDialect.version
    /// Whose rules mappings can follow.
    package var compatibilities = Compatibility.allCases.map(\.rawValue)
    /// Names of framings.
    package var framings = IngestKinds.builtIn.framings.map(\.name)
    /// Forms of output.
    package var formats = ["bundle", "ndjson", "events"]
    /// Kinds of sources.
    package var sources = IngestKinds.builtIn.sources.map { kind in
        let hasClients = kind.capabilities.contains(.clients)
        return Source(
            kind: kind.key, form: kind.form, hasFraming: kind.capabilities.contains(.framing),
            isNetwork: kind.capabilities.contains(.network), connections: hasClients ? kind.connectionLimit : nil)
    }
    /// Kinds of sinks.
    package var sinks = SinkKinds.builtIn.all.map { Sink(kind: $0.word ?? $0.key, form: $0.form) }
    /// Mappings: those that are built in, and those that were named.
    package var mappings: [Mapping]
    /// Names of all types, each once.
    package var types: [String]
    /// Limits, as `settings` have them.
    package var limits: [Limit]

    /// Those with the mappings that are built in and `named`, by `settings`.
    package init(_ settings: PipelineSettings, named: [(name: String, types: [String])]) {
        let own = named.map { Mapping(name: $0.name, isBuiltIn: false, types: $0.types) }
        mappings = Capabilities.catalogue + own
        types = Set(mappings.flatMap(\.types)).sorted()
        limits = Capabilities.limits(settings)
    }

    /// The mappings of the catalogue, each loaded by itself: two may give a type of one name in other forms.
    private static var catalogue: [Mapping] {
        MappingCatalogue.names.map { name in
            let set = MappingSelection.load([name]).set
            return Mapping(name: name, isBuiltIn: true, types: Set((set?.types ?? []).map(\.name)).sorted())
        }
    }

    /// Every number and size that the configuration bounds, and what cannot be set.
    private static func limits(_ settings: PipelineSettings) -> [Limit] {
        SettingTable.settings.compactMap { limit($0, settings) }
            + [Limit(name: "namedSources", value: ReadingSource.other, most: nil, unit: "sources")]
    }

    private static func limit(_ setting: Setting<PipelineSettings>, _ settings: PipelineSettings) -> Limit? {
        let text = setting.shown(settings)
        switch setting.values {
        case .size(let range):
            return ByteSizeText.parse(text).map {
                Limit(name: setting.key, value: $0, most: range.upperBound, unit: "bytes")
            }
        case .count(let range) where setting.key.hasPrefix("limits.") || setting.key.hasPrefix("output."):
            return Int(text).map { Limit(name: setting.key, value: $0, most: range.upperBound, unit: "1") }
        case .count, .text, .duration, .countOrAuto, .powerOfTwo, .choice, .uri: return nil
        }
    }
}
