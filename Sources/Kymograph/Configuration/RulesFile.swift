import Glibc
import KymographCore
import KymographTemplates

/// Reads lists of rules: see docs/rules.md.
package enum RulesFile {
    private typealias Row = Setting<Entry>

    /// What a list says of one rule, and where.
    private struct Entry: Sendable {
        var rule = ReadingRule(name: "")
        var origins: [String: SettingOrigin] = [:]

        /// Whether it names no readings.
        var isAboutAll: Bool {
            rule.sources.isEmpty && rule.types.isEmpty && rule.devices.isEmpty && rule.patients.isEmpty
                && rule.below == nil && rule.above == nil
        }
    }

    /// Most rules of a list: each has a counter.
    private static let most = 64

    /// The rules at `path`, which are read again when it has changed.
    ///
    /// - Throws: ``SettingProblem`` with the place of the first error.
    static func open(_ path: String) throws(SettingProblem) -> RuleBook {
        try RuleBook(path) { () throws(SettingProblem) in try read(path) }
    }

    private static func read(_ path: String) throws(SettingProblem) -> [ReadingRule] {
        guard let bytes = FileSystem.content(path) else {
            throw SettingProblem(message: "\(path) cannot be read: \(ErrorText.of(errno))", advice: "name a file")
        }
        guard bytes.isEmpty || bytes.last == 0x0A else {
            throw SettingProblem(
                message: "\(path): its last line has no end: it may be cut",
                advice: "end the file with a line feed; write it beside the former one, and rename it")
        }
        var log = ConfigurationLog()
        let entries = entries(path, bytes, log: &log)
        check(entries, log: &log)
        guard let first = log.all.first(where: { $0.severity == .error }) else { return entries.map(\.rule) }
        throw SettingProblem(
            message: "\(first.file):\(first.position.line):\(first.position.column): \(first.message)",
            advice: first.advice)
    }

    private static func entries(_ path: String, _ bytes: [UInt8], log: inout ConfigurationLog) -> [Entry] {
        let text = ConfigurationText(name: path, bytes: bytes, variables: [:])
        guard let root = text.root(log: &log) else {
            if log.all.isEmpty {
                log.add(
                    .error, SettingOrigin(file: path, position: .start, subject: "rules"), "it is empty",
                    advice: "begin with 'rules:'")
            }
            return []
        }
        guard case .mapping(let pairs) = root.content, pairs.count == 1, case .text("rules") = pairs[0].key.content
        else {
            log.add(.error, root.origin("rules"), "expected the key 'rules' alone", advice: "begin with 'rules:'")
            return []
        }
        return ElementListReader.read(pairs[0].value, form, log: &log)
    }

    /// Names are counters, and what is done must be said.
    private static func check(_ entries: [Entry], log: inout ConfigurationLog) {
        var seen: Set<String> = []
        for entry in entries {
            guard let origin = entry.origins["name"] else { continue }
            if !seen.insert(entry.rule.name).inserted {
                log.add(.error, origin, "another rule has the same name", advice: "give each a name of its own")
            }
            if entry.origins["then"] == nil {
                log.add(.error, origin, "it does not say what is done", advice: "add 'then: accept', drop or reject")
            }
            if entry.rule.action == .drop, entry.isAboutAll {
                log.add(
                    .error, origin, "it drops all readings, and may be cut",
                    advice: "say which; of all, write 'devices: [\"*\"]'")
            }
            if entry.rule.value != nil, entry.rule.below == nil, entry.rule.above == nil {
                log.add(.error, origin, "'value' is given without a bound", advice: "add 'below' or 'above'")
            }
        }
        if entries.count > most, let origin = entries[most].origins["name"] {
            log.add(.error, origin, "there are more than \(most) rules", advice: "name several devices in one")
        }
    }

    private static var form: ElementListReader<Entry>.Form {
        .init(
            name: "rules", noun: "rule", kinds: ["name"], settings: keys, example: "- name: bench",
            adviceWhenEmpty: "name one, or remove the list", messageWithoutKind: "it has no name", start: Entry(),
            origins: \.origins)
    }

    private static let keys: [Row] = [
        .single("name", "name", "Its name in counters and letters", .text) { (text, entry) throws(SettingProblem) in
            guard text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]{0,39}/) != nil else {
                throw SettingProblem(
                    message: "this is no name of a rule",
                    advice: "write at most 40 letters, digits, '-' and '_', a letter first")
            }
            entry.rule.name = text
        } shown: { _ in
            ""
        },
        .choice(
            "then", \.rule.action, ReadingRule.Action.allCases.map { ($0.rawValue, $0) }, "What is done with it"),
        names("sources", \.rule.sources, "Names of sources; `*` stands for any text"),
        names("types", \.rule.types, "Names of types"),
        patterns("devices", \.rule.devices, "Devices"),
        patterns("patients", \.rule.patients, "Patients"),
        .text("value", "name", \.rule.value, "The value that the bounds are about; left out, the first"),
        number("below", \.rule.below, "Readings whose value is less"),
        number("above", \.rule.above, "Readings whose value is greater"),
    ]

    private static func patterns(_ key: String, _ place: Row.Path<[NamePattern]>, _ about: String) -> Row {
        Row(key: key, form: "text", about: about, values: .text, elements: { _ in [] }) {
            (texts, entry) throws(SettingProblem) in
            var patterns: [NamePattern] = []
            for text in texts { patterns.append(NamePattern(try IdentifierSetting.parse(text, "text"))) }
            guard !patterns.isEmpty else { throw .empty("text") }
            entry[keyPath: place] = patterns
        } shown: { _ in
            ""
        }
    }

    private static func names(_ key: String, _ place: Row.Path<[String]>, _ about: String) -> Row {
        Row(key: key, form: "text", about: about, values: .text, elements: { _ in [] }) {
            (texts, entry) throws(SettingProblem) in
            guard !texts.isEmpty, !texts.contains("") else { throw .empty("text") }
            entry[keyPath: place] = texts
        } shown: { _ in
            ""
        }
    }

    private static func number(_ key: String, _ place: Row.Path<Decimal64?>, _ about: String) -> Row {
        .single(key, "number", about, .text) { (text, entry) throws(SettingProblem) in
            let bytes = PaddedBytes(copying: Array(text.utf8))
            guard case .number(let number) = DecimalParser.parse(bytes.view) else {
                throw SettingProblem(message: "'\(text)' is not a number", advice: "write it as 60 or 36.5")
            }
            entry[keyPath: place] = number
        } shown: { _ in
            ""
        }
    }
}
