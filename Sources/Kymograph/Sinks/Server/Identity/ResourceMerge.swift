import KymographCore
import KymographTemplates

/// What a resource becomes that a server holds already under its identifier.
enum ResourceMerge {
    /// An Observation is merged as the reference system merges it. A Device stays what it is, with what is new about
    /// it: its patient and other identifiers are the server's. Others are replaced.
    static func merge(
        _ existing: JSONNode, with new: JSONNode, compatibility: Compatibility
    ) throws(ObservationMerge.Failure) -> JSONNode {
        switch new.child("resourceType")?.string {
        case "Observation": return try ObservationMerge.merge(existing, with: new, compatibility: compatibility)
        case "Device": return existing.overlaid(with: new.without(["id", "meta", "identifier"]))
        default:
            var replaced = new
            if let id = existing.child("id") { replaced = replaced.with("id", id) }
            guard let meta = existing.child("meta") else { return replaced }
            return replaced.with("meta", new.child("meta").map(meta.overlaid) ?? meta)
        }
    }
}

extension JSONNode {
    /// The node with the members of `new`, which replace its own.
    fileprivate func overlaid(with new: JSONNode) -> JSONNode {
        (new.members ?? []).reduce(self) { $0.with($1.name, $1.node) }
    }
}
