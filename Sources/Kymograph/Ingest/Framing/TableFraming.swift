import KymographCore
import KymographTemplates

/// A table of text, as RFC 4180 has it: each row becomes a JSON object with the names of the columns.
package struct TableFraming: Hashable, Sendable {
    /// What is between fields.
    package var delimiter = UInt8(ascii: ",")
    /// The first byte of lines that are left out; nil for none.
    package var comment: UInt8?
    /// Names of the columns; nil when the first row has them.
    package var columns: [String]?
    /// Whether blanks around fields without quotes are left out.
    package var isTrimmed = false

    private static let delimiters: [(name: String, byte: UInt8)] = [
        ("comma", UInt8(ascii: ",")), ("semicolon", UInt8(ascii: ";")), ("tab", 0x09), ("bar", UInt8(ascii: "|")),
    ]

    /// Commas between the fields, and the names of the columns in the first row.
    package init() {}

    /// Reads the options of `csv`.
    ///
    /// - Throws: ``SettingProblem`` for a word that is none of them.
    static func parse(_ words: [String]) throws(SettingProblem) -> StreamFraming {
        var framing = TableFraming()
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count) {
            case ("trim", 1): framing.isTrimmed = true
            case ("delimiter", 2): framing.delimiter = try delimiter(parts[1])
            case ("comment", 2): framing.comment = try character(parts[1])
            case ("columns", 2): framing.columns = try names(parts[1])
            default:
                throw SettingProblem(
                    message: "'csv' has no option '\(word)'",
                    advice: "write delimiter=semicolon, comment=#, columns=a|b or trim, with commas between")
            }
        }
        return .table(framing)
    }

    private static func delimiter(_ word: String) throws(SettingProblem) -> UInt8 {
        if let named = delimiters.first(where: { $0.name == word }) { return named.byte }
        return try character(word)
    }

    private static func character(_ word: String) throws(SettingProblem) -> UInt8 {
        let bytes = Array(word.utf8)
        guard bytes.count == 1, bytes[0] > 0x20, bytes[0] < 0x7F, bytes[0] != UInt8(ascii: "\"") else {
            throw SettingProblem(
                message: "'\(word)' is no delimiter and no character that begins a comment",
                advice: "write one character other than a quote, or comma, semicolon, tab or bar as delimiter")
        }
        return bytes[0]
    }

    private static func names(_ word: String) throws(SettingProblem) -> [String] {
        let names = word.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard !names.contains(""), Set(names).count == names.count else {
            throw SettingProblem(
                message: "'\(word)' names a column twice, or not at all",
                advice: "write each name once, with | between: columns=device|time|value")
        }
        return names
    }

    /// The framing as one would write it.
    var text: String {
        var words = ["csv"]
        if delimiter != UInt8(ascii: ",") {
            let name = TableFraming.delimiters.first { $0.byte == delimiter }?.name
            words.append("delimiter=\(name ?? String(UnicodeScalar(delimiter)))")
        }
        if let comment { words.append("comment=\(UnicodeScalar(comment))") }
        if let columns { words.append("columns=\(columns.joined(separator: "|"))") }
        if isTrimmed { words.append("trim") }
        return words.joined(separator: ",")
    }
}
