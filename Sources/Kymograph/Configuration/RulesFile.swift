import Glibc
import KymographCore
import KymographTemplates

/// Reads files of rules: see docs/rules.md.
package enum RulesFile {
    /// The rules at `path`, which are read again when it has changed.
    ///
    /// - Throws: ``SettingProblem`` with the place of the first error.
    static func open(_ path: String) throws(SettingProblem) -> RuleBook {
        try RuleBook(path) { () throws(SettingProblem) in try read(path) }
    }

    private static func read(_ path: String) throws(SettingProblem) -> RuleList {
        guard let bytes = FileSystem.content(path) else {
            throw SettingProblem(message: "\(path) cannot be read: \(ErrorText.of(errno))", advice: "name a file")
        }
        guard bytes.isEmpty || bytes.last == 0x0A else {
            throw SettingProblem(
                message: "\(path): its last line has no end: it may be cut",
                advice: "end the file with a line feed; write it beside the former one, and rename it")
        }
        var log = ConfigurationLog()
        let list = list(path, bytes, log: &log)
        guard let first = log.all.first(where: { $0.severity == .error }) else { return list }
        throw SettingProblem(
            message: "\(first.file):\(first.position.line):\(first.position.column): \(first.message)",
            advice: first.advice)
    }

    private static func list(_ path: String, _ bytes: [UInt8], log: inout ConfigurationLog) -> RuleList {
        var list = RuleList()
        let text = ConfigurationText(name: path, bytes: bytes, variables: [:])
        guard let root = text.root(log: &log) else {
            if log.all.isEmpty {
                log.add(
                    .error, SettingOrigin(file: path, position: .start, subject: "rules"), "it is empty",
                    advice: "begin with 'rules:'")
            }
            return list
        }
        guard case .mapping(let pairs) = root.content, !pairs.isEmpty else {
            log.add(.error, root.origin("rules"), "expected the key 'rules' or 'resources'", advice: advice)
            return list
        }
        var names: [(name: String, origin: SettingOrigin)] = []
        for (key, value) in pairs { names += readKey(key, value, into: &list, log: &log) }
        checkNames(names, log: &log)
        return list
    }

    private static let advice = "begin with 'rules:' or 'resources:'"

    /// Reads one key of the file; the names of its rules.
    private static func readKey(
        _ key: ConfigurationNode, _ value: ConfigurationNode, into list: inout RuleList, log: inout ConfigurationLog
    ) -> [(name: String, origin: SettingOrigin)] {
        switch key.content {
        case .text("rules"):
            let entries = ReadingRuleReader.read(value, log: &log)
            list.readings += entries.map(\.rule)
            return entries.compactMap { entry in entry.origins["name"].map { (entry.rule.name, $0) } }
        case .text("resources"):
            let entries = EntryRuleReader.read(value, log: &log)
            list.resources += entries.map(\.rule)
            return entries.compactMap { entry in entry.origins["name"].map { (entry.rule.name, $0) } }
        case .text, .nothing, .mapping, .list:
            log.add(.error, key.origin("rules"), "expected the key 'rules' or 'resources'", advice: advice)
            return []
        }
    }

    /// Names are labels of counters.
    private static func checkNames(_ names: [(name: String, origin: SettingOrigin)], log: inout ConfigurationLog) {
        var seen: Set<String> = []
        for (name, origin) in names where !seen.insert(name).inserted {
            log.add(.error, origin, "another rule has the same name", advice: "give each a name of its own")
        }
    }
}
