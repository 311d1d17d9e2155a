import KymographCore
import KymographTemplates

/// One Observation, as far as two systems must agree on it.
///
/// What systems number or stamp for themselves is left out: `id`, `meta`, `issued`, the narrative `text`, and
/// identifiers that are only the whole text of another (`use: secondary`).
package struct ComparedObservation: Sendable {
    /// By what Observations of two systems are known to be the same.
    package enum Key: String, CaseIterable, Sendable {
        /// Their identifiers.
        case identifier
        /// Code, subject, device and effective time: for systems whose identifiers hold logical ids of their server.
        case content
    }

    /// Parts of it that can differ, each as a text that is equal where the meaning is.
    package enum Part: String, CaseIterable, Sendable {
        case status, category, code, subject, device, encounter, effective, value, components, others
    }

    /// What tells it apart; the same in both systems.
    let identity: IdentifierText
    /// Compared by their bytes, since identifiers are among them.
    let parts: [Part: IdentifierText]

    /// Members that are no part, or a part by themselves.
    private static let known: Set = [
        "resourceType", "id", "meta", "issued", "text", "identifier", "contained", "status", "category", "code",
        "subject", "device", "encounter", "component",
    ]

    /// Reads `observation`, whose references are to what `owners` know.
    init(_ observation: JSONNode, by key: Key, _ owners: ReferencedIdentifiers) {
        var parts: [Part: IdentifierText] = [:]
        for name in [Part.status, .category, .code] {
            parts[name] = observation.child(name.rawValue).map { IdentifierText(ComparedText.of($0)) }
        }
        parts[.subject] = observation.child("subject").map { owners.text(of: $0) }
        parts[.device] = observation.child("device").map { owners.text(of: $0) }
        parts[.encounter] = observation.child("encounter").map { owners.text(of: $0) }
        parts[.components] = observation.child("component").map { IdentifierText(ComparedText.of($0)) }
        var others: [IdentifierText] = []
        for member in observation.members ?? [] where !Self.known.contains(member.name) && !member.node.isNull {
            let text = IdentifierText("\(JSONText.quoted(member.name)):\(ComparedText.of(member.node))")
            if member.name.hasPrefix("effective") {
                parts[.effective] = IdentifierText(ComparedText.ofTimes(member.node))
            } else if member.name.hasPrefix("value") {
                parts[.value] = text
            } else {
                others.append(text)
            }
        }
        if !others.isEmpty { parts[.others] = IdentifierText(joining: others.sorted()) }
        self.parts = parts
        switch key {
        case .identifier: identity = Self.identifiers(observation)
        case .content:
            identity = IdentifierText(joining: [Part.code, .subject, .device, .effective].map { parts[$0] ?? "" })
        }
    }

    /// When it begins; nil when it does not say, or not as a time.
    var start: Instant? { parts[.effective].flatMap { ComparedText.start(ofTimes: $0.text) } }

    /// Those of `wanted` in which it differs from `other`.
    func differences(from other: ComparedObservation, in wanted: [Part]) -> [Part] {
        wanted.filter { parts[$0] != other.parts[$0] }
    }

    private static func identifiers(_ observation: JSONNode) -> IdentifierText {
        IdentifierText(joining: ReferencedIdentifiers.texts(observation.child("identifier")))
    }
}

extension IdentifierText {
    /// `parts` with blanks between them.
    init(joining parts: [IdentifierText]) { self.init(utf8: Array(parts.map(\.utf8).joined(separator: [0x20]))) }
}
