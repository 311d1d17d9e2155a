import KymographCore
import KymographTemplates

/// Reads rules for resources.
enum EntryRuleReader {
    /// What a list says of one rule, and where.
    struct Entry: Sendable {
        var rule = EntryRule(name: "")
        var origins: [String: SettingOrigin] = [:]

        /// Whether it names no resources.
        var isAboutAll: Bool {
            rule.sources.isEmpty && rule.types.isEmpty && rule.devices.isEmpty && rule.patients.isEmpty
                && rule.condition == nil
        }
    }

    static func read(_ node: ConfigurationNode, log: inout ConfigurationLog) -> [Entry] {
        RuleListReader.read(node, form, actions: "add 'then: veto', patch or keep", log: &log, check: check)
    }

    private static func check(_ entry: Entry, at origin: SettingOrigin, log: inout ConfigurationLog) {
        switch entry.rule.action {
        case .veto:
            checkNoPatch(entry, at: origin, log: &log)
            if entry.isAboutAll, entry.origins["then"] != nil {
                log.add(
                    .error, origin, "it vetoes all resources, and may be cut",
                    advice: "say which; of all, write 'devices: [\"*\"]'")
            }
        case .patch:
            if entry.origins["set"] == nil { log.add(.error, origin, "it sets nothing", advice: "add 'set'") }
            checkNoSinks(entry, at: origin, log: &log)
        case .keep:
            checkNoPatch(entry, at: origin, log: &log)
            checkNoSinks(entry, at: origin, log: &log)
        }
    }

    private static func checkNoPatch(_ entry: Entry, at origin: SettingOrigin, log: inout ConfigurationLog) {
        guard entry.origins["set"] != nil else { return }
        log.add(.error, origin, "'set' is for rules with 'then: patch'", advice: "make them two rules")
    }

    private static func checkNoSinks(_ entry: Entry, at origin: SettingOrigin, log: inout ConfigurationLog) {
        guard !entry.rule.sinks.isEmpty else { return }
        log.add(
            .error, origin, "'sinks' is for rules with 'then: veto'",
            advice: "remove it: all sinks get the same resource")
    }

    private static var form: ElementListReader<Entry>.Form {
        .init(
            name: "resources", noun: "rule", kinds: ["name"], settings: keys, example: "- name: study",
            adviceWhenEmpty: "name one, or remove the list", messageWithoutKind: "it has no name", start: Entry(),
            origins: \.origins, nested: ["set": readPatch])
    }

    private static let keys: [Setting<Entry>] =
        [
            RuleKeys.name(\.rule.name),
            .choice("then", \.rule.action, EntryRule.Action.allCases.map { ($0.rawValue, $0) }, "What is done with it"),
        ] + RuleKeys.scope(\.rule.sources, \.rule.types, \.rule.devices, \.rule.patients) + [
            RuleKeys.condition(\.rule.condition, "Resources for which this expression gives something true"),
            RuleKeys.names("sinks", \.rule.sinks, "Names of sinks that do not get it; left out, none does"),
        ]

    private static func readPatch(
        _ node: ConfigurationNode, _ name: String, _ entry: inout Entry, _ log: inout ConfigurationLog
    ) {
        let origin = node.origin(name)
        entry.origins["set"] = origin
        guard let json = json(node, of: "", name, &log) else { return }
        var found = DiagnosticLog(file: origin.file)
        entry.rule.patch = PatchReader.read(json, log: &found)
        for diagnostic in found.all {
            var place = origin
            place.position = diagnostic.position
            log.add(diagnostic.severity, place, diagnostic.message, advice: diagnostic.advice)
        }
    }

    /// `node`, the value of the key `key`, as JSON has it: texts, but for values of extensions that are none.
    private static func json(
        _ node: ConfigurationNode, of key: String, _ name: String, _ log: inout ConfigurationLog
    ) -> JSONNode? {
        switch node.content {
        case .text(let text): return JSONNode(position: node.position, value: scalar(text, of: key))
        case .nothing:
            log.add(.error, node.origin(name), "no value is given", advice: "write one, or remove the key")
            return nil
        case .list(let elements):
            let values = elements.compactMap { json($0, of: key, name, &log) }
            return JSONNode(position: node.position, value: .array(values))
        case .mapping(let pairs):
            let members = pairs.compactMap { member($0, $1, name, &log) }
            return JSONNode(position: node.position, value: .object(members))
        }
    }

    private static func member(
        _ key: ConfigurationNode, _ value: ConfigurationNode, _ name: String, _ log: inout ConfigurationLog
    ) -> JSONNode.Member? {
        guard case .text(let text) = key.content else {
            log.add(.error, key.origin(name), "a key must be text, found \(key.kind)")
            return nil
        }
        return json(value, of: text, name, &log).map { JSONNode.Member(name: text, position: key.position, node: $0) }
    }

    private static func scalar(_ text: String, of key: String) -> JSONNode.Value {
        switch key {
        case "valueBoolean" where text == "true" || text == "false": .bool(text == "true")
        case "valueInteger" where Int32(text) != nil, "valueDecimal" where RuleExpression.number(text) != nil:
            .number(text)
        default: .string(text)
        }
    }
}
