/// Tags as they are written in configurations: `code`, or `system|code` (FHIR `Observation.meta.tag`).
enum TagText {
    /// Most bytes of one: a reading carries all of its tags.
    private static let longest = 200

    /// The tag `text`, as readings have it.
    ///
    /// - Throws: ``SettingProblem`` where it is none.
    static func parse(_ text: String) throws(SettingProblem) -> String {
        let parts = text.split(separator: "|", omittingEmptySubsequences: false)
        let code = parts[parts.count - 1]
        guard parts.count <= 2, isCode(code), parts.count == 1 || isSystem(parts[0]) else {
            throw SettingProblem(
                message: "'\(text)' is no tag", advice: "write a code, or system|code with an absolute URI as system")
        }
        guard text.utf8.count <= longest else {
            throw SettingProblem(message: "the tag is longer than \(longest) bytes", advice: "shorten it")
        }
        return text
    }

    /// Whether the code of `tag` names a member of what expressions of rules look at.
    static func isPath(_ tag: String) -> Bool {
        let code = tag.split(separator: "|").last ?? ""
        return code.hasPrefix("values.") || ["deviceId", "patientId", "type"].contains(code)
    }

    /// FHIR `code`: no white space but single spaces within.
    private static func isCode(_ text: Substring) -> Bool {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return words.allSatisfy { word in
            !word.isEmpty && word.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 }
        }
    }

    /// FHIR `uri`, absolute.
    private static func isSystem(_ text: Substring) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return false }
        return text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 }
    }
}
