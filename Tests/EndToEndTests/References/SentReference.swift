import KymographTestKit

/// A Reference that a row holds, by what it names.
struct SentReference: Hashable {
    /// Type of the resource.
    var type: String
    /// Its identifier, as searches write it.
    var identifier: String

    /// All References in `resource` by their place; `entries` are those of the bundle by `fullUrl`.
    static func all(in resource: JSONTree, entries: [String: JSONTree]) -> [String: SentReference] {
        var found: [String: SentReference] = [:]
        for (place, node) in places(in: resource) {
            if let url = node["reference"]?.text {
                guard let entry = entries[url], let named = SentReference(entry) else {
                    found[place] = SentReference(type: "nothing", identifier: url)
                    continue
                }
                found[place] = named
            } else {
                found[place] = SentReference(
                    type: node["type"]?.text ?? "", identifier: token(node["identifier"]))
            }
        }
        return found
    }

    init(type: String, identifier: String) {
        self.type = type
        self.identifier = identifier
    }

    /// What `resource` is named by; nil without identifier.
    init?(_ resource: JSONTree) {
        guard let type = resource["resourceType"]?.text, let identifier = resource["identifier"]?.elements?.first
        else { return nil }
        self.init(type: type, identifier: SentReference.token(identifier))
    }

    private static func token(_ identifier: JSONTree?) -> String {
        "\(identifier?["system"]?.text ?? "")|\(identifier?["value"]?.text ?? "")"
    }

    /// All References in a resource, by their place.
    static func places(in node: JSONTree, at place: String = "") -> [(place: String, node: JSONTree)] {
        switch node {
        case .object(let members):
            if members["reference"]?.text != nil { return [(place, node)] }
            if case .object? = members["identifier"], members["resourceType"] == nil { return [(place, node)] }
            return members.sorted { $0.key < $1.key }.flatMap { places(in: $0.value, at: "\(place).\($0.key)") }
        case .array(let elements):
            return elements.enumerated().flatMap { places(in: $1, at: "\(place)[\($0)]") }
        default: return []
        }
    }
}
