import KymographCore

/// The Observation of microsoft/iomt-fhir, for mappings with `compatibility: iomt-fhir` (mapping dialect, section 6.1).
///
/// Its rules are applied to the template before it is compiled, so that nothing else differs between the modes.
enum IomtFHIRShape {
    /// The template as the reference would read it for measurements of the type `typeName`.
    static func apply(to template: FHIRTemplate, typeName: String) -> FHIRTemplate {
        var shaped = template
        // A text that the template states is our addition; without one, the type's name is the text.
        let ownText = template.code.text == template.typeName ? nil : template.code.text
        shaped.code = concept(template.code, text: ownText ?? typeName, code: typeName)
        shaped.effective = .window
        shaped.value = template.value.map(value)
        shaped.components = template.components.map {
            ComponentRule(code: concept($0.code, text: $0.value.name, code: $0.value.name), value: value($0.value))
        }
        return shaped
    }

    /// The template's codings, and one more that names the type or value itself.
    private static func concept(_ concept: CodeableConcept, text: String, code: String) -> CodeableConcept {
        CodeableConcept(
            text: text,
            codings: concept.codings + [Coding(system: Compatibility.iomtFHIRSystem, code: code, display: code)])
    }

    /// The origin of a series has the unit's text and no code.
    private static func value(_ rule: ValueRule) -> ValueRule {
        guard case .sampledData(let unit, let series) = rule.kind else { return rule }
        var shaped = rule
        shaped.kind = .sampledData(UnitRule(unit: unit.unit, position: unit.position), series)
        return shaped
    }
}
