import KymographCore
import KymographTemplates

/// Keys that rules for readings and rules for resources have.
enum RuleKeys<Entry> {
    typealias Row = Setting<Entry>

    /// The name of a rule, which is a label of counters.
    static func name(_ place: Row.Path<String>) -> Row {
        .single("name", "name", "Its name in counters and letters", .text) { (text, entry) throws(SettingProblem) in
            guard RuleName.isOne(text) else {
                throw SettingProblem(message: "this is no name of a rule", advice: RuleName.advice)
            }
            entry[keyPath: place] = text
        } shown: { _ in
            ""
        }
    }

    /// What a rule is about.
    static func scope(
        _ sources: Row.Path<[String]>, _ types: Row.Path<[String]>, _ devices: Row.Path<[NamePattern]>,
        _ patients: Row.Path<[NamePattern]>
    ) -> [Row] {
        [
            names("sources", sources, "Names of sources; `*` stands for any text"),
            names("types", types, "Names of types"), patterns("devices", devices, "Devices"),
            patterns("patients", patients, "Patients"),
        ]
    }

    /// Patterns of identifiers.
    static func patterns(_ key: String, _ place: Row.Path<[NamePattern]>, _ about: String) -> Row {
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

    /// Patterns of names.
    static func names(_ key: String, _ place: Row.Path<[String]>, _ about: String) -> Row {
        Row(key: key, form: "text", about: about, values: .text, elements: { _ in [] }) {
            (texts, entry) throws(SettingProblem) in
            guard !texts.isEmpty, !texts.contains("") else { throw .empty("text") }
            entry[keyPath: place] = texts
        } shown: { _ in
            ""
        }
    }

    /// A number.
    static func number(_ key: String, _ place: Row.Path<Decimal64?>, _ about: String) -> Row {
        .single(key, "number", about, .text) { (text, entry) throws(SettingProblem) in
            guard let number = RuleExpression.number(text) else {
                throw SettingProblem(message: "'\(text)' is not a number", advice: "write it as 60 or 36.5")
            }
            entry[keyPath: place] = number
        } shown: { _ in
            ""
        }
    }

    /// The expression that must give something true.
    static func condition(_ place: Row.Path<RuleExpression?>, _ about: String) -> Row {
        .single("when", "expression", about, .text) { (text, entry) throws(SettingProblem) in
            entry[keyPath: place] = try RuleExpression.setting(text)
        } shown: { _ in
            ""
        }
    }
}

/// Names of rules, which are labels of counters.
enum RuleName {
    /// Whether `text` is one.
    static func isOne(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]{0,39}/) != nil }

    static let advice = "write at most 40 letters, digits, '-' and '_', a letter first"
}

extension RuleExpression {
    /// The expression `text`.
    ///
    /// - Throws: ``SettingProblem`` where it goes wrong.
    static func setting(_ text: String) throws(SettingProblem) -> RuleExpression {
        do throws(ExpressionError) {
            return try RuleExpression(text)
        } catch {
            throw SettingProblem(
                message: "\(error.message) at byte \(error.offset) of: \(text)",
                advice: "try it with 'kymo eval --language JmesPath'")
        }
    }

    /// The number that `text` is; nil when it is none, or cannot be kept exactly.
    static func number(_ text: String) -> Decimal64? {
        let bytes = PaddedBytes(copying: Array(text.utf8))
        guard case .number(let number) = DecimalParser.parse(bytes.view) else { return nil }
        return number
    }
}
