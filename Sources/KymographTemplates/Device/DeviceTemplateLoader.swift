import KymographCore

/// Reads `device.json` (CollectionContent) and compiles its expressions; notes every error, not the first.
///
/// Rules: mapping dialect, sections 2.1, 2.2 and 2.5, with quirks 2, 3 and 6 fixed.
struct DeviceTemplateLoader {
    private static let rootNames = ["CollectionContent", "CollectionContentTemplate"]
    private static let containerFields = ["templateType", "template"]
    private static let rootFields =
        ["$schema", MappingDialect.member, "compatibility", "payload"] + containerFields + PayloadReader.members
    private static let templateFields = [
        "typeName", "typeMatchExpression", "deviceIdExpression", "timestampExpression", "timestampFormat",
        "startExpression", "readingIdExpression", "patientIdExpression", "encounterIdExpression",
        "correlationIdExpression", "values",
        "defaultExpressionLanguage", "retracts",
    ]
    private static let valueFields = ["valueName", "valueExpression", "required"] + ValueRuleLoader.fields

    private var log: DiagnosticLog
    private var program: ExpressionProgram
    private var compatibility: Compatibility
    /// How the file's packets are to be read; nil where its payloads are JSON documents.
    private var packetForm: PacketForm?
    /// The language of the template that is being read.
    private var language = ExpressionLanguage.jsonPath
    /// Whether its match expression may make values: any JMESPath may.
    private var matchIsMade = false

    /// Reads the collection `root`; compiled expressions are added to `program`, findings to `log`.
    ///
    /// The file may ask for `compatibility` itself.
    static func load(
        _ root: JSONNode, compatibility: Compatibility, program: inout ExpressionProgram, log: inout DiagnosticLog
    ) -> (templates: [DeviceTemplate], packetForm: PacketForm?, compatibility: Compatibility) {
        var loader = DeviceTemplateLoader(log: consume log, program: consume program, compatibility: compatibility)
        let templates = loader.collection(root)
        log = loader.log
        program = loader.program
        return (templates, loader.packetForm, loader.compatibility)
    }

    private init(log: consuming DiagnosticLog, program: consuming ExpressionProgram, compatibility: Compatibility) {
        self.log = log
        self.program = program
        self.compatibility = compatibility
    }

    private mutating func collection(_ root: JSONNode) -> [DeviceTemplate] {
        let reader = FieldReader(root, what: "the file", log: &log)
        guard let type = reader.requiredString("templateType", log: &log) else { return [] }
        guard Self.rootNames.contains(where: { $0.lowercased() == type.lowercased() }) else {
            log.error(
                reader.position(of: "templateType"),
                "Expected TemplateType value CollectionContentTemplate, actual \(type)",
                advice: "a device mapping starts with \"templateType\": \"CollectionContent\"",
                finding: .wrongTemplateType)
            return []
        }
        guard MappingDialect.isReadable(reader, log: &log) else { return [] }
        compatibility = Compatibility.read(reader, log: &log) ?? compatibility
        log.compatibility = compatibility
        reader.refuseUnknownOfShell(Self.rootFields, log: &log)
        packetForm = PayloadReader.read(reader, log: &log)
        guard let body = reader.required("template", nil, log: &log) else { return [] }
        guard let elements = body.elements else {
            refuse(body, expected: "an array", in: "CollectionContentTemplate")
            return []
        }
        return elements.compactMap { container($0) }
    }

    private mutating func container(_ node: JSONNode) -> DeviceTemplate? {
        guard node.members != nil else {
            log.error(node.position, "a template must be an object, found \(node.kind)", finding: .wrongKind)
            return nil
        }
        let reader = FieldReader(node, what: "a template", log: &log)
        reader.refuseUnknownOfShell(Self.containerFields, log: &log)
        guard let type = reader.requiredString("templateType", log: &log) else { return nil }
        guard let kind = kind(type) else {
            let names = DeviceTemplateKind.allCases.map(\.rawValue)
            log.error(
                reader.position(of: "templateType"), "No match found for template type \(type)",
                advice: NearestName.advice(
                    for: type, among: names, otherwise: "use one of \(names.joined(separator: ", "))"),
                finding: .wrongTemplateType)
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
            "Expected \(expected) for the template property value for template type \(type), found \(body.kind)",
            finding: .wrongKind)
    }

