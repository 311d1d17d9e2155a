import KymographCore

/// Reads a `ResourceFhir` template: a resource of any type, with holes for what a reading says.
struct ResourceReader {
    /// The version that the file is written for.
    let declared: FHIRVersion
    let output: FHIRVersion

    private static let fields = ["typeName", "from", "resourceType", "identity", "profile", "resource", "sameInstant"]
    /// What this program makes itself, or what is no content.
    private static let refused = ["Patient", "Encounter", "Bundle", "Parameters", "OperationOutcome"]

    /// The template, or nil after an error that leaves nothing usable.
    func read(_ object: FieldReader, typeName: ValueName?, log: inout DiagnosticLog) -> FHIRTemplate? {
        object.refuseUnknown(ResourceReader.fields, log: &log)
        let type = resourceType(object, log: &log)
        let body = object.required("resource", "an object", log: &log)
        guard let typeName, let type, let body else { return nil }
        guard let resource = resource(type, body, object, log: &log) else { return nil }
        var template = FHIRTemplate(
            typeName: typeName.text, namePosition: typeName.position, declaredGrouping: .instance, categories: [],
            code: CodeableConcept(text: nil, codings: []), profiles: FHIRTemplateLoader.profiles(object, log: &log),
            effective: .covered, value: nil, components: [],
            source: FHIRTemplateLoader.source(object, log: &log))
        template.sameInstant = FHIRTemplateLoader.sameInstant(object, log: &log)
        template.resource = resource
        return template
    }

    private func resourceType(_ object: FieldReader, log: inout DiagnosticLog) -> String? {
        guard let text = object.requiredString("resourceType", log: &log) else { return nil }
        let position = object.position(of: "resourceType")
        if ResourceReader.refused.contains(text) {
            let advice = "take another type, such as Device or MedicationAdministration"
            log.error(
                position, "a \(text) is not written by a template of this kind", advice: advice, finding: .resourceType)
            return nil
        }
        let isName = text.first?.isUppercase == true && text.utf8.allSatisfy(ResourceReader.isLetter)
        let known = ElementTable.types
        if isName, known.contains(text) || NearestName.of(text, among: known, within: 2) == nil {
            guard known.contains(text) || declared.agrees(with: output) else {
                log.error(
                    position,
                    "how a \(text) differs between FHIR \(declared.rawValue) and \(output.rawValue) is not known",
                    advice: "write the file for it, with \"fhirVersion\": \"\(output.rawValue)\"",
                    finding: .otherFHIRVersion)
                return nil
            }
            return text
        }
        log.error(
            position, "'\(text)' is no type of FHIR resources",
            advice: NearestName.advice(for: text, among: known, otherwise: "write it as FHIR does, such as Device"),
            finding: .resourceType)
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }

    /// One `meta` is enough.
    private func checkMeta(_ body: JSONNode, _ object: FieldReader, log: inout DiagnosticLog) {
        guard let meta = body.member("meta"), object.node("profile") != nil else { return }
        log.error(
            meta.position, "'profile' beside 'meta' would be a second meta",
            advice: "put the profile into \"meta\", or leave that out", finding: .resourceBody)
    }

    private func resource(
        _ type: String, _ body: JSONNode, _ object: FieldReader, log: inout DiagnosticLog
    ) -> ResourceRule? {
        let errors = log.errorCount
        let elements = ElementTable(type: type, version: declared)
        ElementCheck(elements: elements).run(body, log: &log)
        checkMeta(body, object, log: &log)
        guard log.errorCount == errors else { return nil }
        let written = ElementTranslation(type: type, from: declared, to: output).translate(body, log: &log)
        let target = output == declared ? elements : ElementTable(type: type, version: output)
        let demanded = Set(target?.required.flatMap { $0 } ?? [])
        guard log.errorCount == errors,
            case .object(var members)? = ResourceNodeReader(version: output).read(written, log: &log),
            log.errorCount == errors
        else { return nil }
        for index in members.indices where demanded.contains(members[index].name) { members[index].isDemanded = true }
        for index in members.indices where members[index].name == "status" {
            members[index].node = members[index].node.limited(to: StatusCodes.of(type, output) ?? [])
        }
        let identifiers = members.first { $0.name == "identifier" }?.node
        members.removeAll { $0.name == "identifier" }
        var rule = ResourceRule(
            type: type, identity: identity(type, object, log: &log), members: members, identifiers: [])
        if case .array(let nodes)? = identifiers { rule.identifiers = nodes }
        return rule
    }

    /// A Device is the reading's device, unless the template says otherwise.
    private func identity(_ type: String, _ object: FieldReader, log: inout DiagnosticLog) -> ResourceIdentity {
        let choices = ResourceIdentity.allCases.map { ("\($0)", $0) }
        let stated = object.choice("identity", among: choices, log: &log)
        if stated == .device, type != "Device" {
            log.error(
                object.position(of: "identity"), "a \(type) cannot have the identity of the reading's device",
                advice: "leave \"identity\" out", finding: .resourceType)
        }
        return stated ?? (type == "Device" ? .device : .reading)
    }
}
