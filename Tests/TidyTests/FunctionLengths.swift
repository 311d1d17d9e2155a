/// Finds the functions of a file and how long their bodies are.
enum FunctionLengths {
    struct Function: Equatable {
        var line: Int
        var length: Int
    }

    private static let keywords: Set<Substring> = ["func", "init", "deinit", "subscript"]
    private static let continuations = ["{", "->", "throws", "rethrows", "async", "where"]

    /// The functions of `text` with bodies: line of the keyword, from 1, and lines between the braces, at least 1.
    static func of(_ text: String) -> [Function] {
        let lines = CodeText.of(text).split(separator: "\n", omittingEmptySubsequences: false)
        var found: [Function] = []
        for (number, line) in lines.enumerated() where declares(line) {
            if let length = bodyLength(lines, from: number) { found.append(Function(line: number + 1, length: length)) }
        }
        return found
    }

    /// Whether a line declares a function; `.init(…)` is a call.
    private static func declares(_ line: Substring) -> Bool {
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "`") }
        guard let place = words.firstIndex(where: { keywords.contains($0) }) else { return false }
        return words[..<place].allSatisfy { !["let", "var", "return", "case", "self", "if"].contains($0) }
            && !line.drop { $0 == " " }.hasPrefix("}")
    }

    private static func bodyLength(_ lines: [Substring], from first: Int) -> Int? {
        var round = 0
        var curly = 0
        var opened: Int?
        for number in first..<lines.count {
            if opened == nil, round == 0, number > first, !goesOn(lines[number]) { return nil }
            for character in lines[number] {
                switch character {
                case "(": round += 1
                case ")": round -= 1
                case "{":
                    if round == 0 || opened != nil { curly += 1 }
                    if curly == 1, opened == nil { opened = number }
                case "}" where opened != nil: curly -= 1
                default: break
                }
                if let opened, curly == 0 { return max(1, number - opened - 1) }
            }
        }
        return nil
    }

    private static func goesOn(_ line: Substring) -> Bool {
        let text = line.drop { $0 == " " }
        return text.hasPrefix(")") || continuations.contains { text.hasPrefix($0) }
    }

    /// The middle length, or 0 without functions.
    static func median(_ lengths: [Int]) -> Int {
        lengths.isEmpty ? 0 : lengths.sorted()[lengths.count / 2]
    }
}
