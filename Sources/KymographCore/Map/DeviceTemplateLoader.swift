/// Reads `device.json` (CollectionContent) and compiles its expressions; notes every error, not the first.
///
/// Rules: mapping dialect, sections 2.1, 2.2 and 2.5, with quirks 2, 3 and 6 fixed.
struct DeviceTemplateLoader {
    private static let rootNames = ["CollectionContent", "CollectionContentTemplate"]
    private static let containerFields = ["templateType", "template"]
    private static let templateFields = [
        "typeName", "typeMatchExpression", "deviceIdExpression", "timestampExpression", "timestampFormat",
        "startExpression", "patientIdExpression", "encounterIdExpression", "correlationIdExpression", "values",
        "defaultExpressionLanguage",
    ]
    private static let valueFields = ["valueName", "valueExpression", "required"] + ValueRuleLoader.fields
    private static let languageAdvice = "JMESPath is not supported; write the expression as JSONPath"

    private var log: DiagnosticLog
    private var program: PathProgram

    /// Reads the collection `root`; compiled expressions are added to `program`, findings to `log`.
    static func load(_ root: JSONNode, program: inout PathProgram, log: inout DiagnosticLog) -> [DeviceTemplate] {
        var loader = DeviceTemplateLoader(log: log, program: program)
        let templates = loader.collection(root)
        log = loader.log
        program = loader.program
        return templates
    }

    private init(log: DiagnosticLog, program: PathProgram) {
        self.log = log
        self.program = program
    }

    private mutating func collection(_ root: JSONNode) -> [DeviceTemplate] {
        let reader = FieldReader(root, what: "the file", log: &log)
        guard let type = reader.requiredString("templateType", log: &log) else { return [] }
        guard Self.rootNames.contains(where: { $0.lowercased() == type.lowercased() }) else {
            log.error(
                reader.position(of: "templateType"),
                "Expected TemplateType value CollectionContentTemplate, actual \(type)",
                advice: "a device mapping starts with \"templateType\": \"CollectionContent\"")
            return []
        }
        PayloadKind.read(reader, log: &log)
        guard let body = reader.required("template", nil, log: &log) else { return [] }
        guard let elements = body.elements else {
            refuse(body, expected: "an array", in: "CollectionContentTemplate")
            return []
        }
        return elements.compactMap { container($0) }
    }

    private mutating func container(_ node: JSONNode) -> DeviceTemplate? {
        guard node.members != nil else {
            log.error(node.position, "a template must be an object, found \(node.kind)")
            return nil
        }
        let reader = FieldReader(node, what: "a template", log: &log)
        guard let type = reader.requiredString("templateType", log: &log) else { return nil }
        guard let kind = kind(type) else {
            let names = DeviceTemplateKind.allCases.map(\.rawValue)
            log.error(
                reader.position(of: "templateType"), "No match found for template type \(type)",
                advice: NearestName.advice(
                    for: type, among: names, otherwise: "use one of \(names.joined(separator: ", "))"))
            return nil
        }
        guard let body = reader.required("template", nil, log: &log) else { return nil }
        guard body.members != nil else {
            refuse(body, expected: "an object", in: "\(kind.rawValue)Template")
            return nil
        }
        return template(body, kind)
    }

    private mutating func refuse(_ body: JSONNode, expected: String, in type: String) {
        log.error(
            body.position,
            "Expected \(expected) for the template property value for template type \(type), found \(body.kind)")
    }

    /// All documented spellings (quirk 2: the reference refuses some that its documentation uses).
    private func kind(_ name: String) -> DeviceTemplateKind? {
        var wanted = name.lowercased()
        if wanted.hasSuffix("template") { wanted.removeLast("template".count) }
        if wanted == "calculatedfunctioncontent" { return .calculated }
        return DeviceTemplateKind.allCases.first { $0.rawValue.lowercased() == wanted }
    }

