import KymographCore
import KymographTemplates

/// The identifiers of Patients and Devices that Observations refer to: logical ids are another server's own.
struct ReferencedIdentifiers: Sendable {
    /// Texts of identifiers, by what refers to them: `Patient/17`, `urn:uuid:…`.
    private var known: [IdentifierText: IdentifierText] = [:]
    /// What was asked for without an answer.
    private var missing: Set<IdentifierText> = []
    /// Where it is from: whom a reference is to that no one could resolve is known there only, and another's
    /// `Patient/17` is somebody else.
    private let side: String
    /// The server's address, below which references are its own; empty for files.
    private let base: String

    /// Of the `side` that is `base`.
    init(side: String, base: String = "") { (self.side, self.base) = (side, base) }

    /// Notes that the server does not tell who `reference` is.
    mutating func note(missing reference: String) { missing.insert(IdentifierText(reference)) }

    /// Notes a resource by the ways in which it is referred to.
    mutating func note(_ resource: JSONNode, fullURL: String?) {
        let texts = Self.texts(resource.child("identifier"))
        guard let type = resource.child("resourceType")?.string, !texts.isEmpty else { return }
        let text = IdentifierText(joining: texts)
        if let id = resource.child("id")?.string { known[IdentifierText("\(type)/\(id)")] = text }
        if let fullURL { known[IdentifierText(fullURL)] = text }
    }

    /// What `reference` is to, as a text that is the same in every system: identifiers, else the reference as it is.
    func text(of reference: JSONNode) -> IdentifierText {
        if let identifier = reference.child("identifier") { return IdentifierText(joining: Self.texts(identifier)) }
        guard let target = reference.child("reference")?.string else {
            return IdentifierText(ComparedText.of(reference))
        }
        if let mark = target.firstRange(of: "?identifier=") { return Self.decoded(target[mark.upperBound...]) }
        return known[IdentifierText(local(target))] ?? IdentifierText("\(target) of \(side)")
    }

    /// What `reference` is to when that is not known: `Patient/17`; nil when it is known, or no resource of a server.
    func unknown(_ reference: JSONNode) -> String? {
        guard reference.child("identifier") == nil, let target = reference.child("reference")?.string else {
            return nil
        }
        let local = local(target)
        guard known[IdentifierText(local)] == nil, !missing.contains(IdentifierText(local)),
            local.split(separator: "/").count == 2, !local.contains("?"),
            !local.contains(":")
        else { return nil }
        return local
    }

    /// `system|value` of each of `identifiers`, in order; without those that are only the whole text of another.
    static func texts(_ identifiers: JSONNode?) -> [IdentifierText] {
        let all = identifiers.map { $0.elements ?? [$0] } ?? []
        return all.filter { $0.child("use")?.string != "secondary" }.map { one in
            IdentifierText("\(one.child("system")?.string ?? "")|\(one.child("value")?.string ?? "")")
        }.sorted()
    }

    /// `Patient/17` of `https://fhir.example/r4/Patient/17/_history/2`, when that is below the server's address.
    private func local(_ target: String) -> String {
        let isOwn = !base.isEmpty && target.hasPrefix(base + "/")
        guard isOwn || !target.contains("://") else { return target }
        let parts = (isOwn ? target.dropFirst(base.count + 1) : target[...]).split(separator: "/")
        let end = parts.firstIndex(of: "_history") ?? parts.endIndex
        return parts[..<end].joined(separator: "/")
    }

    private static func decoded(_ text: Substring) -> IdentifierText {
        IdentifierText(utf8: PercentEscapes.decoded(Array(text.utf8)[...]))
    }
}
