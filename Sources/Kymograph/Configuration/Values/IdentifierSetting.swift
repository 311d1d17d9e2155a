import KymographCore

/// Identifiers that the configuration or the command line states for readings that have none.
package enum IdentifierSetting {
    /// What is wrong with `text` as an identifier; nil where it can be one.
    package static func problem(_ text: String) -> String? {
        // What the system hands on as text has that in place of bytes that are not UTF-8.
        if text.unicodeScalars.contains("\u{FFFD}") { return "the identifier is not UTF-8, or holds U+FFFD" }
        let isIdentifier = Array(text.utf8).withByteView(\.isIdentifier)
        return isIdentifier ? nil : "the identifier holds a control character"
    }

    /// What to do about it.
    package static let advice = "write it in UTF-8 without control characters, as readings that name their own have it"

    /// `text`, unless it can be no identifier.
    static func parse(_ text: String, _ form: String) throws(SettingProblem) -> String {
        guard !text.isEmpty else { throw .empty(form) }
        if let problem = problem(text) { throw SettingProblem(message: problem, advice: advice) }
        return text
    }
}
