/// A function that others may call says what it throws, and when.
enum ThrowRules {
    /// Where programs of the project are; plugins throw what the package manager says.
    private static let folders = [
        "Sources/Kymograph/", "Sources/KymographCore/", "Sources/KymographTemplates/", "Sources/KymographTestKit/",
        "Sources/kymo/",
    ]

    /// Public and package functions of `file` that throw and do not say so, as `path:line: what`.
    static func complaints(_ file: SourceFile, _ code: [Substring]) -> [String] {
        guard folders.contains(where: { file.path.hasPrefix($0) }) else { return [] }
        let lines = file.lines
        var found: [String] = []
        for (number, line) in code.enumerated() {
            guard line.contains("package ") || line.contains("public "),
                line.contains(/^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:package|public)\b.*\b(?:func|init|subscript)\b/),
                throwsError(code[number...]), !describes(lines[..<number])
            else { continue }
            found.append("\(file.path):\(number + 1): does not say what it throws")
        }
        return found
    }

    /// Whether the function whose declaration begins `lines` throws: what stands between its parameters and its body says
    /// it, and a parameter that throws does not.
    private static func throwsError(_ lines: ArraySlice<Substring>) -> Bool {
        var depth = 0
        var hasParameters = false
        var behind = ""
        for character in lines.prefix(12).joined(separator: " ") {
            switch character {
            case "(": depth += 1
            case ")":
                depth -= 1
                if depth == 0 { hasParameters = true }
            case "{" where depth == 0: return behind.contains(/\bthrows\b/)
            default: if depth == 0, hasParameters { behind.append(character) }
            }
            if behind.hasSuffix("->") { return behind.contains(/\bthrows\b/) }
        }
        return false
    }

    /// Whether the comment that ends `lines` says what is thrown.
    private static func describes(_ lines: ArraySlice<Substring>) -> Bool {
        let comment = lines.reversed().prefix { line in
            line.contains(/^\s*(?:\/\/\/|@)/)
        }
        return comment.contains { $0.contains(/- Throws: |\/\/\/ Throws\b|\. Throws\b/) }
    }
}
