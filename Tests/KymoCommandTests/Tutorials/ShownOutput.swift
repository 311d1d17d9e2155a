/// Output as a page shows it: `…` stands for any text within a line, and alone on a line for any number of lines.
struct ShownOutput: Sendable {
    private static let wildcard: Character = "…"

    var lines: [String]

    /// Whether `output` is what is shown, from its first line to its last.
    func matches(_ output: String) -> Bool {
        var printed = output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if printed.last == "" { printed.removeLast() }
        return ShownOutput.matches(lines[...], printed[...])
    }

    private static func matches(_ shown: ArraySlice<String>, _ printed: ArraySlice<String>) -> Bool {
        guard let first = shown.first else { return printed.isEmpty }
        if first == String(wildcard) {
            return (0...printed.count).contains { matches(shown.dropFirst(), printed.dropFirst($0)) }
        }
        guard let line = printed.first, matches(first, line) else { return false }
        return matches(shown.dropFirst(), printed.dropFirst())
    }

    private static func matches(_ shown: String, _ printed: String) -> Bool {
        let parts = shown.split(separator: wildcard, omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return shown == printed }
        guard printed.hasPrefix(first) else { return false }
        var rest = printed.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard let range = part.isEmpty ? rest.startIndex..<rest.startIndex : rest.firstRange(of: part) else {
                return false
            }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
