/// A `switch` over an enumeration of our own names every case, so that whoever adds one is shown by the compiler where it
/// needs an answer. `case _` hides a new case just as `default` does.
enum SwitchRules {
    /// Files whose switches are over enumerations of libraries, which may get cases that nobody here knows.
    private static let others = [
        "Sources/Kymograph/Configuration/ConfigurationText.swift": "errors of Yams"
    ]

    /// Each `default` or `case _` beside cases of an enumeration, as `path:line: what`.
    static func complaints(_ file: SourceFile, _ code: [Substring]) -> [String] {
        guard file.path.hasPrefix("Sources/"), others[file.path] == nil else { return [] }
        return code.indices.compactMap { index in
            guard let name = catchAll(code[index]), namesCases(code[..<index], indent(code[index])) else { return nil }
            return "\(file.path):\(index + 1): \(name) in a switch over an enumeration: name its cases"
        }
    }

    /// What a line takes all other cases with; nil when it does not.
    private static func catchAll(_ line: Substring) -> String? {
        let text = line.drop { $0 == " " }
        return ["default", "case _"].first { text.hasPrefix("\($0):") }
    }

    private static func indent(_ line: Substring) -> Int {
        line.prefix { $0 == " " }.count
    }

    /// Whether the switch in which `lines` end, whose cases are indented by `depth`, has a pattern of an enumeration.
    private static func namesCases(_ lines: ArraySlice<Substring>, _ depth: Int) -> Bool {
        let pattern = /^case (?:let )?\(?\.[a-z]/
        for line in lines.reversed() where indent(line) == depth {
            let text = line.dropFirst(depth)
            if text.hasPrefix("case ") {
                if text.contains(pattern) { return true }
            } else if text.contains(/\bswitch\b/) {
                return false
            }
        }
        return false
    }
}
