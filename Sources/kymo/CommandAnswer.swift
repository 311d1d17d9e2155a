import ArgumentParser
import Kymograph
import KymographTemplates

/// How the command ends when a command line is wrong, or asks for help.
enum CommandAnswer {
    /// Prints what `error` says, with what was probably meant, and ends the process with its status.
    static func exit(_ error: any Error) -> Never {
        let text = Kymo.fullMessage(for: error)
        let status = Kymo.exitCode(for: error)
        let isHelp = status == .success && text.hasPrefix("OVERVIEW:")
        guard isHelp || status == .validationFailure else {
            guard status != .success else { Kymo.exit(withError: error) }
            if !text.isEmpty { StandardError.write("\(text)\n") }
            Kymo.exit(withError: status)
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let unknown = UnknownCommand(in: arguments, of: Kymo.self) { refuse(unknown.message) }
        if isHelp { Kymo.exit(withError: printed(HelpText.arranged(text))) }
        refuse(explained(text, arguments))
    }

    private static func refuse(_ message: String) -> Never {
        StandardError.write("\(message)\n")
        Kymo.exit(withError: ExitCode.validationFailure)
    }

    private static func printed(_ text: String) -> any Error {
        do {
            try StandardOutput.write(Array((text + "\n").utf8))
            return ExitCode.success
        } catch {
            return error
        }
    }

    /// The message with a first line that says what to do, where that can be told.
    private static func explained(_ text: String, _ arguments: [String]) -> String {
        guard let line = text.split(separator: "\n").first,
            let hint = UnexpectedArgument.hint(String(line), arguments) ?? DashedValue.hint(String(line), arguments)
        else { return text }
        return "\(line); \(hint)\(text.dropFirst(line.count))"
    }
}

/// A word in the place of a subcommand that is none.
struct UnknownCommand {
    /// The commands before it.
    private let path: [String]
    private let word: String
    private let names: [String]

    /// Finds it among `arguments`; nil when each command is known.
    init?(in arguments: [String], of root: any ParsableCommand.Type) {
        var (type, path) = (root, [root._commandName])
        // `kymo help run`, as `kymo run --help`.
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let known = type.configuration.subcommands
            guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
            if let next = known.first(where: { $0._commandName == word || $0.configuration.aliases.contains(word) }) {
                (type, path) = (next, path + [word])
            } else {
                self.path = path
                self.word = word
                names = Self.names(type)
                return
            }
        }
        return nil
    }

    /// The names of all subcommands, with those of their own: `dead`, `dead list`.
    private static func names(_ type: any ParsableCommand.Type) -> [String] {
        type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { command in
            [command._commandName] + names(command).map { "\(command._commandName) \($0)" }
        }
    }

    /// What was meant; nil when that cannot be told.
    private var meant: String? {
        if let same = CommandSynonyms.of(word).first(where: { names.contains($0) }) { return same }
        if let near = NearestName.of(word, among: names.filter { !$0.contains(" ") }) { return near }
        return names.first { $0.hasSuffix(" \(word)") }
    }

    /// What is wrong, and what to do, as the parser says it of other mistakes.
    var message: String {
        let command = path.joined(separator: " ")
        let top = names.filter { !$0.contains(" ") }.joined(separator: ", ")
        let advice = meant.map { "did you mean '\(command) \($0)'?" } ?? "the commands are \(top)"
        return """
            Error: there is no command '\(command) \(word)'; \(advice)
            Usage: \(command) <subcommand> [options]
              See '\(command) --help' for more information.
            """
    }
}

/// What other programs call the commands.
enum CommandSynonyms {
    /// The commands that `word` may mean, best first.
    static func of(_ word: String) -> [String] {
        table.filter { $0.words.contains(word.lowercased()) }.map(\.command)
    }

    private static let table: [(command: String, words: [String])] = [
        ("run", ["serve", "server", "start", "daemon", "listen", "receive", "ingest", "pipeline", "collect"]),
        ("check", ["validate", "verify", "lint", "doctor", "configtest"]),
        ("test", ["selftest", "examples", "spec"]),
        ("map", ["convert", "transform", "translate", "normalize", "explain", "preview"]),
        ("eval", ["evaluate", "jsonpath", "jmespath", "expression"]),
        ("replay", ["send", "publish", "play", "playback"]),
        ("demo", ["try", "example", "hello"]),
        ("simulate", ["generate", "simulator", "fake", "demo", "load", "try"]),
        ("mappings", ["list", "catalog", "catalogue", "templates", "devices", "init", "new"]),
        ("dictionary", ["train", "zdict"]),
        ("query", ["search", "find", "select", "get", "archive"]),
        ("export", ["dump", "csv", "parquet", "extract"]),
        ("ledger", ["balance", "completeness", "account"]),
        ("dead", ["dlq", "deadletter", "deadletters", "dead-letter", "dead-letters", "letters", "rejected", "errors"]),
        ("status", ["stats", "stat", "info", "health", "state", "ps", "metrics"]),
        ("top", ["htop", "monitor", "dashboard", "live"]),
        ("console", ["ui", "web", "browser", "gui", "login", "admin"]),
        ("tap", ["tail", "watch", "follow", "sniff", "peek", "events"]),
        ("forget-lookups", ["forget", "refresh", "flush"]),
        ("migrate", ["import", "medtech", "iomt"]),
        ("config", ["settings", "configuration", "conf"]),
        ("completions", ["completion"]),
        ("support", ["report", "bundle", "diagnose", "diagnostics"]),
    ]
}

/// A word that a command takes no argument for.
enum UnexpectedArgument {
    /// What to do about the word of `line`, the parser's complaint; nil when that cannot be told.
    static func hint(_ line: String, _ arguments: [String]) -> String? {
        guard let start = line.firstRange(of: "nexpected argument '"), line.hasSuffix("'"),
            let command = arguments.first
        else { return nil }
        let word = line[start.upperBound...].dropLast()
        switch command {
        case "run": return "a file of readings is read by 'kymo run --stdin < FILE', a mapping named by --mapping"
        case "eval", "replay", "dictionary":
            return "one file is read at a time: put quotes around a name with blanks, and remove '\(word)' otherwise"
        default: return "remove it, or name the option that it belongs to"
        }
    }
}

/// A value that the parser takes for an option, because it begins as one.
enum DashedValue {
    /// How to write it; nil when the value of `line`, the parser's complaint, is missing altogether.
    static func hint(_ line: String, _ arguments: [String]) -> String? {
        guard let start = line.firstRange(of: "Missing value for '") else { return nil }
        let option = line[start.upperBound...].prefix { $0 != " " && $0 != "'" }
        guard let place = arguments.firstIndex(of: String(option)), place + 1 < arguments.count,
            arguments[place + 1].hasPrefix("-")
        else { return "write it behind the option" }
        let value = arguments[place + 1]
        return "'\(value)' begins as an option does: write \(option)=\(value) if it is the value"
    }
}