    /// All documented spellings (quirk 2: the reference refuses some that its documentation uses).
    private func kind(_ name: String) -> DeviceTemplateKind? {
        if compatibility == .iomtFHIR { return DeviceTemplateKind(referenceName: name) }
        var wanted = name.lowercased()
        if wanted.hasSuffix("template") { wanted.removeLast("template".count) }
        if wanted == "calculatedfunctioncontent" { return .calculated }
        return DeviceTemplateKind.allCases.first { $0.rawValue.lowercased() == wanted }
    }

    private mutating func template(_ body: JSONNode, _ kind: DeviceTemplateKind) -> DeviceTemplate? {
        let errors = log.all.count
        let reader = FieldReader(body, what: "a \(kind.rawValue) template", log: &log)
        reader.refuseUnknown(Self.templateFields, log: &log)
        language = defaultLanguage(reader, kind)
        let typeName = reader.requiredString("typeName", log: &log)
        let match = expression(reader, "typeMatchExpression", kind, isMatch: true, required: true)
        matchIsMade = match?.isJMESPath ?? false
        let device = source(reader, "deviceIdExpression", kind, fixed: kind.fixedDevice)
        let retracts = retracts(reader)
        // An id is enough to take a reading back.
        let needsTime = !retracts || reader.member("readingIdExpression") == nil
        let timestamp = source(
            reader, "timestampExpression", kind, fixed: kind.fixedTimestamp, required: needsTime)
        let alternative = kind.alternativeTimestamp.flatMap { fixed($0) }
        let start = expression(reader, "startExpression", kind)
        let readingId = expression(reader, "readingIdExpression", kind)
        let patient = expression(reader, "patientIdExpression", kind)
        let encounter = expression(reader, "encounterIdExpression", kind)
        let correlation = expression(reader, "correlationIdExpression", kind)
        let format = timestampFormat(reader)
        let values = values(reader, kind)
        guard let typeName, let match, log.all[errors...].allSatisfy({ $0.severity != .error }) else { return nil }
        var template = DeviceTemplate(
            kind: kind, typeName: typeName, position: reader.position(of: "typeName"),
            compatibility: compatibility, values: values, timestampFormat: format, match: match, device: device,
            timestamp: timestamp, alternativeTimestamp: alternative, start: start, readingId: readingId,
            patient: patient, encounter: encounter, correlation: correlation)
        template.retracts = retracts
        // What comes from another mapping has one place (``MappingExtension``).
        template.isInherited = reader.member("retracts")?.position == reader.member("typeName")?.position
        return template
    }

    /// Whether matches take readings back.
    private mutating func retracts(_ reader: FieldReader) -> Bool {
        guard let member = reader.member("retracts") else { return false }
        guard case .bool(let retracts) = member.node.value else {
            log.error(member.node.position, "'retracts' must be true or false, found \(member.node.kind)")
            return false
        }
        guard retracts else { return false }
        for field in ["values", "startExpression", "encounterIdExpression", "correlationIdExpression"] {
            guard let other = reader.member(field) else { continue }
            log.error(
                other.position, "a template that retracts has no '\(field)'",
                advice: "a reading is taken back by its id, or by its time", finding: .unknownField)
        }
        return true
    }

    /// The expression of a field that some kinds of templates fix: what such a template says is ignored, as the
    /// reference ignores it.
    private mutating func source(
        _ reader: FieldReader, _ field: String, _ kind: DeviceTemplateKind, fixed text: String?, required: Bool = true
    ) -> TemplateExpression? {
        if let text { return fixed(text) }
        return expression(reader, field, kind, required: required)
    }

    private mutating func defaultLanguage(_ reader: FieldReader, _ kind: DeviceTemplateKind) -> ExpressionLanguage {
        guard let member = reader.member("defaultExpressionLanguage") else { return .jsonPath }
        if kind != .calculated {
            log.error(
                member.position,
                "Could not find member 'defaultExpressionLanguage' on object of type '\(kind.rawValue)'",
                advice: "only CalculatedContent templates choose a language", finding: .unknownField)
            return .jsonPath
        }
        return member.node.isNull ? .jsonPath : language(member.node)
    }

