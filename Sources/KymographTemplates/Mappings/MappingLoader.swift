package import KymographCore

/// Loads, checks and joins mappings. All findings of all files are reported, not the first.
package struct MappingLoader {
    /// What loading gave: a set when there was no error, and everything that was noticed.
    package struct Result: Sendable {
        /// The set, or nil when there was an error.
        package var set: MappingSet?
        /// Errors and warnings in file order.
        package var diagnostics: [Diagnostic]
    }

    /// The name of the hidden value that keeps a reading's length; no mapping can use it, for it is no identifier.
    static let durationName = "(length)"

    /// The name of the hidden value that keeps a reading's id.
    static let idName = "(id)"

    /// Values that a type may have: their places are bytes in a reading's payload, and one is for the length. Where
    /// there are ids, another is for those.
    static let mostValues = 255

    /// A type while it is being joined.
    struct Draft {
        var name: String
        var valueNames: [String] = []
        var hasStart = false
        var hasId = false
        var fhir: FHIRTemplate?
        var fhirMapping: Int?
        /// The FHIR template as its file has it.
        var fhirBody: JSONNode?
    }

    let defaultPeriod: Int64
    private let measurementsOnly: Bool
    var diagnostics: [Diagnostic] = []
    private(set) var program = ExpressionProgram()
    private var packetForms: [PacketForm?] = []
    var drafts: [Draft] = []
    /// Whether a device file has errors, so that templates of it may be missing.
    private(set) var hasFaultyDevices = false
    var templates: [MappingSet.LinkedTemplate] = []

    /// Loads `mappings`. Templates that name no period and summarise get windows of `defaultPeriod` nanoseconds.
    ///
    /// With `measurementsOnly`, FHIR templates are left aside and every value is kept as the text that was sent.
    /// With `continuing`, the set can replace that one in a running pipeline.
    package static func load(
        _ mappings: [NamedMapping], defaultPeriod: Int64 = 300_000_000_000, measurementsOnly: Bool = false,
        continuing former: MappingSet? = nil, stored: [FormerType] = []
    ) -> Result {
        var loader = MappingLoader(defaultPeriod: defaultPeriod, measurementsOnly: measurementsOnly)
        for (index, mapping) in mappings.enumerated() { loader.add(mapping, index) }
        loader.checkRetractions(mappings)
        let set = loader.link(mappings)
        let failed = loader.diagnostics.contains { $0.severity == .error }
        guard !failed, former != nil || !stored.isEmpty else {
            return Result(set: failed ? nil : set, diagnostics: inFileOrder(loader.diagnostics))
        }
        let joined =
            former.map { MappingContinuity.join(set, after: $0, mappings: mappings) }
            ?? MappingContinuity.join(set, afterStored: stored, mappings: mappings)
        return Result(set: joined.set, diagnostics: inFileOrder(loader.diagnostics + joined.diagnostics))
    }

    /// Files as they were read, and what was found in one by its place in it.
    private static func inFileOrder(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        var files: [String: Int] = [:]
        for diagnostic in diagnostics where files[diagnostic.file] == nil { files[diagnostic.file] = files.count }
        let order = diagnostics.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            return (files[a.file, default: 0], a.position.offset, left.offset)
                < (files[b.file, default: 0], b.position.offset, right.offset)
        }
        return order.map(\.element)
    }

    private init(defaultPeriod: Int64, measurementsOnly: Bool) {
        self.defaultPeriod = defaultPeriod
        self.measurementsOnly = measurementsOnly
    }

    private mutating func add(_ mapping: NamedMapping, _ index: Int) {
        var log = DiagnosticLog(file: mapping.device.name)
        var compatibility = mapping.compatibility
        if let file = JSONNode.parse(mapping.device.bytes, log: &log) {
            let root = MappingExtension.merged(file, .device, mapping.extensible, log: &log)
            let loaded = DeviceTemplateLoader.load(
                root, compatibility: mapping.compatibility, program: &program, log: &log)
            for template in loaded.templates {
                addTemplate(template, mapping: index, &log)
            }
            checkMatches(index, &log)
            if loaded.packetForm == nil { checkRoots(of: loaded.templates, &log) }
            checkTimes(of: loaded.templates, &log)
            compatibility = loaded.compatibility
            if let form = loaded.packetForm { checkFields(of: loaded.templates, form, &log) }
            log.attributeToTemplates(of: root)
            packetForms.append(loaded.packetForm)
        } else {
            packetForms.append(nil)
        }
        diagnostics += log.all
        if log.hasErrors { hasFaultyDevices = true }
        guard !measurementsOnly, let fhir = mapping.fhir else { return }
        addFHIR(fhir, mapping, index, compatibility, deviceIsWhole: !log.hasErrors)
    }

    mutating func addTemplate(_ template: DeviceTemplate, mapping: Int, _ log: inout DiagnosticLog) {
        let type = draft(named: template.typeName)
        if template.start != nil { drafts[type].hasStart = true }
        if template.readingId != nil, !template.retracts { drafts[type].hasId = true }
        let slots = template.values.map { value in
            slot(of: value.name, in: type)
        }
        let count = drafts[type].valueNames.count
        let most = Self.mostValues - (drafts[type].hasId ? 1 : 0)
        if count > most {
            log.error(
                template.position,
                "the type '\(template.typeName)' has \(count) values; the most is \(most)",
                advice: "split it into several types")
        }
        templates.append(.init(template: template, mapping: mapping, type: type, slots: slots))
    }

    /// The draft of a type; types of one spelling are one, whatever mapping they come from.
    private mutating func draft(named name: String) -> Int {
        if let known = drafts.firstIndex(where: { $0.name == name }) { return known }
        drafts.append(Draft(name: name))
        return drafts.count - 1
    }

    private mutating func slot(of name: String, in type: Int) -> Int {
        if let known = drafts[type].valueNames.firstIndex(of: name) { return known }
        drafts[type].valueNames.append(name)
        return drafts[type].valueNames.count - 1
    }

    // MARK: FHIR templates

    private mutating func addFHIR(
        _ file: MappingFile, _ mapping: NamedMapping, _ index: Int, _ compatibility: Compatibility, deviceIsWhole: Bool
    ) {
        var log = DiagnosticLog(file: file.name)
        log.compatibility = compatibility
        if let written = JSONNode.parse(file.bytes, log: &log) {
            let root = MappingExtension.merged(written, .fhir, mapping.extensible, log: &log)
            let loaded = FHIRTemplateLoader.load(root, version: mapping.fhirVersion, log: &log)
            // Templates that could not be read would seem to be missing.
            let isWhole = deviceIsWhole && !log.hasErrors
            derive(loaded, mapping: index, &log)
            for template in loaded {
                join(template, body: templateBody(root, template.typeName), index, &log)
            }
            checkSameInstant(loaded, index, &log)
            checkPeriods(loaded, compatibility, &log)
            if isWhole { checkJoin(loaded, mapping, index, extending: written.field("extends"), &log) }
            checkRuleNumbers(mapping, index)
            log.attributeToTemplates(of: root)
        }
        diagnostics += log.all
    }

    /// Gives the template to the types of its mapping: names are compared without case, as the reference does.
    private mutating func join(
        _ template: FHIRTemplate, body: JSONNode?, _ index: Int, _ log: inout DiagnosticLog
    ) {
        let used = usedTypes(of: index)
        for type in drafts.indices where used.contains(type) && drafts[type].name.isCaseVariant(of: template.typeName) {
            if let earlier = drafts[type].fhirMapping, earlier != index {
                // Of their files only this is told in Observations.
                let hasSameRange =
                    drafts[type].fhir?.members.writesTimeRange == template.members.writesTimeRange
                guard !(hasSameRange && JSONNode.areSame(drafts[type].fhirBody, body)) else { continue }
                log.error(
                    template.namePosition,
                    "the type '\(drafts[type].name)' has a different FHIR template in another mapping of this run",
                    advice: "rename the type in one of the two mappings, or run them in two processes",
                    finding: .conflictingTemplates)
                continue
            }
            drafts[type].fhir = template
            drafts[type].fhirMapping = index
            drafts[type].fhirBody = body
        }
    }

    /// The types that the device templates of mapping `index` give.
    func usedTypes(of index: Int) -> Set<Int> {
        var types: Set<Int> = []
        for linked in templates where linked.mapping == index { types.insert(linked.type) }
        return types
    }

    /// Adds the findings in a device file that only its FHIR file shows.
    mutating func report(_ log: DiagnosticLog) { diagnostics += log.all }

    /// The template's JSON, to see whether two are the same.
    private func templateBody(_ root: JSONNode, _ typeName: String) -> JSONNode? {
        for element in root.field("template")?.elements ?? [] {
            guard let body = element.field("template"), let members = body.members else { continue }
            if members.contains(where: { $0.node.string == typeName && $0.name.isCaseVariant(of: "typeName") }) {
                return body
            }
        }
        return nil
    }

    // MARK: Linking

    private func link(_ mappings: [NamedMapping]) -> MappingSet {
        let names = mappings.map(\.name)
        let linked = templates.map(\.sortedBySlot)
        let types = drafts.indices.map { type(drafts[$0], $0) }
        let histories = drafts.indices.map { number in
            var meaning = TypeMeaning(drafts[number].fhir, linked.filter { $0.type == number }, mappings: names)
            meaning.keepsSeveral = types[number].keepsSeveral
            return TypeHistory(hasTemplate: drafts[number].fhir != nil, meaning: meaning)
        }
        return MappingSet(
            mappings: names, files: mappings.flatMap { [$0.device] + ($0.fhir.map { [$0] } ?? []) },
            types: types, fhirTemplates: drafts.map(\.fhir),
            templates: linked, histories: histories, packetForms: packetForms, program: program)
    }

    private func type(_ draft: Draft, _ index: Int) -> MeasurementType {
        let numeric = Set(draft.fhir?.valueUses.filter(\.isNumeric).map(\.name) ?? [])
        var type = MeasurementType(
            name: draft.name, valueNames: draft.valueNames,
            grouping: draft.fhir?.grouping(defaultPeriod: defaultPeriod) ?? .instance,
            isNumeric: draft.valueNames.map { numeric.contains($0) })
        let sampled = Set(draft.fhir?.valueUses.filter(\.takesSamples).map(\.name) ?? [])
        type.takesSamples = draft.valueNames.map { sampled.contains($0) }
        type.needsFHIRTemplate = !measurementsOnly
        type.compatibility = compatibility(ofType: index)
        if draft.hasStart {
            type.durationSlot = type.valueNames.count
            type.valueNames.append(Self.durationName)
            type.isNumeric.append(true)
        }
        if draft.hasId {
            type.idSlot = type.valueNames.count
            type.valueNames.append(Self.idName)
            type.isNumeric.append(false)
        }
        type.sameInstant = draft.fhir?.sameInstant ?? .usual(type.grouping, type.compatibility)
        return type
    }

    /// A type is compatible when one of its templates is: its Observations are what a server may already hold.
    private func compatibility(ofType index: Int) -> Compatibility {
        let isCompatible = templates.contains { $0.type == index && $0.template.compatibility == .iomtFHIR }
        return isCompatible ? .iomtFHIR : .none
    }
}

