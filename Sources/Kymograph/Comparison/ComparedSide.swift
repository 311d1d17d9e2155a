import KymographCore
import KymographTemplates

/// Where Observations that are compared come from.
package enum ComparedSide: Sendable {
    /// What a FHIR server has.
    case server(ServerSettings)
    /// Files of NDJSON or JSON: Bundles, or resources; and what messages call them together.
    case files([File], name: String)

    /// A file, which is read when it is its turn, and twice.
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
        case .files(let files, let name):
            // Those who are referred to may be in files behind the Observations, as bulk exports have it.
            var owners = ReferencedIdentifiers(side: name)
            for file in files {
                try Self.forEachResource(in: file) { owners.note($0, fullURL: $1) }
            }
            for file in files {
                try Self.forEachResource(in: file) { resource, _ in
                    if resource.child("resourceType")?.string == "Observation" { body(resource, owners) }
                }
            }
        }
    }

    /// Hands on each resource of `file`, with what its Bundle calls it.
    private static func forEachResource(
        in file: File, _ body: (_ resource: JSONNode, _ fullURL: String?) -> Void
    ) throws {
        let content = try file.content()
        if let whole = JSONNode.answer(content) { return forEachResource(of: whole, body) }
        for (number, line) in content.split(separator: 0x0A).enumerated() where line.contains(where: { $0 > 0x20 }) {
            guard let node = JSONNode.answer(Array(line)), node.members != nil else {
                throw PipelineError(
                    message:
                        "\(file.name):\(number + 1): it is no JSON; name files with a Bundle or a resource in each "
                        + "line, or as a whole", exitCode: ExitStatus.dataError)
            }
            forEachResource(of: node, body)
        }
    }

    private static func forEachResource(
        of node: JSONNode, _ body: (_ resource: JSONNode, _ fullURL: String?) -> Void
    ) {
        guard node.child("resourceType")?.string == "Bundle" else { return body(node, nil) }
        for entry in node.child("entry")?.elements ?? [] {
            if let resource = entry.child("resource") { body(resource, entry.child("fullUrl")?.string) }
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
