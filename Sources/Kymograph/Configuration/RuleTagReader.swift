import KymographCore
import KymographTemplates

/// Reads `tag` of rules for readings: constants, and expressions that give tags by what a reading says.
enum RuleTagReader {
    private typealias Entry = ReadingRuleReader.Entry

    private static let form = "write a tag, {from: EXPRESSION}, or a list of them"

    /// Reads `node`, which messages call `name`, into `entry`.
    static func read(
        _ node: ConfigurationNode, _ name: String, _ entry: inout ReadingRuleReader.Entry,
        _ log: inout ConfigurationLog
    ) {
        let origin = node.origin(name)
        entry.origins["tag"] = origin
        switch node.content {
        case .list(let elements):
            if elements.isEmpty {
                log.add(.error, origin, "the list is empty", advice: "name at least one, or remove the key")
            }
            if elements.count > ComputedTags.most {
                log.add(.error, origin, "there are more than \(ComputedTags.most) tags", advice: "use fewer")
            }
            for element in elements { readElement(element, name, &entry, &log) }
        case .text, .mapping: readElement(node, name, &entry, &log)
        case .nothing: log.add(.error, origin, "no value is given", advice: "\(form), or remove the key")
        }
    }

    private static func readElement(
        _ node: ConfigurationNode, _ name: String, _ entry: inout Entry, _ log: inout ConfigurationLog
    ) {
        switch node.content {
        case .text(let text):
            if let tag = value(text, of: node, name, &log, TagText.parse) { entry.rule.tags.append(tag) }
        case .mapping(let pairs):
            if let tags = computed(pairs, node, name, &log) { entry.rule.computedTags.append(tags) }
        case .list, .nothing:
            log.add(.error, node.origin(name), "found \(node.kind) in the list", advice: form)
        }
    }

    /// What `parse` makes of `text`, which `node` holds; nil, with a note in `log`, where that is nothing.
    private static func value<Value>(
        _ text: String, of node: ConfigurationNode, _ name: String, _ log: inout ConfigurationLog,
        _ parse: (String) throws(SettingProblem) -> Value
    ) -> Value? {
        guard let value = node.value(text, name, log: &log) else { return nil }
        do throws(SettingProblem) {
            return try parse(value.text)
        } catch {
            log.add(.error, value.origin, error.message, advice: error.advice)
            return nil
        }
    }

    // MARK: Computed tags

    private static let keys = ["from", "system"]

    private static func computed(
        _ pairs: [(key: ConfigurationNode, value: ConfigurationNode)], _ node: ConfigurationNode, _ name: String,
        _ log: inout ConfigurationLog
    ) -> ComputedTags? {
        var texts: [String: ConfigurationNode] = [:]
        for (key, value) in pairs {
            if let known = self.key(key, name, &log) { texts[known] = value }
        }
        let system = texts["system"].map { member($0, "\(name).system", "a URI", &log, TagText.system) }
        guard let from = texts["from"] else {
            log.add(
                .error, node.origin(name), "a tag by what readings say has no 'from'",
                advice: "add what gives its code, for instance 'from: values.arm'")
            return nil
        }
        let expression = member(from, "\(name).from", "an expression", &log) { (text) throws(SettingProblem) in
            guard text.contains(where: { !$0.isWhitespace }) else { throw .empty("JMESPath expression, as values.arm") }
            return try RuleExpression.setting(text)
        }
        return expression.map { ComputedTags($0, system: system ?? nil) }
    }

    /// The key that `node` names; nil, with a note in `log`, for one that there is not.
    private static func key(_ node: ConfigurationNode, _ name: String, _ log: inout ConfigurationLog) -> String? {
        guard case .text(let text) = node.content else {
            log.add(
                .error, node.origin(name), "a key must be text, found \(node.kind)",
                advice: "the keys of a tag are from and system")
            return nil
        }
        if keys.contains(text) { return text }
        log.add(
            .error, node.origin(name), "unknown key '\(text)'",
            advice: NearestName.advice(for: text, among: keys, otherwise: "the keys of a tag are from and system"))
        return nil
    }

    /// The value of a member, which must be a text.
    private static func member<Value>(
        _ node: ConfigurationNode, _ name: String, _ form: String, _ log: inout ConfigurationLog,
        _ parse: (String) throws(SettingProblem) -> Value
    ) -> Value? {
        guard case .text(let text) = node.content else {
            log.add(
                .error, node.origin(name), "expected \(form), found \(node.kind)",
                advice: "write \(form), or remove the key")
            return nil
        }
        return value(text, of: node, name, &log, parse)
    }
}