    private mutating func template(_ body: JSONNode, _ kind: DeviceTemplateKind) -> DeviceTemplate? {
        let errors = log.all.count
        let reader = FieldReader(body, what: "a \(kind.rawValue) template", log: &log)
        reader.refuseUnknown(Self.templateFields, log: &log)
        checkLanguage(reader, kind)
        let typeName = reader.requiredString("typeName", log: &log)
        let match = expression(reader, "typeMatchExpression", kind, isMatch: true, required: true)
        let isIot = kind == .iotJsonPath
        let device =
            isIot
            ? fixed("$.SystemProperties.iothub-connection-device-id")
            : expression(reader, "deviceIdExpression", kind, required: true)
        let timestamp =
            isIot
            ? fixed("$.Properties.iothub-creation-time-utc")
            : expression(reader, "timestampExpression", kind, required: true)
        let alternative = isIot ? fixed("$.SystemProperties.iothub-enqueuedtime") : nil
        let start = expression(reader, "startExpression", kind)
        let patient = expression(reader, "patientIdExpression", kind)
        let encounter = expression(reader, "encounterIdExpression", kind)
        let correlation = expression(reader, "correlationIdExpression", kind)
        let format = timestampFormat(reader)
        let values = values(reader, kind)
        guard let typeName, let match, let timestamp, log.all[errors...].allSatisfy({ $0.severity != .error }) else {
            return nil
        }
        return DeviceTemplate(
            kind: kind, typeName: typeName, position: reader.position(of: "typeName"), values: values,
            timestampFormat: format, match: match, device: device, timestamp: timestamp,
            alternativeTimestamp: alternative, start: start, patient: patient, encounter: encounter,
            correlation: correlation)
    }

    private mutating func checkLanguage(_ reader: FieldReader, _ kind: DeviceTemplateKind) {
        guard let member = reader.member("defaultExpressionLanguage") else { return }
        if kind != .calculated {
            log.error(
                member.position,
                "Could not find member 'defaultExpressionLanguage' on object of type '\(kind.rawValue)'",
                advice: "only CalculatedContent templates choose a language")
        } else if member.node.string?.lowercased() != "jsonpath" {
            log.error(member.node.position, "the expression language must be JsonPath", advice: Self.languageAdvice)
        }
    }

    private mutating func timestampFormat(_ reader: FieldReader) -> TimestampFormat {
        guard let node = reader.optional("timestampFormat", "a string", log: &log), let name = node.string else {
            return .iso8601
        }
        if let format = TimestampFormat.allCases.first(where: { $0.name == name }) { return format }
        let names = TimestampFormat.allCases.map(\.name)
        log.error(
            node.position, "unknown timestampFormat '\(name)'",
            advice: "use one of \(names.joined(separator: ", "))")
        return .iso8601
    }

    private mutating func values(_ reader: FieldReader, _ kind: DeviceTemplateKind) -> [DeviceTemplate.Value] {
        guard let elements = reader.optional("values", "an array", log: &log)?.elements else { return [] }
        let values = elements.compactMap { value($0, kind) }
        var seen: Set<String> = []
        for value in values where !seen.insert(value.name).inserted {
            log.warning(
                value.position, "the template names the value '\(value.name)' twice",
                advice: "the first that a reading has is taken")
        }
        return values
    }

    private mutating func value(_ node: JSONNode, _ kind: DeviceTemplateKind) -> DeviceTemplate.Value? {
        guard node.members != nil else {
            log.error(node.position, "a value must be an object, found \(node.kind)")
            return nil
        }
        let reader = FieldReader(node, what: "a value", log: &log)
        reader.refuseUnknown(Self.valueFields, log: &log)
        let name = reader.requiredString("valueName", log: &log)
        let isConstant = ValueRuleLoader.isConstant(reader)
        let expression = isConstant ? nil : expression(reader, "valueExpression", kind, required: true)
        let isRequired = required(reader)
        let rule = ValueRuleLoader.load(reader, log: &log)
        let unitExpression = unitExpression(reader, kind)
        guard let name, expression != nil || rule?.constant != nil else { return nil }
        return DeviceTemplate.Value(
            name: name, isRequired: isRequired, position: node.position, expression: expression, rule: rule,
            unitExpression: unitExpression)
    }

