import KymographTestKit

/// What rows bring to a server for its own sake: everything but the Patients and Devices that are only identifiers.
struct SentContent {
    /// A resource with its References by their place.
    struct Sent {
        var resource: JSONTree
        var references: [String: SentReference]
    }

    /// The last of each identity.
    private(set) var resources: [SentReference: Sent] = [:]
    /// Everything that is referred to.
    var targets: Set<SentReference> { Set(resources.values.flatMap(\.references.values)) }

    init(_ rows: [[UInt8]]) throws {
        for row in rows {
            let entries = try JSONTree(parsing: row)["entry"]?.elements ?? []
            var byURL: [String: JSONTree] = [:]
            for entry in entries { if let url = entry["fullUrl"]?.text { byURL[url] = entry["resource"] } }
            for case let resource? in entries.map({ $0["resource"] }) where !SentContent.isBare(resource) {
                guard let name = SentReference(resource) else { continue }
                resources[name] = Sent(
                    resource: resource, references: SentReference.all(in: resource, entries: byURL))
            }
        }
    }

    private static func isBare(_ resource: JSONTree) -> Bool {
        guard case .object(let members) = resource else { return false }
        return Set(members.keys).isSubset(of: ["resourceType", "identifier", "type"])
    }
}
