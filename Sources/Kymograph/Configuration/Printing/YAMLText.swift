import KymographCore

/// Writes texts and lists as YAML that the configuration reader takes for the same.
enum YAMLText {
    /// A text, in quotes where YAML would take it for something else.
    static func scalar(_ text: String) -> String {
        let text = VariableText.escaping(text)
        let letters = "_./+-:@*"
        let isPlain =
            text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || letters.contains($0)) }
            && text.first.map { $0.isLetter || $0.isNumber || "./".contains($0) } ?? false && !text.hasSuffix(":")
            && !ConfigurationNode.isNull(text) && !isOctal(text)
        return isPlain ? text : quoted(text)
    }

    /// Whether other readers may take it for a number with another value.
    private static func isOctal(_ text: String) -> Bool { text.count > 1 && text.hasPrefix("0") && Int(text) != nil }

    /// A list in brackets; a single element stands for itself.
    static func list(_ texts: [String]) -> String {
        guard texts.count != 1 else { return scalar(texts[0]) }
        // Colons within brackets mean different things to different readers.
        let scalars = texts.map { $0.contains(":") ? quoted(VariableText.escaping($0)) : scalar($0) }
        return "[\(scalars.joined(separator: ", "))]"
    }

    /// `text` as a comment, on one line.
    static func comment(_ text: String) -> String {
        "# "
            + PrintableText.line(
                text.map { $0.unicodeScalars.contains { $0.value < 0x20 } ? " " : String($0) }.joined())
    }

    /// In double quotes, as JSON has it: YAML has its escapes.
    private static func quoted(_ text: String) -> String { JSONValue.quoted(text) }
}
