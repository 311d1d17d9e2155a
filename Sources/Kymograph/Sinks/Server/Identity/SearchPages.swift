import KymographCore
import KymographTemplates

/// A page of what a search found.
struct SearchPage {
    /// The resources of the type that was searched.
    let resources: [JSONNode]
    /// Where the next page is, if there is one.
    let next: String?

    /// Reads a searchset; nil when `body` is no whole answer.
    init?(_ body: [UInt8], type: String) {
        guard let bundle = JSONNode.answer(body), bundle.child("resourceType")?.string == "Bundle" else { return nil }
        let found = (bundle.child("entry")?.elements ?? []).compactMap { $0.child("resource") }
        resources = found.filter { $0.child("resourceType")?.string == type }
        let links = bundle.child("link")?.elements ?? []
        next = links.first { $0.child("relation")?.string == "next" }?.child("url")?.string
    }
}

/// What a search by identifier has found so far.
///
/// Servers find more than was asked for: tokens without regard to case (as STU3 says), by their beginning, or by their
/// first characters. Only a resource that has the very identifier counts, byte by byte.
struct SearchPages {
    /// Most pages of a search by identifier, which should have one resource.
    private static let mostPages = 20

    /// Resources that have the identifier, one for each id.
    private(set) var found: [JSONNode] = []
    /// Whether there were resources that do not have it.
    private(set) var hasOthers = false
    private var seen: Set<IdentifierText> = []
    private var pages = 0

    /// Adds a page. With `anySystem`, an identifier without system is that of every system, as in the reference.
    mutating func add(_ page: SearchPage, namedBy identifier: ServerIdentifier, anySystem: Bool) {
        pages += 1
        for resource in page.resources {
            guard resource.isNamed(by: identifier, anySystem: anySystem) else {
                hasOthers = true
                continue
            }
            guard let id = resource.child("id")?.string else {
                found.append(resource)
                continue
            }
            if seen.insert(IdentifierText(id)).inserted { found.append(resource) }
        }
    }

    /// The address of the page `next`; nil when it is not the server's, or comes after too many.
    func url(of next: String, base: String) -> String? {
        guard pages < Self.mostPages else { return nil }
        if next.hasPrefix(base + "/") || next.hasPrefix(base + "?") { return next }
        return next.contains("://") || next.hasPrefix("/") ? nil : "\(base)/\(next)"
    }

    /// Why nobody can tell whose an identifier is.
    static func endless(_ identifier: ServerIdentifier) -> ServerRefusal {
        ServerRefusal(
            status: 200,
            message: "the search for \(identifier.type) with the identifier \(identifier.text) has more than "
                + "\(mostPages) pages, or goes on at another server",
            reason: .identityAmbiguous)
    }
}

extension JSONNode {
    /// Whether one of the resource's identifiers is `identifier`, byte by byte.
    fileprivate func isNamed(by identifier: ServerIdentifier, anySystem: Bool) -> Bool {
        guard let own = child("identifier") else { return false }
        return (own.elements ?? [own]).contains { one in
            guard let value = one.child("value")?.string, IdentifierText(value) == identifier.value else {
                return false
            }
            if anySystem, identifier.system.isEmpty { return true }
            return IdentifierText(one.child("system")?.string ?? "") == identifier.system
        }
    }
}
