import Foundation
import Kymograph
import KymographCore
import KymographTemplates

/// One case of the reference system's own suite of kind `validation`, operation `validate`.
struct ValidationCase {
    let id: String
    /// Text of the mapping files; nil where the case has none.
    let device: MappingFile?
    let fhir: MappingFile?
    /// Events as they would be received; the case's null events are left out, as the reference does.
    let events: [[UInt8]]
    let isAggregated: Bool
    let expected: [String: Any]

    /// The folder that `KYMO_SHARED` names; the suite is skipped without.
    static let root = ProcessInfo.processInfo.environment["KYMO_SHARED"].map { URL(fileURLWithPath: $0) }

    /// All cases in scope.
    static func load(from root: URL) throws -> [ValidationCase] {
        let folder = root.appendingPathComponent("conformance")
        let data = try Data(contentsOf: folder.appendingPathComponent("cases.json"))
        let all = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
        return try all.filter { $0["op"] as? String == "validate" && $0["in_scope"] as? Bool != false }
            .map { try ValidationCase($0, folder) }
    }

    private init(_ node: [String: Any], _ folder: URL) throws {
        func file(_ name: String) throws -> MappingFile? {
            let template = node["template"] as? [String: Any]
            guard let path = (template?[name] as? [String: Any])?["file"] as? String else { return nil }
            return MappingFile(
                name: "\(name).json", bytes: Array(try Data(contentsOf: folder.appendingPathComponent(path))))
        }
        id = node["id"] as? String ?? ""
        device = try file("device")
        fhir = try file("fhir")
        let input = node["input"] as? [String: Any] ?? [:]
        isAggregated = input["aggregate"] as? Bool ?? false
        events = try (input["events"] as? [Any] ?? []).compactMap { $0 as? [String: Any] }.map {
            Array(try JSONSerialization.data(withJSONObject: $0))
        }
        expected = node["expected"] as? [String: Any] ?? [:]
    }

    /// What checking the files finds, and the set when they can be used.
    func loaded() -> (set: MappingSet?, diagnostics: [Diagnostic]) {
        if let device {
            let mapping = NamedMapping(name: "m", device: device, fhir: fhir)
            let result = MappingLoader.load([mapping], measurementsOnly: fhir == nil)
            return (result.set, result.diagnostics)
        }
        // A FHIR mapping alone: kymo has no use for one, and its reader is checked by itself.
        var log = DiagnosticLog(file: fhir?.name ?? "")
        if let fhir, let root = JSONNode.parse(fhir.bytes, log: &log) { _ = FHIRTemplateLoader.load(root, log: &log) }
        return (nil, log.all)
    }
}