extension MappingSet.LinkedTemplate {
    /// The template with its values in slot order, because payload records must be.
    var sortedBySlot: Self {
        var sorted = self
        let order = slots.indices.sorted { (slots[$0], $0) < (slots[$1], $1) }
        sorted.slots = order.map { slots[$0] }
        sorted.template.values = order.map { template.values[$0] }
        return sorted
    }
}

extension JSONNode {
    /// Whether two values are the same, whatever the order of members and the layout.
    package static func areSame(_ left: JSONNode?, _ right: JSONNode?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        // Most are copies of each other.
        return left.isCopy(of: right) || left.canonicalText == right.canonicalText
    }

    private func isCopy(of other: JSONNode) -> Bool {
        switch (value, other.value) {
        case (.object(let mine), .object(let theirs)):
            mine.count == theirs.count
                && zip(mine, theirs).allSatisfy { $0.name == $1.name && $0.node.isCopy(of: $1.node) }
        case (.array(let mine), .array(let theirs)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isCopy(of: $1) }
        case (.string(let mine), .string(let theirs)), (.number(let mine), .number(let theirs)): mine == theirs
        case (.bool(let mine), .bool(let theirs)): mine == theirs
        case (.null, .null): true
        case (.object, _), (.array, _), (.string, _), (.number, _), (.bool, _), (.null, _): false
        }
    }

    /// The value with sorted members and without layout, to compare two.
    var canonicalText: String {
        switch value {
        case .object(let members):
            let parts = members.sorted { $0.name < $1.name }.map { "\($0.name):\($0.node.canonicalText)" }
            return "{\(parts.joined(separator: ","))}"
        case .array(let elements): return "[\(elements.map(\.canonicalText).joined(separator: ","))]"
        case .string(let text): return "\"\(text)\""
        case .number(let text): return text
        case .bool(let flag): return flag ? "true" : "false"
        case .null: return "null"
        }
    }
}
