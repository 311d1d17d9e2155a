import KymographCore

/// Compiles templates into flat programs: all that is known beforehand becomes constant, escaped, minified bytes.
struct ProgramCompiler: ~Copyable {
    var constants = ByteWriter()
    var steps = RawArray<ProgramStep>()
    var fields = RawArray<ProgramField>()
    var types = RawArray<TypeProgram>()
    var tables: ProgramTables
    var resources = RawArray<ResourceProgram>()
    var resourceSteps = RawArray<ResourceStep>()
    var summaries = RawArray<GlucoseSummaryProgram>()
    var attachments = RawArray<AttachmentProgram>()
    let options: ObservationOptions
    /// First field of the type being compiled.
    private var firstField = 0
    /// First step of the type being compiled.
    private var firstStep = 0
    /// Whether the type being compiled has the reference's shape.
    private(set) var isReference = false
    /// Whether readings of the type being compiled can contradict each other in one Observation.
    private(set) var isCorrelation = false
    /// How the type being compiled writes its number of readings.
    private(set) var countForm = CountForm.integer

    init(options: ObservationOptions) {
        self.options = options
        tables = ProgramTables(version: options.version)
    }

    /// Adds the program of `type`; without a template it writes nothing.
    mutating func add(_ type: MeasurementType, _ template: FHIRTemplate?) {
        firstField = fields.count
        firstStep = steps.count
        var program = TypeProgram()
        program.nameStart = constants.count
        isReference = type.compatibility == .iomtFHIR && template?.resource == nil && template?.summary == nil
        isCorrelation = type.grouping == .correlation
        let name = Array(type.name.utf8)
        if isReference { constants.append(name) } else { constants.appendIdentityPart(name) }
        program.nameEnd = constants.count
        program.durationSlot = type.durationSlot ?? -1
        program.idSlot = type.idSlot ?? -1
        program.segment = segment(type.grouping)
        program.attachmentStart = attachments.count
        program.isCompatible = isReference
        if let template, let resource = template.resource {
            program.resource = Int32(resources.count)
            resources.append(addResource(resource, profiles: template.profiles, type))
            step(.resource)
        } else if let summary = template?.summary {
            program.summary = Int32(summaries.count)
            program.coversWindow = true
            summaries.append(addSummary(summary, type))
            step(.summary)
        } else if let template {
            compile(shaped(template, type), type, into: &program)
        }
        program.stepStart = firstStep
        program.stepEnd = steps.count
        program.fieldStart = firstField
        program.fieldEnd = fields.count
        program.attachmentEnd = attachments.count
        types.append(program)
    }

    /// The template as those have it whose form Observations are to have.
    private func shaped(_ template: FHIRTemplate, _ type: MeasurementType) -> FHIRTemplate {
        if isReference { return IomtFHIRShape.apply(to: template, typeName: type.name) }
        return options.isPersonalHealth ? PersonalHealthShape.apply(to: template) : template
    }

    private func segment(_ grouping: Grouping) -> TypeProgram.Segment {
        switch grouping {
        case .instance: .instance
        case .tumbling: .window
        case .correlation: .correlation
        }
    }

    private mutating func compile(_ template: FHIRTemplate, _ type: MeasurementType, into program: inout TypeProgram) {
        program.hasTemplate = true
        countForm = CountForm(template, in: options.version)
        // A correlation has no window besides its readings, and an instant none at all.
        program.coversWindow = template.effective == .window && program.segment == .window
        program.tagStart = constants.count
        constants.append(ReadingTags.list(template.ownTags))
        program.tagEnd = constants.count
        program.effectiveForm = options.version.form(template.members.effectiveForm)
        program.isPreliminary = template.members.isPreliminary
        addHead(template, type)
        addMembers(template.members, type)
        let value = template.value.map { (rule: $0, field: addField($0, type)) }
        if let value { addValue(value.rule, value.field, template.code, type, inComponent: false) }
        literal("\"device\":{")
        step(.device)
        literal("}")
        if let value, case .statistics(let rule) = value.rule.kind {
            addStatistics(rule, value.rule.extras.shares, value.field, type)
        }
        for component in template.components {
            addComponent(component, addField(component.value, type), template, type)
        }
        step(.endComponents)
        if attachments.count > program.attachmentStart { step(.derivedFrom) }
        literal("}")
        for index in firstField..<fields.count where fields[index].kind == .series { program.needsPeriod = true }
    }

