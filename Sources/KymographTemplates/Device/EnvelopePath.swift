import KymographCore

/// Whether a JSONPath begins where it is evaluated: at the envelope, or at the match.
enum EnvelopePath {
    private static let sections = ["Body", "Properties", "SystemProperties"]

    /// What was probably meant by the match expression `text`, which begins at the envelope; nil when it is well.
    static func meantByMatch(_ text: String) -> String? {
        guard let path = Beginning(text), !sections.contains(path.name) else { return nil }
        return "$.Body\(path.steps)"
    }

    /// What was probably meant by the match expression `text`, which selects nothing of the envelope, where it selects
    /// something of the payload; nil where it does not begin with brackets.
    static func inBody(_ text: String) -> String? { text.hasPrefix("$[") ? "$.Body\(text.dropFirst())" : nil }

    /// What was probably meant by `text`, an expression of a template of this kind whose match expression is `match`.
    static func meant(by text: String, _ kind: DeviceTemplateKind, match: String) -> String? {
        guard let path = Beginning(text) else { return nil }
        if kind == .calculated {
            return sections.contains(path.name) || path.name == "matchedToken" ? nil : "$.Body\(path.steps)"
        }
        // A match that looks at sections of the envelope is the envelope itself; one without any name can be.
        let mayBeEnvelope = sections.contains(where: match.contains) || !match.contains(where: \.isLetter)
        guard path.name == "Body", !mayBeEnvelope, path.further.count > 1 else { return nil }
        return "$\(path.further)"
    }

    /// The member with which a path begins.
    private struct Beginning {
        var name: String
        /// The path behind its root, the member included: `.a.b` or `['a'].b`.
        var steps: Substring
        /// The path behind the member.
        var further: Substring

        /// Nil when `text` begins otherwise, as `$..name` and `$[0]` do.
        init?(_ text: String) {
            steps = text.hasPrefix("$") ? text.dropFirst() : text.hasPrefix(".") ? "" : Substring("." + text)
            if steps.hasPrefix(".") {
                let rest = steps.dropFirst()
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
                guard !name.isEmpty else { return nil }
                (self.name, further) = (String(name), rest[name.endIndex...])
                return
            }
            guard let quote = steps.dropFirst().first, steps.first == "[", quote == "'" || quote == "\"" else {
                return nil
            }
            let rest = steps.dropFirst(2)
            let name = rest.prefix { $0 != quote && $0 != "\\" }
            guard rest[name.endIndex...].hasPrefix("\(quote)]") else { return nil }
            (self.name, further) = (String(name), rest[name.endIndex...].dropFirst(2))
        }
    }
}
