import KymographCore
import KymographTemplates

/// Where Observations that are compared come from.
package enum ComparedSide: Sendable {
    /// What a FHIR server has.
    case server(ServerSettings)
    /// Files of NDJSON or JSON: Bundles, or resources.
    case files([File])

    /// A file, which is read when it is its turn.
    package struct File: Sendable {
        /// What messages call it.
        package var name: String
        /// Reads it.
        package var content: @Sendable () throws -> [UInt8]

        /// A file.
        package init(name: String, content: @escaping @Sendable () throws -> [UInt8]) {
            (self.name, self.content) = (name, content)
        }
    }

    /// Hands on each Observation that `selection` wants, with what is known of those it refers to.
    func forEach(
        _ selection: ComparedSelection, _ body: (JSONNode, ReferencedIdentifiers) -> Void
    ) throws {
        switch self {
        case .server(let settings): try ServerObservations(settings).forEach(selection, body)
        case .files(let files):
            for file in files { try Self.forEach(in: file.content(), file.name, body) }
        }
    }

    private static func forEach(
        in content: [UInt8], _ name: String, _ body: (JSONNode, ReferencedIdentifiers) -> Void
    ) throws(PipelineError) {
        var owners = ReferencedIdentifiers(side: name)
        if let whole = JSONNode.answer(content) { return hand(on: whole, &owners, body) }
        for (number, line) in content.split(separator: 0x0A).enumerated() where line.contains(where: { $0 > 0x20 }) {
            guard let node = JSONNode.answer(Array(line)), node.members != nil else {
                throw PipelineError(
                    message:
                        "\(name):\(number + 1): it is no JSON; name files with a Bundle or a resource in each line, "
                        + "or as a whole", exitCode: ExitStatus.dataError)
            }
            hand(on: node, &owners, body)
        }
    }

    private static func hand(
        on node: JSONNode, _ owners: inout ReferencedIdentifiers, _ body: (JSONNode, ReferencedIdentifiers) -> Void
    ) {
        let entries = node.child("resourceType")?.string == "Bundle" ? node.child("entry")?.elements ?? [] : nil
        let resources = entries?.compactMap { entry in
            entry.child("resource").map { (resource: $0, url: entry.child("fullUrl")?.string) }
        }
        for (resource, url) in resources ?? [(node, nil)] { owners.note(resource, fullURL: url) }
        for (resource, _) in resources ?? [(node, nil)] where resource.child("resourceType")?.string == "Observation" {
            body(resource, owners)
        }
    }
}

/// Which Observations are compared.
package struct ComparedSelection: Sendable {
    /// By what two are the same.
    package var key = ComparedObservation.Key.identifier
    /// Those that begin at this time or later, and before this one.
    package var from: Instant?
    package var to: Instant?
    /// What must be equal.
    package var parts = ComparedObservation.Part.allCases
    /// Most that are shown of what differs.
    package var examples = 20

    /// All.
    package init() {}

    /// Whether `observation` begins within the span; with a span, one without time is not.
    func contains(_ observation: ComparedObservation) -> Bool {
        guard from != nil || to != nil else { return true }
        guard let start = observation.start else { return false }
        return start >= from ?? .distantPast && start < to ?? .distantFuture
    }

    /// Compares `first` with `second`.
    ///
    /// - Throws: ``PipelineError``, and what reading a file throws.
    package func compare(
        _ first: ComparedSide, _ second: ComparedSide
    ) throws -> ObservationComparison.Report {
        var comparison = ObservationComparison(of: parts, examples: examples)
        try first.forEach(self) { node, owners in
            let observation = ComparedObservation(node, by: key, owners)
            if contains(observation) { comparison.addFirst(observation) }
        }
        try second.forEach(self) { node, owners in
            let observation = ComparedObservation(node, by: key, owners)
            if contains(observation) { comparison.addSecond(observation) }
        }
        return comparison.finish()
    }
}
