import KymographCore

/// Tags as they are written in configurations: `code`, or `system|code` (FHIR `Observation.meta.tag`).
enum TagText {
    /// The tag `text`, as readings have it.
    ///
    /// - Throws: ``SettingProblem`` where it is none.
    static func parse(_ text: String) throws(SettingProblem) -> String {
        let parts = text.split(separator: "|", omittingEmptySubsequences: false)
        let code = parts[parts.count - 1]
        guard parts.count <= 2, ReadingTags.isCode(code), parts.count == 1 || isSystem(parts[0]) else {
            throw SettingProblem(
                message: "'\(text)' is no tag", advice: "write a code, or system|code with an absolute URI as system")
        }
        guard text.utf8.count <= ReadingTags.longestTag else {
            throw SettingProblem(
                message: "the tag is longer than \(ReadingTags.longestTag) bytes", advice: "shorten it")
        }
        return text
    }

    /// The system `text`, of tags whose codes come from readings.
    ///
    /// - Throws: ``SettingProblem`` where it is none, or leaves no room for a code.
    static func system(_ text: String) throws(SettingProblem) -> String {
        guard isSystem(text[...]), !text.utf8.contains(UInt8(ascii: "|")) else {
            throw SettingProblem(
                message: "'\(text)' is no system",
                advice: "write an absolute URI without '|', for instance https://study.example/arms")
        }
        let longest = ReadingTags.longestTag - "|c".utf8.count
        guard text.utf8.count <= longest else {
            throw SettingProblem(message: "the system is longer than \(longest) bytes", advice: "shorten it")
        }
        return text
    }

    /// Where the code of `tag` names a member of what expressions of rules look at, the element of `tag` that adds what
    /// the member holds.
    static func meantElement(_ tag: String) -> String? {
        let parts = tag.split(separator: "|")
        guard let code = parts.last, code.hasPrefix("values.") || ["deviceId", "patientId", "type"].contains(code)
        else { return nil }
        return parts.count == 1 ? "{from: \(code)}" : "{from: \(code), system: \"\(parts[0])\"}"
    }

    /// FHIR `uri`, absolute.
    private static func isSystem(_ text: Substring) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return false }
        return text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 }
    }
}
