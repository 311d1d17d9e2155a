import Foundation

/// The types and functions that each file of tests declares, those in a browser among them, which are in Python.
struct TestIndex {
    private struct Names {
        var types: Set<Substring> = []
        var functions: Set<Substring> = []
    }

    private let files: [Names]

    init(_ files: [SourceFile]) { self.files = files.map(Self.names) }

    /// Number of files.
    var count: Int { files.count }

    /// Of all files of tests below `Tests`.
    static func all() throws -> TestIndex {
        let root = SourceTree.package.appendingPathComponent("Tests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter {
            $0.hasSuffix(".swift") || $0.hasSuffix(".py") && $0.contains("/test_")
        }
        let files = try paths.map { path in
            let data = try Data(contentsOf: root.appendingPathComponent(path))
            return SourceFile(path: "Tests/\(path)", text: String(decoding: data, as: UTF8.self))
        }
        return TestIndex(files)
    }

    /// Why `name` is no test; nil for one such as `CheckTests/goodFile`, whose function is in a file that declares the
    /// suite.
    func complaint(about name: String) -> String? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return "'\(name)' is no test; write Suite/function" }
        let candidates = files.filter { $0.types.contains(parts[0]) }
        guard !candidates.isEmpty else { return "there is no suite \(parts[0]) in Tests" }
        guard candidates.contains(where: { $0.functions.contains(parts[1]) }) else {
            return "\(parts[0]) has no function \(parts[1])"
        }
        return nil
    }

    /// The names that follow the words of declarations, except in comments of whole lines.
    private static func names(of file: SourceFile) -> Names {
        var names = Names()
        for line in file.lines {
            let words = line.split(separator: " ")
            guard let first = words.first, !first.hasPrefix("//") else { continue }
            for (word, next) in zip(words, words.dropFirst()) {
                let name = next.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                let mark = next.dropFirst(name.count).first
                switch word {
                case "struct", "class", "enum", "actor": names.types.insert(name)
                case "func" where mark == "(" || mark == "<": names.functions.insert(name)
                case "def" where mark == "(": names.functions.insert(name)
                default: break
                }
            }
        }
        return names
    }
}
