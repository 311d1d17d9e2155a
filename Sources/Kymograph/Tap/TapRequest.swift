package import KymographCore

/// What `kymo tap` asks a running instance to show.
package struct TapRequest: Codable, Sendable {
    /// Where in the pipeline.
    package enum Stage: String, Codable, CaseIterable, Sendable {
        /// What sources receive.
        case payload
        /// Readings that mappings make of it.
        case measurement
        /// Resources on their way to sinks.
        case observation
    }

    /// How events are written.
    package enum Format: String, Codable, CaseIterable, Sendable {
        /// With the stage, the source and what the pipeline knows besides.
        case json
        /// As normalised events of iomt-fhir; of the stage `measurement` only.
        case events
    }

    /// Where in the pipeline.
    package var stage: Stage
    /// How events are written; nil for ``Format/json``.
    package var format: Format?
    /// The device whose events are shown, compared byte by byte and in full; nil for all.
    package var device: IdentifierText?
    /// The type of measurement whose events are shown; nil for all.
    package var type: String?
    /// Most events per second, 1 to ``mostRate``.
    package var rate: Int
    /// Whether identifiers and contents are shown.
    package var reveals: Bool

    /// Most events per second that can be asked for.
    package static let mostRate = 1_000

    /// A request.
    package init(_ stage: Stage, device: IdentifierText?, type: String?, rate: Int, reveals: Bool) {
        (self.stage, self.device, self.type, self.rate, self.reveals) = (stage, device, type, rate, reveals)
    }
}

/// What an instance answers before the first event.
package struct TapOpening: Codable, Sendable {
    /// Process id of the instance.
    package var process: Int32
    /// Types of measurements that its mappings know.
    package var types: [String]
}
