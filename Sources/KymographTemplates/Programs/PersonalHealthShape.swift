import KymographCore

/// The Observation of HL7's Personal Health Devices guide (spec/fhir.md section 8).
///
/// As with ``IomtFHIRShape``, its rules are applied to the template before it is compiled.
enum PersonalHealthShape {
    private static let base = "http://hl7.org/fhir/uv/phd/StructureDefinition/"
    /// System of the guide's identifiers.
    static let identifierSystem = base + "PhdBaseObservation"
    /// URL of the extension that names the gateway.
    static let gatewayURL = "http://hl7.org/fhir/StructureDefinition/observation-gatewayDevice"
    private static let category = Coding(
        system: "http://hl7.org/fhir/uv/phd/CodeSystem/PhdObservationCategories", code: "phd")

    /// The template as the guide has it.
    static func apply(to template: FHIRTemplate) -> FHIRTemplate {
        let code = DeviceCode.ordered(template.code)
        var shaped = template.with(
            categories: template.categories + [CodeableConcept(text: nil, codings: [category])],
            profiles: template.profiles + (profile(of: template).map { [base + $0] } ?? []))
        shaped.code = code
        shaped.components = template.components.map { component in
            // A component may not have a code of its Observation, which has a value (FHIR obs-7).
            let ordered = DeviceCode.ordered(component.code)
            let isRepeated = ordered.codings.contains { code.has($0.system ?? "", $0.code ?? "") }
            return ComponentRule(code: isRepeated ? component.code : ordered, value: component.value)
        }
        // The guide has effective as dateTime or Period only.
        if shaped.members.effectiveForm == .instant { shaped.members.effectiveForm = .dateTime }
        return shaped
    }

    /// The guide's profile of such values; nil without an MDC code, which all of them demand.
    private static func profile(of template: FHIRTemplate) -> String? {
        guard deviceCode(of: template) != nil else { return nil }
        switch template.value?.kind {
        case .quantity, .statistics: return "PhdNumericObservation"
        case .sampledData: return "PhdRtsaObservation"
        case .string: return "PhdStringEnumerationObservation"
        case .codeableConcept: return "PhdCodedEnumerationObservation"
        case .typed: return nil
        case nil: return "PhdCompoundNumericObservation"
        }
    }

    /// The MDC code of Observations of `template`, or nil when it is not known.
    static func deviceCode(of template: FHIRTemplate) -> String? {
        DeviceCode.ordered(template.code).codings.first { $0.system == DeviceCode.system }?.code
    }

    /// Warns of the types of `set` whose Observations cannot have the MDC code that the guide demands.
    static func check(_ set: MappingSet, _ mappings: [NamedMapping]) -> [Diagnostic] {
        set.types.indices.compactMap { type in
            guard let template = set.fhirTemplates[type], template.resource == nil, template.summary == nil,
                set.types[type].compatibility == .none, deviceCode(of: template) == nil,
                let linked = set.templates.first(where: { $0.type == type })
            else { return nil }
            let mapping = mappings[linked.mapping]
            var log = DiagnosticLog(file: mapping.fhir?.name ?? mapping.name)
            log.warning(
                template.namePosition,
                "the Observations of '\(template.typeName)' have no MDC code, which the profile phd demands",
                advice: "add a code of the system \(DeviceCode.system) to its \"codes\"", finding: .noDeviceCode)
            log.attribute(to: template.typeName, since: 0)
            return log.all[0]
        }
    }
}

extension FHIRTemplate {
    fileprivate func with(categories: [CodeableConcept], profiles: [String]) -> FHIRTemplate {
        var copy = FHIRTemplate(
            typeName: typeName, namePosition: namePosition, declaredGrouping: declaredGrouping, categories: categories,
            code: code, profiles: profiles, effective: effective, value: value, components: components, source: source,
            members: members)
        copy.sameInstant = sameInstant
        copy.resource = resource
        copy.summary = summary
        return copy
    }
}
