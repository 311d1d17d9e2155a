/// Whether a JSONPath begins where it is evaluated: at the envelope, or at the match.
enum EnvelopePath {
    private static let sections = ["Body", "Properties", "SystemProperties"]

    /// What was probably meant by the match expression `text`, which begins at the envelope; nil when it is well.
    static func meantByMatch(_ text: String) -> String? {
        guard let first = firstName(of: text), !sections.contains(first) else { return nil }
        return "$.Body.\(rest(of: text))"
    }

    /// What was probably meant by `text`, an expression of a template of this kind whose match expression is `match`.
    static func meant(by text: String, _ kind: DeviceTemplateKind, match: String) -> String? {
        guard let first = firstName(of: text) else { return nil }
        if kind == .calculated {
            return sections.contains(first) || first == "matchedToken" ? nil : "$.Body.\(rest(of: text))"
        }
        // A match that looks at sections of the envelope is the envelope itself; one without any name can be.
        let mayBeEnvelope = sections.contains(where: match.contains) || !match.contains(where: \.isLetter)
        guard first == "Body", !mayBeEnvelope, rest(of: text).count > 5 else { return nil }
        return "$.\(rest(of: text).dropFirst(5))"
    }

    /// The member with which a path begins; nil when it begins otherwise, as `$..name` and `$['a']` do.
    private static func firstName(of text: String) -> String? {
        let rest = rest(of: text)
        let name = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" })
        return name.isEmpty ? nil : name
    }

    /// The path without the root and its point.
    private static func rest(of text: String) -> String {
        guard text.hasPrefix("$") else { return text.hasPrefix(".") ? "" : text }
        return text.hasPrefix("$.") ? String(text.dropFirst(2)) : ""
    }
}