    private mutating func language(_ node: JSONNode) -> ExpressionLanguage {
        if let language = node.string.flatMap(ExpressionLanguage.init(named:)) { return language }
        let names = ExpressionLanguage.allCases.map(\.rawValue).joined(separator: " or ")
        log.error(
            node.position, "the expression language must be \(names)", advice: "leave it out for JsonPath",
            finding: .unknownChoice)
        return .jsonPath
    }

    private mutating func timestampFormat(_ reader: FieldReader) -> TimestampFormat {
        guard let node = reader.optional("timestampFormat", "a string", log: &log), let name = node.string else {
            return .iso8601
        }
        if let format = TimestampFormat.allCases.first(where: { $0.name == name }) { return format }
        let names = TimestampFormat.allCases.map(\.name)
        log.error(
            node.position, "unknown timestampFormat '\(name)'",
            advice: "use one of \(names.joined(separator: ", "))", finding: .unknownChoice)
        return .iso8601
    }

    private mutating func values(_ reader: FieldReader, _ kind: DeviceTemplateKind) -> [DeviceTemplate.Value] {
        guard let elements = reader.optional("values", "an array", log: &log)?.elements else { return [] }
        let values = elements.compactMap { value($0, kind) }
        var seen: Set<String> = []
        for value in values where !seen.insert(value.name).inserted {
            log.warning(
                value.position, "the template names the value '\(value.name)' twice",
                advice: "the first that a reading has is taken", finding: .repeatedValue)
        }
        return values
    }

    private mutating func value(_ node: JSONNode, _ kind: DeviceTemplateKind) -> DeviceTemplate.Value? {
        guard node.members != nil else {
            log.error(node.position, "a value must be an object, found \(node.kind)", finding: .wrongKind)
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
            unitExpression: unitExpression, scaleExpression: scaleExpression(reader, kind))
    }

    private mutating func scaleExpression(_ reader: FieldReader, _ kind: DeviceTemplateKind) -> TemplateExpression? {
        guard let scale = ScaleRuleLoader.opened(in: reader, log: &log) else { return nil }
        return expression(scale, "expression", kind, required: true)
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
        case .object, .array, .string, .number, .null:
            log.error(
                member.node.position, "'required' must be true or false, found \(member.node.kind)", finding: .wrongKind
            )
            return false
        }
    }

    // MARK: Expressions

    private mutating func expression(
        _ reader: FieldReader, _ field: String, _ kind: DeviceTemplateKind, isMatch: Bool = false,
        required: Bool = false
    ) -> TemplateExpression? {
        let node = required ? reader.required(field, nil, log: &log) : reader.optional(field, nil, log: &log)
        guard let node, let written = written(node, field, kind) else { return nil }
        if written.text.allSatisfy(\.isWhitespace) {
            if required || kind == .calculated {
                log.error(
                    written.position, "\(field) is blank", advice: "write a JSONPath such as $.name",
                    finding: .blankField)
            }
            return nil
        }
        if isMatch { return compile(written, scope: .envelope) }
        return compile(written, scope: kind == .calculated ? .envelopeWithMatch : .match)
    }

    /// An expression as a mapping writes it.
    private struct WrittenExpression {
        var text: String
        var position: SourcePosition
        var language: ExpressionLanguage
    }

    /// A string, or a Calculated template's `{"value": …, "language": …}`.
    private mutating func written(
        _ node: JSONNode, _ field: String, _ kind: DeviceTemplateKind
    ) -> WrittenExpression? {
        if let text = node.string { return WrittenExpression(text: text, position: node.position, language: language) }
        guard kind == .calculated, node.members != nil else {
            log.error(node.position, "\(field) must be a string, found \(node.kind)", finding: .wrongKind)
            return nil
        }
        let reader = FieldReader(node, what: field, log: &log)
        reader.refuseUnknownOfShell(["value", "language"], log: &log)
        var chosen = language
        if let member = reader.member("language"), !member.node.isNull { chosen = language(member.node) }
        guard let text = reader.requiredString("value", log: &log) else { return nil }
        return WrittenExpression(text: text, position: reader.position(of: "value"), language: chosen)
    }

    private mutating func compile(
        _ written: WrittenExpression, scope: TemplateExpression.Scope
    ) -> TemplateExpression? {
        do throws(ExpressionError) {
            let compiled = try TemplateExpression.compile(
                written.text, written.language, scope: scope, matchIsMade: matchIsMade, into: &program)
            noteIntegerDivision(compiled, written)
            return compiled
        } catch {
            return unreadable(written, error)
        }
    }

    /// Two integers divide to an integer (quirk 13), which nobody expects of 40 / 50.
    private mutating func noteIntegerDivision(_ expression: TemplateExpression, _ written: WrittenExpression) {
        guard case .jmesPath(let reference) = expression.form,
            let offset = JMESPathProgram.integerDivision(reference, in: program.jmesPaths)
        else { return }
        log.warning(
            written.position,
            "expression \(written.text), character \(offset + 1): divide drops the remainder of two integers",
            advice: "write one side with a point, such as `2.0`", finding: .integerDivision)
    }

    /// JMESPath is parsed at load by the reference, too; its JSONPath errors came with each event (quirk 6), so that
    /// mappings with one in a rarely used template are in use.
    private mutating func unreadable(_ written: WrittenExpression, _ error: ExpressionError) -> TemplateExpression? {
        let name = written.language == .jsonPath ? "JSONPath" : "JMESPath"
        let lead = written.language == .jsonPath ? "" : "The following JmesPath expression could not be parsed: "
        let message = "\(lead)expression \(written.text), character \(error.offset + 1): \(error.message)"
        guard compatibility == .iomtFHIR, written.language == .jsonPath else {
            log.error(
                written.position, message, advice: "see the \(name) section of docs/mapping-language.md",
                finding: .expression)
            return nil
        }
        log.warning(
            written.position, message, advice: "readings that need it will be rejected as expressionFailed",
            finding: .expression)
        return TemplateExpression(text: written.text, form: .broken, fromMatch: false)
    }

    /// An expression that the dialect fixes; it is known to compile.
    private mutating func fixed(_ text: String) -> TemplateExpression? {
        compile(WrittenExpression(text: text, position: .start, language: .jsonPath), scope: .match)
    }
}