    // MARK: Parts

    private mutating func addHead(_ template: FHIRTemplate, _ type: MeasurementType) {
        literal("{\"resourceType\":\"Observation\"")
        step(.id)
        addMeta(template)
        literal(",\"identifier\":[{\"system\":\(JSONText.quoted(observationSystem)),\"value\":\"")
        step(.identifier)
        literal("\"}")
        addGuideIdentifier(template)
        addIdentifiers(template.members.identifiers, type)
        literal("],\"status\":\"")
        step(followsGuide ? .guideStatus : .status)
        literal("\"")
        let categories = template.categories.map(JSONText.object)
        if !categories.isEmpty { literal(",\"category\":[\(categories.joined(separator: ","))]") }
        literal(",\"code\":\(JSONText.object(options.version.code(template.code))),\"subject\":{")
        step(.subject)
        literal("}")
        step(.encounter)
        addBytes(",\"\(options.version.encounterMember)\":{")
        literal(",")
        step(.effective)
        literal(",")
        if isReference { step(.referenceIssued) }
    }

    /// Adds `meta`, with room for the tags of readings.
    private mutating func addMeta(_ template: FHIRTemplate) {
        let meta = JSONText.meta(template)
        if !meta.isEmpty { literal(",\"meta\":{\(meta)") }
        let place: TagPlace = template.members.tags.isEmpty ? meta.isEmpty ? .alone : .behindMembers : .behindOthers
        step(.tags, .always, place.rawValue)
        switch place {
        case .behindOthers: literal("]}")
        case .behindMembers: literal("}")
        case .alone: break
        }
    }

    /// Whether the type being compiled has the shape of the Personal Health Devices guide.
    var followsGuide: Bool { options.isPersonalHealth && !isReference }

    /// Whether Observations of the type being compiled name the gateway.
    var namesGateway: Bool { options.namesGateway && !isReference }

    /// Adds the guide's own identifier, where there is the MDC code that it is made of.
    private mutating func addGuideIdentifier(_ template: FHIRTemplate) {
        guard followsGuide, let code = PersonalHealthShape.deviceCode(of: template) else { return }
        literal(",{\"system\":\(JSONText.quoted(PersonalHealthShape.identifierSystem)),\"value\":\"")
        step(.guideIdentifier)
        addBytes(String(JSONText.quoted(code).dropFirst().dropLast()))
        literal("\"}")
    }

    private var observationSystem: String { isReference ? Compatibility.iomtFHIRSystem : options.observationSystem }

    mutating func addField(_ rule: ValueRule, _ type: MeasurementType) -> UInt16 {
        let slot = Int32(type.valueNames.firstIndex(of: rule.name) ?? -1)
        var field: ProgramField
        switch rule.kind {
        case .quantity: field = ProgramField(kind: .number, slot: slot)
        case .string: field = ProgramField(kind: .text, slot: slot)
        case .codeableConcept: field = ProgramField(kind: .presence, slot: slot)
        case .sampledData(_, let series):
            field = ProgramField(kind: .series, slot: slot)
            field.setSeries(series)
        case .statistics(let statistics):
            field = ProgramField(kind: .statistics, slot: slot, aggregate: statistics.aggregate)
            if let series = statistics.series { field.setSeries(series.rule) }
        case .typed: field = ProgramField(kind: .checked, slot: slot)
        }
        extend(&field, rule, type)
        fields.append(field)
        return UInt16(fields.count - 1 - firstField)
    }

    /// The members `"value…":…` of a value, written when it is present, followed by what comes after.
    private mutating func addValue(
        _ rule: ValueRule, _ field: UInt16, _ code: CodeableConcept, _ type: MeasurementType, inComponent: Bool
    ) {
        let tail = inComponent ? "}" : ","
        addExtras(rule, field, then: tail)
        let unit: UnitRule
        switch rule.kind {
        case .quantity(let own): unit = own
        case .statistics(let rule): unit = rule.unit
        case .sampledData(let own, let rule):
            addSeries(own, rule, .present, field, code, type)
            return literal("}\(tail)", .present, field)
        case .string:
            literal("\"valueString\":\"", .present, field)
            step(.text, .present, field)
            return literal("\"\(tail)", .present, field)
        case .codeableConcept(let concept):
            return literal("\"valueCodeableConcept\":\(JSONText.object(concept))\(tail)", .present, field)
        case .typed(let typed):
            return addTyped(typed, TypedText(typed.form, options.version, countForm, inComponent), field, then: tail)
        }
        literal("\"valueQuantity\":{\"value\":", .present, field)
        step(.result, .present, field)
        if rule.extras.mayCompare { step(.comparator, .present, field) }
        literal("\(JSONText.unit(unit))}\(tail)", .present, field)
    }

