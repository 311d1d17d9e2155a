import KymographCore
import KymographTemplates

/// Observations that are kept as nodes.
extension JSONNode {
    /// The `value…` member of an Observation or component.
    var valueMember: Member? {
        members?.first { $0.name.hasPrefix("value") && $0.name.count > "value".count }
    }

    /// Whether both components are of the same thing: one coding of the reference's system in common, or any where
    /// this one has none of that system; without codings, the same text.
    func isSameComponent(as other: JSONNode) -> Bool {
        let mine = codings
        let own = mine.filter { $0.system == Compatibility.iomtFHIRSystem }
        guard !mine.isEmpty else { return member("code")?.sortedText == other.member("code")?.sortedText }
        let theirs = other.codings
        return (own.isEmpty ? mine : own).contains { coding in
            theirs.contains { $0.system == coding.system && $0.code == coding.code }
        }
    }

    private var codings: [(system: String?, code: String?)] {
        (member("code")?.member("coding")?.elements ?? []).map {
            ($0.member("system")?.string, $0.member("code")?.string)
        }
    }
}
