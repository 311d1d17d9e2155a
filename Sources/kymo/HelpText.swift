/// The help of a command, in the order in which it is read: what it is for, how it is called, an example, the rest.
enum HelpText {
    /// What the parser has made, with its usage and its examples behind the first paragraph, each in one line.
    static func arranged(_ text: String) -> String {
        guard let usage = text.firstRange(of: "\n\nUSAGE: ") else { return text }
        let paragraphs = String(text[..<usage.lowerBound]).split(paragraphs: "\n\n")
        let rest = String(text[usage.upperBound...]).split(paragraphs: "\n\n")
        let examples = paragraphs.filter { $0.hasPrefix("Example: ") }.map { $0.replacing("\n", with: " ") }
        let others = paragraphs.dropFirst().filter { !$0.hasPrefix("Example: ") }
        let all = [paragraphs[0], "USAGE: \(rest[0])"] + examples + others + rest.dropFirst()
        return all.joined(separator: "\n\n")
    }
}

extension String {
    fileprivate func split(paragraphs separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
