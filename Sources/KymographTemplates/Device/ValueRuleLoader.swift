import KymographCore

/// Reads the rules of one entry of `values`: `constant`, `default`, `scale`, `map` with `mapDefault`, and `unit`.
struct ValueRuleLoader {
    /// The members that are read here.
    static let fields = ["constant", "default", "scale", "map", "mapDefault", "unit"]

    private let reader: FieldReader

    /// The rule of the value that `reader` reads, or nil when it has none or a wrong one.
    static func load(_ reader: FieldReader, log: inout DiagnosticLog) -> DeviceTemplate.ValueRule? {
        let given = fields.filter { has($0, reader) }
        guard !given.isEmpty else { return nil }
        return ValueRuleLoader(reader: reader).read(given, log: &log)
    }

    /// Whether the value that `reader` reads is a constant.
    static func isConstant(_ reader: FieldReader) -> Bool { reader.member("constant") != nil }

    private static func has(_ name: String, _ reader: FieldReader) -> Bool {
        // "constant": null is a mistake, and not an absent constant.
        reader.member(name).map { !$0.node.isNull || name == "constant" } ?? false
    }

    private func read(_ given: [String], log: inout DiagnosticLog) -> DeviceTemplate.ValueRule? {
        if ValueRuleLoader.isConstant(reader) { return constant(given, log: &log) }
        var rule = DeviceTemplate.ValueRule()
        rule.fallback = reader.optional("default", nil, log: &log).flatMap { scalar($0, "'default'", log: &log) }
        rule.map = map(log: &log)
        rule.scale = reader.optional("scale", nil, log: &log).flatMap { ScaleRuleLoader.load($0, log: &log) }
        if given.contains("map"), given.contains("scale") { refuseBoth("scale", log: &log) }
        if let unit = reader.optional("unit", "an object", log: &log) {
            if given.contains("map") { refuseBoth("unit", log: &log) }
            rule.unit = UnitRuleLoader.load(unit, log: &log)
        }
        checkDefault(rule, log: &log)
        return rule
    }

    private func refuseBoth(_ other: String, log: inout DiagnosticLog) {
        log.error(
            reader.position(of: "map"), "a value has either '\(other)' or 'map', not both",
            advice: "numbers are converted, texts are mapped; remove one of the two", finding: .valueRule)
    }

    private func constant(_ given: [String], log: inout DiagnosticLog) -> DeviceTemplate.ValueRule? {
        for other in ["valueExpression"] + given where other != "constant" && ValueRuleLoader.has(other, reader) {
            log.error(
                reader.position(of: other), "a value with 'constant' cannot have '\(other)'",
                advice: "a constant is the same in every match; remove one of the two", finding: .valueRule)
        }
        return reader.required("constant", nil, log: &log).flatMap { scalar($0, "'constant'", log: &log) }
            .map { DeviceTemplate.ValueRule(constant: $0) }
    }

    private func map(log: inout DiagnosticLog) -> DeviceTemplate.ValueMap? {
        let otherwise = reader.optional("mapDefault", nil, log: &log).flatMap { scalar($0, "'mapDefault'", log: &log) }
        guard let node = reader.optional("map", "an object", log: &log), let members = node.members else {
            if let member = reader.member("mapDefault"), reader.member("map") == nil {
                log.error(
                    member.position, "'mapDefault' has no meaning without 'map'",
                    advice: "'default' is for values that are not there", finding: .valueRule)
            }
            return nil
        }
        if members.isEmpty {
            log.error(
                node.position, "'map' is empty", advice: "list the texts of the payload and what they become",
                finding: .valueRule)
        }
        ValueRuleLoader.refuseTwice(members, in: "map", log: &log)
        let entries = members.compactMap { member in
            scalar(member.node, "'\(member.name)' in 'map'", log: &log).map { (text: member.name, value: $0) }
        }
        return DeviceTemplate.ValueMap(entries: entries, otherwise: otherwise)
    }

    /// A default goes the way of what the payload has, so it must be able to.
    private func checkDefault(_ rule: DeviceTemplate.ValueRule, log: inout DiagnosticLog) {
        guard let text = rule.fallback else { return }
        if let map = rule.map, map.otherwise == nil, !map.entries.contains(where: { $0.text == text }) {
            log.error(
                reader.position(of: "default"), "the default '\(text)' is not in 'map'",
                advice: "a default is mapped like a text of the payload; add it to 'map', or give a 'mapDefault'",
                finding: .valueRule)
        }
        if rule.unit != nil || rule.scale != nil, !ValueRuleLoader.isNumber(text) {
            let other = rule.unit == nil ? "scale" : "unit"
            log.error(
                reader.position(of: "default"), "the default '\(text)' is no number, but the value has a \(other)",
                advice: "a default is converted like a value of the payload", finding: .valueRule)
        }
    }

    /// The text of a string, number or boolean.
    private func scalar(_ node: JSONNode, _ what: String, log: inout DiagnosticLog) -> String? {
        switch node.value {
        case .string(let text), .number(let text): return text
        case .bool(let flag): return flag ? "true" : "false"
        case .object, .array, .null:
            log.error(
                node.position, "\(what) must be a string, a number, true or false, found \(node.kind)",
                finding: .valueRule)
            return nil
        }
    }

    /// Notes names that are there several times: which of them counts would be a guess.
    static func refuseTwice(_ members: [JSONNode.Member], in what: String, log: inout DiagnosticLog) {
        var seen: Set<String> = []
        for member in members where !seen.insert(member.name).inserted {
            log.error(
                member.position, "'\(member.name)' is twice in '\(what)'", advice: "remove one of the two",
                finding: .valueRule)
        }
    }

    /// Whether `text` is a number that can be kept exactly.
    static func isNumber(_ text: String) -> Bool {
        let bytes = PaddedBytes(copying: text.utf8)
        if case .number = DecimalParser.parse(bytes.view) { return true }
        return false
    }
}
