import KymographCore

/// Compiles resources that are no Observations into flat programs.
extension ProgramCompiler {
    /// Adds the program of `rule`; its fields are those of the type being compiled.
    mutating func addResource(_ rule: ResourceRule, profiles: [String], _ type: MeasurementType) -> ResourceProgram {
        var program = ResourceProgram(stepStart: resourceSteps.count, identity: rule.identity)
        program.nameStart = constants.count
        constants.append(Array(rule.type.utf8))
        program.nameEnd = constants.count
        let targets = rule.members.flatMap(\.node.targets)
        program.refersToPatient = targets.contains(.patient)
        program.refersToDevice = targets.contains(.device)
        program.refersToGateway = targets.contains(.gateway)
        program.isReference = type.compatibility == .iomtFHIR
        write("{\"resourceType\":\(JSONText.quoted(rule.type))")
        resourceStep(.id)
        if !profiles.isEmpty, !rule.members.contains(where: { $0.name == "meta" }) {
            write(",\"meta\":{\"profile\":\(JSONText.array(profiles))}")
        }
        write(",\"identifier\":[")
        resourceStep(.identity)
        for node in rule.identifiers { addElement(node, type) }
        write("]")
        for member in rule.members { addMember(member, type) }
        write("}")
        program.stepEnd = resourceSteps.count
        return program
    }

    private mutating func addMember(_ member: ResourceMember, _ type: MeasurementType) {
        open("\(JSONText.quoted(member.name)):")
        add(member.node, type)
        close(isDemanded: member.isDemanded)
    }

    private mutating func addElement(_ node: ResourceNode, _ type: MeasurementType) {
        open("")
        add(node, type)
        if !node.mayBeMissing { resourceStep(.filled) }
        close(isDemanded: false)
    }

    /// Adds the parts of a complex extension, which are like the members of an object: constant ones alone say nothing,
    /// and without a required one there is none of it.
    private mutating func addParts(_ member: ResourceMember, _ type: MeasurementType) {
        guard case .array(let parts) = member.node else { return addMember(member, type) }
        open("\(JSONText.quoted(member.name)):[")
        for part in parts {
            open("")
            add(part, type)
            close(isDemanded: part.isDemandedPart)
        }
        write("]")
        close(isDemanded: true)
    }

    private mutating func add(_ node: ResourceNode, _ type: MeasurementType) {
        switch node {
        case .constant(let json): write(json)
        case .object(let members):
            let isExtension = members.contains { $0.name == "url" }
            write("{")
            for member in members {
                isExtension && member.name == "extension" ? addParts(member, type) : addMember(member, type)
            }
            write("}")
        case .array(let nodes):
            write("[")
            for node in nodes { addElement(node, type) }
            write("]")
        case .value(let value): addValue(value, isQuoted: true, type)
        case .text(let parts): addText(parts, type)
        case .time(let time):
            write("\"")
            resourceStep(time.code)
            write("\"")
        case .reference(let target):
            write("{")
            resourceStep(target.referenceCode)
            write("}")
        case .identifier(let target): resourceStep(target.identifierCode)
        }
    }

    private mutating func addText(_ parts: [ResourceNode], _ type: MeasurementType) {
        write("\"")
        for part in parts {
            if case .constant(let text) = part { write(text) }
            guard case .value(let value) = part else { continue }
            addValue(value, isQuoted: false, type)
            resourceSteps[resourceSteps.count - 1].isDemanded = true
        }
        write("\"")
    }

    private mutating func addValue(_ value: ResourceValue, isQuoted: Bool, _ type: MeasurementType) {
        let field = addField(value.rule, type)
        let hasQuotes = isQuoted && value.form.isText
        if hasQuotes { write("\"") }
        resourceStep(value.form.code)
        resourceSteps[resourceSteps.count - 1].field = field
        limit(to: value.codes)
        if hasQuotes { write("\"") }
    }

    /// Notes what the value of the last step can be.
    private mutating func limit(to codes: [String]) {
        guard !codes.isEmpty else { return }
        resourceSteps[resourceSteps.count - 1].start = Int32(constants.count)
        constants.append(Array(" \(codes.joined(separator: " ")) ".utf8))
        resourceSteps[resourceSteps.count - 1].end = Int32(constants.count)
    }

    // MARK: Steps

    private mutating func resourceStep(_ code: ResourceStep.Code) {
        resourceSteps.append(ResourceStep(code: code))
    }

    private mutating func open(_ text: String) {
        let start = Int32(constants.count)
        constants.append(Array(text.utf8))
        resourceSteps.append(ResourceStep(code: .open, start: start, end: Int32(constants.count)))
    }

    private mutating func close(isDemanded: Bool) {
        resourceSteps.append(ResourceStep(code: .close, isDemanded: isDemanded))
    }

    /// Adds constant bytes, joined to the step before when that is one of them.
    private mutating func write(_ text: String) {
        let last = resourceSteps.count - 1
        let start = Int32(constants.count)
        constants.append(Array(text.utf8))
        let end = Int32(constants.count)
        if last >= 0, [.literal, .open].contains(resourceSteps[last].code), resourceSteps[last].end == start {
            resourceSteps[last].end = end
        } else {
            resourceSteps.append(ResourceStep(code: .literal, start: start, end: end))
        }
    }
}

extension ResourceNode {
    /// Whether it is an object that a required value can break.
    fileprivate var isDemandedPart: Bool {
        if case .object(let members) = self { members.contains(where: \.isDemanded) } else { false }
    }
}

extension ResourceValue {
    /// How an Observation's template would read the value.
    fileprivate var rule: ValueRule {
        ValueRule(name: name.text, namePosition: name.position, position: name.position, kind: kind)
    }

    private var kind: ValueRule.Kind {
        switch form {
        case .string, .code, .uri: .string
        case .decimal: .quantity(.none)
        case .integer: .typed(TypedRule(form: .integer))
        case .boolean: .typed(TypedRule(form: .boolean))
        case .dateTime: .typed(TypedRule(form: .dateTime))
        case .time: .typed(TypedRule(form: .time))
        }
    }
}

extension ResourceValue.Form {
    /// Whether it is a JSON string.
    fileprivate var isText: Bool {
        switch self {
        case .string, .code, .uri, .dateTime, .time: true
        case .decimal, .integer, .boolean: false
        }
    }

    fileprivate var code: ResourceStep.Code {
        switch self {
        case .string, .dateTime: .text
        case .code, .uri: .word
        case .decimal, .integer: .number
        case .boolean: .boolean
        case .time: .time
        }
    }
}

extension ResourceTime {
    fileprivate var code: ResourceStep.Code {
        switch self {
        case .start: .start
        case .end: .end
        case .received: .received
        }
    }
}

extension ResourceTarget {
    fileprivate var referenceCode: ResourceStep.Code {
        switch self {
        case .patient: .patient
        case .device: .device
        case .encounter: .encounter
        case .gateway: .gateway
        }
    }

    fileprivate var identifierCode: ResourceStep.Code {
        switch self {
        case .patient: .patientIdentifier
        case .device: .deviceIdentifier
        case .encounter: .encounterIdentifier
        case .gateway: .gatewayIdentifier
        }
    }
}
