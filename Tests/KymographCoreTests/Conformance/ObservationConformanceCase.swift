import Foundation
import Kymograph
import KymographCore
import KymographTemplates

/// One case of the reference system's own suite, of those about series, grouping and Observations without a server.
struct ObservationConformanceCase {
    let id: String
    let operation: String
    let template: JSONNode?
    let input: JSONNode
    let expected: JSONNode

    /// Operations of kind `fhir` that need no server, and that `FHIRConformanceSuiteTests` does not run.
    private static let fhirOperations: Set<String> = [
        "create_value", "merge_value", "create_observation", "merge_observation", "observation_groups",
        "observation_identifier", "reference_id", "resource_id",
    ]

    static func load(from root: URL) throws -> [ObservationConformanceCase] {
        let all = try JSONText.parse(Data(contentsOf: root.appendingPathComponent("conformance/cases.json")))
        return (all.elements ?? []).compactMap(ObservationConformanceCase.init)
    }

    private init?(_ node: JSONNode) {
        guard let kind = node["kind"]?.string, let operation = node["op"]?.string, let id = node["id"]?.string,
            let input = node["input"], let expected = node["expected"]
        else { return nil }
        if case .bool(false)? = node["in_scope"]?.value { return nil }
        let isOurs = kind == "fhir" && Self.fhirOperations.contains(operation)
        guard isOurs || ["sampleddata", "grouping"].contains(kind) else { return nil }
        self.id = id
        self.operation = operation
        self.input = input
        self.expected = expected
        template = node["template"].flatMap { $0.isNull ? nil : $0 }
    }
}

extension JSONNode {
    /// The instant that a text says.
    var instant: Instant? {
        guard let string else { return nil }
        let storage = PaddedBytes(copying: string.utf8)
        return TimestampParser.iso8601(storage.view)?.instant
    }

    /// `[time, text]` pairs.
    var samples: [SeriesSample] {
        (elements ?? []).compactMap { pair in
            guard let instant = pair["0"]?.instant, let text = pair["1"]?.string else { return nil }
            return SeriesSample(instant: instant, text: text)
        }
    }
}
