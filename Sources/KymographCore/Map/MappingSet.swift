/// The two files of one device type, as bytes with the names that messages show.
package struct MappingFile: Sendable {
    /// Path, or catalogue place.
    package var name: String
    /// Content.
    package var bytes: [UInt8]

    /// Makes a file.
    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// The mappings that another one can extend.
package struct ExtensibleMappings: Sendable {
    /// Their names.
    package var names: [String]
    /// The content of `device.json` and `fhir.json` of the one with this name.
    package var files: @Sendable (String) -> (device: [UInt8], fhir: [UInt8])?

    /// Those of `names`, which `files` reads.
    package init(names: [String], files: @escaping @Sendable (String) -> (device: [UInt8], fhir: [UInt8])?) {
        self.names = names
        self.files = files
    }

    /// No mapping.
    package static let none = ExtensibleMappings(names: []) { _ in nil }
}

/// A mapping before it is loaded.
package struct NamedMapping: Sendable {
    /// The name that `--mapping` gave.
    package var name: String
    /// `device.json`.
    package var device: MappingFile
    /// `fhir.json`; nil to look at measurements only.
    package var fhir: MappingFile?
    /// Whose rules apply, unless the files say so themselves.
    package var compatibility: Compatibility
    /// The version of FHIR that output is written in, with which `fhir.json` must agree if it names one.
    package var fhirVersion: FHIRVersion
    /// Those that it may extend.
    package var extensible = ExtensibleMappings.none

    /// Makes a mapping.
    package init(
        name: String, device: MappingFile, fhir: MappingFile?, compatibility: Compatibility = .none,
        fhirVersion: FHIRVersion = .r4
    ) {
        self.name = name
        self.device = device
        self.fhir = fhir
        self.compatibility = compatibility
        self.fhirVersion = fhirVersion
    }
}

/// All mappings of a pipeline, checked, joined by type name and compiled. Immutable, shared by all threads.
package final class MappingSet: Sendable {
    /// A device template and what it was linked to.
    package struct LinkedTemplate: Sendable {
        package var template: DeviceTemplate
        /// Index of its mapping.
        package var mapping: Int
        /// Index of its type.
        package var type: Int
        /// Value slot of each of the template's values.
        package var slots: [Int]
        /// Whether a FHIR template asked for it by `from`: it repeats a template of the device file.
        package var isDerived = false

        package init(template: DeviceTemplate, mapping: Int, type: Int, slots: [Int]) {
            (self.template, self.mapping, self.type, self.slots) = (template, mapping, type, slots)
        }
    }

    /// The mappings' names, in the order given.
    package let mappings: [String]
    /// Their files as they were read: which content it is that readings are mapped by.
    package let files: [MappingFile]
    /// Types, joined over all mappings.
    package let types: [MeasurementType]
    /// FHIR template by type index; nil when the type has none.
    package let fhirTemplates: [FHIRTemplate?]
    /// By type index, what is known of its readings, those of earlier sets and runs among them.
    package let histories: [TypeHistory]
    package let templates: [LinkedTemplate]
    /// How the packets of each mapping are to be read; nil where payloads are JSON documents.
    let packetForms: [PacketForm?]
    /// Compiled expressions.
    package let program: PathProgram
    let jmesPathProgram: JMESPathProgram
    /// By first step of a path that starts at the match: the root of its form for made matches, or -1.
    let madeForms: [Int32]

    package init(
        mappings: [String], files: [MappingFile], types: [MeasurementType], fhirTemplates: [FHIRTemplate?],
        templates: [LinkedTemplate], histories: [TypeHistory], packetForms: [PacketForm?], program: ExpressionProgram
    ) {
        self.mappings = mappings
        self.files = files
        self.histories = histories
        self.packetForms = packetForms
        self.types = types
        self.fhirTemplates = fhirTemplates
        self.templates = templates
        self.program = program.paths
        jmesPathProgram = program.jmesPaths
        // A path without steps (the match itself) has no first step of its own.
        var forms = [Int32](repeating: -1, count: program.paths.steps.count + 1)
        for form in program.madeForms where form.count > 0 { forms[Int(form.path)] = form.reference.root }
        madeForms = forms
    }

    /// The mappings and expressions of `other`, with its types numbered anew.
    package init(
        _ other: MappingSet, types: [MeasurementType], fhirTemplates: [FHIRTemplate?], templates: [LinkedTemplate],
        histories: [TypeHistory]
    ) {
        self.histories = histories
        (mappings, files) = (other.mappings, other.files)
        packetForms = other.packetForms
        self.types = types
        self.fhirTemplates = fhirTemplates
        self.templates = templates
        program = other.program
        jmesPathProgram = other.jmesPathProgram
        madeForms = other.madeForms
    }

    /// Numbers of the templates of the mappings named, in order.
    package func templates(of names: [String]) -> [Int] {
        names.flatMap { name in
            templates.indices.filter { mappings[templates[$0].mapping].utf8.elementsEqual(name.utf8) }
        }
    }

    /// How the packets of a source with these templates are to be read; nil where payloads are JSON documents. Of
    /// mappings that contradict each other, which ``payloadConflict(of:)`` tells, the first counts.
    func packetForm(of indexes: [Int]) -> PacketForm? {
        var used: [Int] = []
        for index in indexes where !used.contains(templates[index].mapping) { used.append(templates[index].mapping) }
        guard let first = used.first, let form = packetForms[first] else { return nil }
        return used.dropFirst().reduce(form) { form, mapping in
            packetForms[mapping].flatMap { try? form.joined(with: $0) } ?? form
        }
    }

    /// Two of the mappings `names` whose payloads one source cannot have both, in the order given, and why; nil when
    /// all agree.
    package func payloadConflict(
        of names: [String]
    ) -> (first: String, second: String, reason: PayloadConflict)? {
        let numbers = names.compactMap { mappings.firstIndex(of: $0) }
        // What contradicts the forms of several mappings contradicts that of one of them.
        for (place, second) in numbers.enumerated() {
            for first in numbers[..<place] {
                if let reason = conflict(first, second) { return (mappings[first], mappings[second], reason) }
            }
        }
        return nil
    }

    private func conflict(_ first: Int, _ second: Int) -> PayloadConflict? {
        guard let form = packetForms[first], let other = packetForms[second] else {
            return packetForms[first] == packetForms[second] ? nil : .payload
        }
        do throws(PayloadConflict) {
            _ = try form.joined(with: other)
            return nil
        } catch {
            return error
        }
    }

    /// The mapping and type of template `index`, and its position in the mapping's device file, for messages.
    package func describe(template index: Int) -> (mapping: String, typeName: String, line: Int) {
        let linked = templates[index]
        return (mappings[linked.mapping], linked.template.typeName, linked.template.position.line)
    }

    /// What a rejection's detail says, for people; the mapping's name can be left out where it is known.
    package func describe(_ detail: RejectionDetail, withMapping: Bool = true) -> String {
        if detail.offset >= 0 { return "at byte \(detail.offset)" }
        guard detail.template >= 0, Int(detail.template) < templates.count else { return "" }
        let linked = templates[Int(detail.template)]
        let type = "type \(linked.template.typeName)"
        let place = withMapping ? "mapping \(mappings[linked.mapping]), \(type)" : type
        guard let field = fieldText(detail, linked.template) else { return place }
        return "\(place), \(field)"
    }

    private func fieldText(_ detail: RejectionDetail, _ template: DeviceTemplate) -> String? {
        switch detail.field {
        case .none: return nil
        case .match: return "typeMatchExpression \(template.match.text)"
        case .device: return "deviceIdExpression \(template.device?.text ?? "")"
        case .timestamp:
            return "timestampExpression \(template.timestamp?.text ?? "") (\(template.timestampFormat.name))"
        case .start: return "startExpression \(template.start?.text ?? "")"
        case .readingId: return "readingIdExpression \(template.readingId?.text ?? "")"
        case .patient: return "patientIdExpression \(template.patient?.text ?? "(none)")"
        case .encounter: return "encounterIdExpression \(template.encounter?.text ?? "")"
        case .correlation: return "correlationIdExpression \(template.correlation?.text ?? "(none)")"
        case .value:
            guard Int(detail.value) < template.values.count else { return "values" }
            let value = template.values[Int(detail.value)]
            return "value \(value.name) \(value.expression?.text ?? "(constant)")"
        }
    }
}

extension MappingSet {
    /// The flat code of the templates numbered `indexes`: those that take readings back come first, so that they are
    /// told before the readings of their documents.
    func code(of indexes: [Int]) -> FlatTemplates {
        var flat = FlatTemplates()
        let retractions = indexes.filter { templates[$0].template.retracts }
        let others = retractions.isEmpty ? indexes : indexes.filter { !templates[$0].template.retracts }
        for index in retractions + others {
            let linked = templates[index]
            flat.templates.append(code(linked, index: index, firstValue: flat.values.count))
            flat.add(linked.template.values, slots: linked.slots, reading: types[linked.type].readings)
        }
        flat.markJoined(isWhole: types.indices.map { types[$0].isWhole && fhirTemplates[$0] != nil })
        return flat
    }

    private func code(_ linked: LinkedTemplate, index: Int, firstValue: Int) -> TemplateCode {
        let template = linked.template
        let type = types[linked.type]
        var code = TemplateCode(
            match: ExpressionCode(template.match), requiredNames: template.match.path?.requiredNames ?? 0,
            device: ExpressionCode(template.device),
            timestamp: ExpressionCode(template.timestamp),
            alternativeTimestamp: ExpressionCode(template.alternativeTimestamp),
            start: ExpressionCode(template.start), readingId: ExpressionCode(template.readingId),
            patient: ExpressionCode(template.patient),
            encounter: ExpressionCode(template.encounter), correlation: ExpressionCode(template.correlation),
            format: template.timestampFormat, type: Int32(linked.type), index: Int32(index),
            needsCorrelation: !template.retracts && (template.correlation != nil || type.grouping == .correlation),
            needsComposition: template.expressions.contains(where: \.needsComposition),
            takesMadeMatches: template.takesMadeMatches,
            isCompatible: template.compatibility == .iomtFHIR,
            durationSlot: Int32(type.durationSlot ?? -1), idSlot: Int32(type.idSlot ?? -1),
            firstValue: Int32(firstValue),
            valueCount: Int32(template.values.count),
            hasFHIRTemplate: !type.needsFHIRTemplate || fhirTemplates[linked.type] != nil)
        code.retracts = template.retracts
        code.isReading = code.hasFHIRTemplate && !template.retracts
        return code
    }
}

extension MappingSet {
    /// By type, the slot with the length of a reading that covers an interval; -1 for none.
    package var lengthSlots: [Int] { types.map { $0.durationSlot ?? -1 } }
}