extension DeviceTemplateKind {
    /// The kind that the reference takes `name` for (mapping dialect, section 2.1): two kinds only without `Template`.
    fileprivate init?(referenceName name: String) {
        let accepted: [(kind: DeviceTemplateKind, withSuffix: Bool)] = [
            (.jsonPath, true), (.iotJsonPath, true), (.iotCentral, false), (.calculated, false),
        ]
        let wanted = name.lowercased()
        let found = accepted.first { entry in
            let known = entry.kind.rawValue.lowercased()
            return wanted == known || (entry.withSuffix && wanted == known + "template")
        }
        guard let found else { return nil }
        self = found.kind
    }

    /// The device expression that the dialect fixes (mapping dialect, section 2.2).
    fileprivate var fixedDevice: String? {
        switch self {
        case .iotJsonPath: "$.SystemProperties.iothub-connection-device-id"
        case .iotCentral: "$.deviceId"
        case .jsonPath, .calculated: nil
        }
    }

    fileprivate var fixedTimestamp: String? {
        switch self {
        case .iotJsonPath: "$.Properties.iothub-creation-time-utc"
        case .iotCentral: "$.enqueuedTime"
        case .jsonPath, .calculated: nil
        }
    }

    /// The timestamp that is taken when the first gives none.
    fileprivate var alternativeTimestamp: String? {
        self == .iotJsonPath ? "$.SystemProperties.iothub-enqueuedtime" : nil
    }
}

extension Compatibility {
    /// The member `compatibility` of a mapping file, or nil when it has none.
    static func read(_ reader: FieldReader, log: inout DiagnosticLog) -> Compatibility? {
        guard let node = reader.optional("compatibility", "a string", log: &log), let name = node.string else {
            return nil
        }
        if let known = Compatibility(rawValue: name) { return known }
        let names = Compatibility.allCases.map(\.rawValue)
        log.error(
            node.position, "unknown compatibility '\(name)'",
            advice: NearestName.advice(for: name, among: names, otherwise: "use \(names.joined(separator: " or "))"),
            finding: .unknownChoice)
        return nil
    }
}