    private mutating func unitExpression(_ reader: FieldReader, _ kind: DeviceTemplateKind) -> TemplateExpression? {
        guard let unit = UnitRuleLoader.opened(in: reader, log: &log), unit.member("expression") != nil else {
            return nil
        }
        return expression(unit, "expression", kind, required: true)
    }

    private mutating func required(_ reader: FieldReader) -> Bool {
        guard let member = reader.member("required") else { return false }
        switch member.node.value {
        case .bool(let flag): return flag
        case .string(let text) where ["true", "false"].contains(text.lowercased()): return text.lowercased() == "true"
        default:
            log.error(member.node.position, "'required' must be true or false, found \(member.node.kind)")
            return false
        }
    }

    // MARK: Expressions

    private mutating func expression(
        _ reader: FieldReader, _ field: String, _ kind: DeviceTemplateKind, isMatch: Bool = false,
        required: Bool = false
    ) -> TemplateExpression? {
        let node = required ? reader.required(field, nil, log: &log) : reader.optional(field, nil, log: &log)
        guard let node, let (text, position) = expressionText(node, field, kind) else { return nil }
        if text.allSatisfy(\.isWhitespace) {
            if required || kind == .calculated {
                log.error(position, "\(field) is blank", advice: "write a JSONPath such as $.name")
            }
            return nil
        }
        if isMatch { return compile(text, position, scope: .envelope) }
        return compile(text, position, scope: kind == .calculated ? .envelopeWithMatch : .match)
    }

    /// The text of a string, or of a Calculated template's `{"value": …, "language": …}`.
    private mutating func expressionText(
        _ node: JSONNode, _ field: String, _ kind: DeviceTemplateKind
    ) -> (String, SourcePosition)? {
        if let text = node.string { return (text, node.position) }
        guard kind == .calculated, node.members != nil else {
            log.error(node.position, "\(field) must be a string, found \(node.kind)")
            return nil
        }
        let reader = FieldReader(node, what: field, log: &log)
        if let language = reader.member("language"), language.node.string?.lowercased() != "jsonpath" {
            log.error(language.node.position, "the expression language must be JsonPath", advice: Self.languageAdvice)
            return nil
        }
        guard let text = reader.requiredString("value", log: &log) else { return nil }
        return (text, reader.position(of: "value"))
    }

    private mutating func compile(
        _ text: String, _ position: SourcePosition, scope: TemplateExpression.Scope
    ) -> TemplateExpression? {
        do throws(ExpressionError) {
            return try TemplateExpression.compile(text, scope: scope, into: &program)
        } catch {
            log.error(
                position, "expression \(text), character \(error.offset + 1): \(error.message)",
                advice: "see the JSONPath section of docs/mapping-language.md")
            return nil
        }
    }

    /// An expression that the dialect fixes; it is known to compile.
    private mutating func fixed(_ text: String) -> TemplateExpression? {
        compile(text, .start, scope: .match)
    }
}

extension TemplateExpression {
    /// What `$` is.
    enum Scope {
        /// The envelope.
        case envelope
        /// The envelope with the match as its member `matchedToken`.
        case envelopeWithMatch
        /// The matched token.
        case match
    }

    /// Compiles `text`. Where the envelope has the match, a path that starts at it is made relative to the match.
    static func compile(
        _ text: String, scope: Scope, into program: inout PathProgram
    ) throws(ExpressionError) -> TemplateExpression {
        var path = try JSONPathParser.compile(text, into: &program)
        guard scope == .envelopeWithMatch, path.count > 0 else {
            return TemplateExpression(text: text, path: path, fromMatch: scope == .match)
        }
        let first = program.steps[Int(path.start)]
        guard first.operation == .member, program.names[Int(first.name)] == "matchedToken" else {
            return TemplateExpression(text: text, path: path, fromMatch: false)
        }
        path.start += 1
        path.count -= 1
        path.requiredNames = 0
        return TemplateExpression(text: text, path: path, fromMatch: true)
    }
}
