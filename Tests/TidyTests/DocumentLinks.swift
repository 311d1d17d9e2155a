import Foundation

/// Links of a page to files, and to headings of pages.
enum DocumentLinks {
    /// What is linked and not there, as `path:line: …`. Links to other hosts are not looked at.
    static func complaints(_ page: SourceFile) -> [String] {
        page.lines.enumerated().flatMap { number, line in
            line.matches(of: /\]\(([^)]+)\)/).map { String($0.1) }
                .filter { !$0.contains("://") && isDead($0, on: page) }
                .map { "\(page.path):\(number + 1): there is no \($0)" }
        }
    }

    private static func isDead(_ link: String, on page: SourceFile) -> Bool {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let folder = SourceTree.package.appendingPathComponent(page.path).deletingLastPathComponent()
        let file = folder.appendingPathComponent(parts[0])
        guard parts.count == 2 else { return !FileManager.default.fileExists(atPath: file.path) }
        if parts[0].isEmpty { return !anchors(of: page.text).contains(parts[1]) }
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return true }
        return !anchors(of: text).contains(parts[1])
    }

    /// The places that a page's headings are, as GitHub names them: words in lower case, joined by hyphens.
    static func anchors(of text: String) -> Set<String> {
        var seen: [String: Int] = [:]
        var isCode = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            let title = line.drop { $0 == "#" }
            guard !isCode, line.hasPrefix("#"), title.hasPrefix(" ") else { continue }
            seen[anchor(of: title.dropFirst()), default: 0] += 1
        }
        return Set(seen.flatMap { name, count in [name] + (1..<count).map { "\(name)-\($0)" } })
    }

    private static func anchor(of title: Substring) -> String {
        let joined = title.lowercased().map { $0 == " " ? "-" : $0 }
        return String(joined.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
    }
}
