import Foundation
import Testing

/// A command line that a page or a help text shows.
struct Example: Sendable, CustomTestStringConvertible {
    /// `README.md`, or `kymo run --help`.
    var page: String
    /// Where it begins on the page.
    var line: Int
    /// As it stands there, without the blanks before its lines.
    var text: String

    var testDescription: String { "\(page):\(line): \(text)" }

    var expectedStatus: Int32 { text.statedStatus }
}

extension String {
    /// The exit status that a comment in a command line states; 0 without one.
    var statedStatus: Int32 { firstMatch(of: /exits with status ([0-9]+)/).flatMap { Int32($0.output.1) } ?? 0 }
}

/// Lines that stand together as code.
struct CodeBlock {
    /// What stands behind the fence that opens it; nil of a block that is indented.
    var fence: String?
    /// The lines with their numbers, from 1, without blanks around them.
    var lines: [(number: Int, text: String)] = []
    /// The lines as they stand on the page.
    var source: [String] = []

    /// What a shell would run: the lines behind `$` when there are any, else all lines of a block that begins with a
    /// command. A line that ends in `|`, `\` or `&&` goes on in the next, and an assignment belongs to what is behind it.
    func commands() -> [(number: Int, text: String)] {
        let hasPrompt = lines.contains { $0.text.hasPrefix("$ ") }
        guard hasPrompt || lines.first.map({ CodeBlock.isCommand($0.text) }) ?? false else { return unitCommands() }
        var found: [(number: Int, text: String)] = []
        var goesOn = false
        for line in lines {
            let isPrompt = line.text.hasPrefix("$ ")
            let text = isPrompt ? String(line.text.dropFirst(2)) : line.text
            if goesOn {
                found[found.count - 1].text += "\n\(text)"
            } else if isPrompt || !hasPrompt {
                found.append((line.number, text))
            } else {
                continue
            }
            goesOn = ["|", "\\", "&&"].contains { text.hasSuffix($0) } || CodeBlock.isAssignment(text)
        }
        return found
    }

    /// The commands of a unit of systemd that are the program's.
    private func unitCommands() -> [(number: Int, text: String)] {
        lines.compactMap { line in
            line.text.wholeMatch(of: /Exec[A-Za-z]+=(\S*\/kymo .*)/).map { (line.number, String($0.output.1)) }
        }
    }

    private static let programs: Set = [
        "kymo", "make", "sudo", "python3", "openssl", "curl", "echo", "cat", "gatttool", "stdbuf", "btmon", "systemctl",
        "journalctl", "docker", "podman", "apt", "git", "swift", "jq", "promtool", "zstd", "duckdb", "dpkg", "man",
        "mosquitto_pub", "socat",
    ]

    private static func isCommand(_ text: String) -> Bool {
        guard let word = text.split(separator: " ").first(where: { !isAssignment(String($0)) }) else { return true }
        let isPath = ["./", "~/", "/", ".build/"].contains { word.hasPrefix($0) }
        return isAssignment(text) || programs.contains(String(word)) || isPath && !word.contains(":")
    }

    private static func isAssignment(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z_]+=([^ ]*|\$\(.*\))/) != nil
    }
}

/// A page of the repository.
struct Page {
    var name: String
    private let lines: [String]

    init(_ name: String, _ text: String) {
        self.name = name
        lines = text.components(separatedBy: "\n")
    }

    /// Blocks between fences, and blocks indented by four blanks behind an empty line.
    var blocks: [CodeBlock] {
        var blocks: [CodeBlock] = []
        var (isFenced, isIndented) = (false, false)
        for (index, line) in lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("```") {
                isFenced.toggle()
                if isFenced { blocks.append(CodeBlock(fence: String(line.dropFirst(3)))) }
            } else if isFenced {
                blocks[blocks.count - 1].lines.append((index + 1, text))
                blocks[blocks.count - 1].source.append(line)
            } else if line.hasPrefix("    "), isIndented || index == 0 || lines[index - 1].isEmpty {
                if !isIndented { blocks.append(CodeBlock()) }
                isIndented = true
                blocks[blocks.count - 1].lines.append((index + 1, text))
                blocks[blocks.count - 1].source.append(String(line.dropFirst(4)))
            } else {
                isIndented = false
            }
        }
        return blocks
    }

    var examples: [Example] {
        blocks.flatMap { block in block.commands().map { Example(page: name, line: $0.number, text: $0.text) } }
    }
}

/// A command's help, as `kymo --experimental-dump-help` gives it: whole, however wide the terminal is.
struct CommandHelp: Decodable {
    var commandName: String
    var discussion: String?
    var subcommands: [CommandHelp]?

    /// The examples of this command and of those below it: what follows `Example:`, and indented lines with a command.
    func examples(of parents: [String] = []) -> [Example] {
        let path = parents + [commandName]
        let page = Page(
            "\(path.joined(separator: " ")) --help",
            (discussion ?? "").components(separatedBy: "\n").map { line in
                line.hasPrefix("Example: ") ? "\n    \(line.dropFirst(9))" : CommandHelp.indented(line)
            }.joined(separator: "\n"))
        return page.examples + (subcommands ?? []).flatMap { $0.examples(of: path) }
    }

    /// Two blanks are enough here; an introduction needs no empty line behind it.
    private static func indented(_ line: String) -> String {
        if line.hasPrefix("  ") { return "    \(line)" }
        return line.hasSuffix(":") ? "\(line)\n" : line
    }
}