    private mutating func addComponent(
        _ rule: ComponentRule, _ field: UInt16, _ template: FHIRTemplate, _ type: MeasurementType
    ) {
        let code = "{\"code\":\(JSONText.object(rule.code)),"
        component(code, .present, field)
        if isExplained(rule.value) { component(code, .explained, field) }
        addValue(rule.value, field, rule.code, type, inComponent: true)
        guard !isReference, isDemanded(rule, of: template) else { return }
        component("\(code)\(JSONText.dataAbsentReason("unknown"))}", .absent, field)
    }

    /// Whether the blood pressure profile demands the component (spec/fhir.md section 1).
    private func isDemanded(_ rule: ComponentRule, of template: FHIRTemplate) -> Bool {
        template.code.has(LOINC.system, ConformanceCheck.bloodPressure)
            && ConformanceCheck.bloodPressureParts.contains { rule.code.has(LOINC.system, $0) }
    }

    private mutating func addStatistics(
        _ rule: StatisticsRule, _ shares: [ShareRule], _ field: UInt16, _ type: MeasurementType
    ) {
        addParts(rule, field)
        addShares(shares, after: rule, field)
        guard let series = rule.series else { return }
        let code = "{\"code\":\(JSONText.object(series.code)),"
        component(code, .charted, field)
        addSeries(rule.unit, series.rule, .charted, field, series.code, type)
        literal("}}", .charted, field)
        component("\(code)\(JSONText.dataAbsentReason("error"))}", .uncharted, field)
    }

    /// Adds `field`, without which an Observation is whole, and which alone makes none.
    mutating func addNonValue(_ field: ProgramField) -> UInt16 {
        var field = field
        field.extras.countsAsValue = false
        fields.append(field)
        return UInt16(fields.count - 1 - firstField)
    }

    /// What field `index` of the type has beyond one number.
    func fieldExtras(_ index: UInt16) -> FieldExtras { fields[firstField + Int(index)].extras }

    // MARK: Steps

    mutating func step(
        _ code: ProgramStep.Code, _ condition: ProgramStep.Condition = .always, _ field: UInt16 = 0
    ) {
        steps.append(ProgramStep(code: code, condition: condition, field: field))
    }

    mutating func component(_ text: String, _ condition: ProgramStep.Condition, _ field: UInt16) {
        step(.component, condition, field)
        addBytes(text)
    }

    /// Adds constant bytes, joined to the step before when that is taken under the same condition.
    mutating func literal(
        _ text: String, _ condition: ProgramStep.Condition = .always, _ field: UInt16 = 0
    ) {
        let last = steps.count - 1
        let joins = last >= firstStep && steps[last].isConstant && steps[last].end == constants.count
        if !(joins && steps[last].condition == condition && steps[last].field == field) {
            step(.literal, condition, field)
            steps[last + 1].start = Int32(constants.count)
        }
        addBytes(text)
    }

    /// Adds `text` to the last step, in the output version's spelling.
    private mutating func addBytes(_ text: String) {
        let last = steps.count - 1
        if steps[last].end == 0 { steps[last].start = Int32(constants.count) }
        constants.append(Array(spelled(text).utf8))
        steps[last].end = Int32(constants.count)
    }

    /// `json` in the output version's spelling.
    func spelled(_ json: String) -> String {
        options.version == .stu3 ? CodeSystemNames.stu3(in: json) : json
    }
}

extension ProgramStep {
    fileprivate var isConstant: Bool { code == .literal || code == .component }
}

extension FHIRVersion {
    /// `concept` with the code that this version's profile of its vital sign demands.
    ///
    /// The oxygen saturation profile of STU3 wants LOINC 59408-5, and those of the others 2708-6.
    func code(_ concept: CodeableConcept) -> CodeableConcept {
        guard self == .stu3, concept.has(LOINC.system, "2708-6"), !concept.has(LOINC.system, "59408-5") else {
            return concept
        }
        var both = concept
        both.codings.append(Coding(system: LOINC.system, code: "59408-5"))
        return both
    }
}
