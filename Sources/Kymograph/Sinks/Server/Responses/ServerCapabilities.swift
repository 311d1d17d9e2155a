import KymographCore
import KymographTemplates

/// What a server says that it can do (its CapabilityStatement).
package struct ServerCapabilities: Hashable, Sendable {
    /// `fhirVersion`, such as `4.0.1`.
    package var version = ""
    /// Name and version of its software, empty when it does not tell.
    package var software = ""
    /// Whether it processes transactions.
    package var hasTransaction = false
    /// Whether it processes batches.
    package var hasBatch = false
    /// Types of resources that `PUT <type>/<id>` may make.
    package var updateCreateTypes: Set<String> = []
    /// Types of resources that it states interactions for, and none that deletes.
    package var undeletableTypes: Set<String> = []

    /// Of a server that has said nothing.
    init() {}

    /// Reads a CapabilityStatement; nil when the node is none.
    init?(_ node: JSONNode?) {
        guard let node, node.child("resourceType")?.string == "CapabilityStatement" else { return nil }
        version = node.child("fhirVersion")?.string ?? ""
        let names = [node.child("software")?.child("name"), node.child("software")?.child("version")]
        software = names.compactMap { $0?.string }.joined(separator: " ")
        let rest = node.child("rest")?.elements?.first { $0.child("mode")?.string != "client" }
        let interactions = (rest?.child("interaction")?.elements ?? []).compactMap { $0.child("code")?.string }
        hasTransaction = interactions.contains("transaction")
        hasBatch = interactions.contains("batch")
        let resources = rest?.child("resource")?.elements ?? []
        for resource in resources {
            guard let type = resource.child("type")?.string else { continue }
            if case .bool(true)? = resource.child("updateCreate")?.value { updateCreateTypes.insert(type) }
            guard let stated = resource.child("interaction")?.elements else { continue }
            if !stated.contains(where: { $0.child("code")?.string == "delete" }) { undeletableTypes.insert(type) }
        }
    }

    /// Why `wanted` cannot be delivered to this server, and what to do; nil when it can.
    func refusal(of wanted: FHIRVersion, base: String) -> String? {
        guard let found = ServerCapabilities.release(version) else {
            return
                "\(base) states no version of FHIR that is known here ('\(version)'): is it the base URL of the server?"
        }
        guard found == wanted || (found.isR4 && wanted.isR4) else {
            return "\(base) is FHIR \(found.rawValue) (\(version)), the output is \(wanted.rawValue): set "
                + "output.fhirVersion to \(found.rawValue), or take another server"
        }
        guard hasTransaction || hasBatch else {
            return "\(base) processes neither transactions nor batches: take a server that does one of them"
        }
        return nil
    }

    /// Whether it is of R4 or R4B.
    var isR4: Bool { Self.release(version)?.isR4 ?? false }

    /// Why Observations cannot be deleted on this server, and what to do; nil when they can as far as it says.
    func refusalToDelete(base: String) -> String? {
        guard undeletableTypes.contains("Observation") else { return nil }
        return
            "\(base) states no delete interaction for Observation: set emptied of this server to entered-in-error, or "
            + "have the server allow it"
    }

    /// What will be done with this server, in words.
    func verdict(base: String, updatesByID: Bool) -> String {
        let name = software.isEmpty ? "" : ", \(software)"
        let bundles = hasTransaction ? "transactions" : "batches, as it has no transactions"
        let updates = updatesByID ? "updates by id" : "conditional updates, as it does not state updateCreate"
        return "\(base): FHIR \(version)\(name); \(bundles); \(updates)"
    }

    private static func release(_ version: String) -> FHIRVersion? {
        switch version.split(separator: ".").prefix(2).joined(separator: ".") {
        case "3.0": .stu3
        case "4.0": .r4
        case "4.3": .r4b
        case "5.0": .r5
        default: nil
        }
    }
}

extension FHIRVersion {
    fileprivate var isR4: Bool { self == .r4 || self == .r4b }
}
