import KymographCore
import KymographTemplates

/// The identifiers of Patients and Devices that Observations refer to: logical ids are another server's own.
struct ReferencedIdentifiers: Sendable {
    /// Texts of identifiers, by what refers to them: `Patient/17`, `urn:uuid:…`.
    private var known: [IdentifierText: IdentifierText] = [:]

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
        return known[IdentifierText(Self.local(target))] ?? IdentifierText(target)
    }

    /// What `reference` is to when that is not known: `Patient/17`; nil when it is known, or no resource of a server.
    func unknown(_ reference: JSONNode) -> String? {
        guard reference.child("identifier") == nil, let target = reference.child("reference")?.string else {
            return nil
        }
        let local = Self.local(target)
        guard known[IdentifierText(local)] == nil, local.split(separator: "/").count == 2, !local.contains("?"),
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

    /// `Patient/17` of `https://fhir.example/r4/Patient/17/_history/2`.
    private static func local(_ target: String) -> String {
        guard target.contains("://") else { return target }
        let parts = target.split(separator: "/")
        let end = parts.firstIndex(of: "_history") ?? parts.endIndex
        return end >= 2 ? parts[(end - 2)..<end].joined(separator: "/") : target
    }

    private static func decoded(_ text: Substring) -> IdentifierText {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return IdentifierText(utf8: bytes)
    }
}
