import KymographCore
import KymographTemplates

/// Reads rules for readings.
enum ReadingRuleReader {
    /// What a list says of one rule, and where.
    struct Entry: Sendable {
        var rule = ReadingRule(name: "")
        var origins: [String: SettingOrigin] = [:]

        /// Whether it names no readings.
        var isAboutAll: Bool {
            rule.sources.isEmpty && rule.types.isEmpty && rule.devices.isEmpty && rule.patients.isEmpty
                && rule.below == nil && rule.above == nil && rule.condition == nil
        }
    }

    /// Most values that one rule sets.
    private static let mostOfOne = 8

    static func read(_ node: ConfigurationNode, log: inout ConfigurationLog) -> [Entry] {
        RuleListReader.read(node, form, actions: "add 'then: accept', drop, reject or rewrite", log: &log, check: check)
    }

    /// What is done must be something.
    private static func check(_ entry: Entry, at origin: SettingOrigin, log: inout ConfigurationLog) {
        if entry.rule.action == .drop, entry.isAboutAll {
            log.add(
                .error, origin, "it drops all readings, and may be cut",
                advice: "say which; of all, write 'devices: [\"*\"]'")
        }
        if entry.rule.value != nil, entry.rule.below == nil, entry.rule.above == nil {
            log.add(.error, origin, "'value' is given without a bound", advice: "add 'below' or 'above'")
        }
        let tags = !entry.rule.tags.isEmpty || !entry.rule.computedTags.isEmpty
        let changes = !entry.rule.changes.isEmpty || tags
        if entry.rule.action == .rewrite, !changes, entry.origins["set"] == nil, entry.origins["tag"] == nil {
            log.add(.error, origin, "it rewrites nothing", advice: "add 'set' or 'tag'")
        }
        if entry.rule.action != .rewrite, entry.origins["then"] != nil, changes {
            log.add(
                .error, origin, "'set' and 'tag' are for rules with 'then: rewrite'",
                advice: "make them two rules, that one first")
        }
    }

    private static var form: ElementListReader<Entry>.Form {
        .init(
            name: "rules", noun: "rule", kinds: ["name"], settings: keys, example: "- name: bench",
            adviceWhenEmpty: "name one, or remove the list", messageWithoutKind: "it has no name", start: Entry(),
            origins: \.origins, nested: ["set": readChanges, "tag": RuleTagReader.read])
    }

    private static let keys: [Setting<Entry>] =
        [
            RuleKeys.name(\.rule.name),
            .choice(
                "then", \.rule.action, ReadingRule.Action.allCases.map { ($0.rawValue, $0) }, "What is done with it"),
        ] + RuleKeys.scope(\.rule.sources, \.rule.types, \.rule.devices, \.rule.patients) + [
            .text("value", "name", \.rule.value, "The value that the bounds are about; left out, the first"),
            RuleKeys.number("below", \.rule.below, "Readings whose value is less"),
            RuleKeys.number("above", \.rule.above, "Readings whose value is greater"),
            RuleKeys.condition(\.rule.condition, "Readings for which this expression gives something true"),
        ]

    // MARK: Values

    /// What says whose a reading is, what and when: nothing of that is a rule's to change.
    private static let refused = [
        "device", "deviceId", "patient", "patientId", "encounter", "encounterId", "correlation", "correlationId",
        "type",
        "time", "timestamp", "source", "unit", "readingId",
    ]

    private static func readChanges(
        _ node: ConfigurationNode, _ name: String, _ entry: inout Entry, _ log: inout ConfigurationLog
    ) {
        entry.origins["set"] = node.origin(name)
        guard case .mapping(let pairs) = node.content, !pairs.isEmpty else {
            return log.add(
                .error, node.origin(name), "expected names of values, found \(node.kind)",
                advice: "write for instance 'hr: values.hr'")
        }
        if pairs.count > mostOfOne {
            log.add(.error, node.origin(name), "it sets more than \(mostOfOne) values", advice: "make several rules")
        }
        for (key, value) in pairs { readChange(key, value, name, &entry, &log) }
    }

    private static func readChange(
        _ key: ConfigurationNode, _ value: ConfigurationNode, _ name: String, _ entry: inout Entry,
        _ log: inout ConfigurationLog
    ) {
        guard case .text(let valueName) = key.content, case .text(let text) = value.content else {
            return log.add(
                .error, value.origin(name), "expected an expression, found \(value.kind)",
                advice: "write a number, a text as 'text' within quotes, or JMESPath")
        }
        if refused.contains(valueName) {
            return log.add(
                .error, key.origin(name), "'\(valueName)' is not for a rule to set: whose a reading is, what and when",
                advice: "a patient map and peers say whose (docs/patients.md, docs/peers.md), the mapping the rest")
        }
        if entry.rule.changes.contains(where: { $0.name.utf8.elementsEqual(valueName.utf8) }) {
            return log.add(.error, key.origin(name), "'\(valueName)' is set twice", advice: "remove one")
        }
        do throws(SettingProblem) {
            entry.rule.changes.append(RuleChange(name: valueName, content: try content(text)))
        } catch {
            log.add(.error, value.origin("\(name).\(valueName)"), error.message, advice: error.advice)
        }
    }

    /// A number is itself; anything else is an expression.
    private static func content(_ text: String) throws(SettingProblem) -> RuleChange.Content {
        if let number = RuleExpression.number(text) { return .constant(.number(number)) }
        return .expression(try RuleExpression.setting(text))
    }
}
