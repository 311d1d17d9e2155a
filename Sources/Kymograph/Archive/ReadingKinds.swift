package import KymographCore

extension MappingSet {
    /// What readings of each type are in a table: the codes of its template, if it has one, and the units that are
    /// known of its values.
    package var readingKinds: [ReadingKind] {
        types.indices.map { number in
            let (type, template) = (types[number], fhirTemplates[number])
            let fields = type.valueNames.map { name in
                var field = ReadingKind.Field()
                if let meaning = histories[number].meaning.values[name] {
                    (field.factor, field.origin) = (meaning.scalingFactor, meaning.scalingOrigin)
                    if let unit = meaning.storedUnit { field.unit = ReadingKind.Code(unit) }
                }
                field.component = template?.component(of: name).map { ReadingKind.Code($0) } ?? field.component
                return field
            }
            return ReadingKind(
                type, code: template.map { ReadingKind.Code($0.code) } ?? ReadingKind.Code(), fields: fields)
        }
    }
}

extension FHIRTemplate {
    /// The code of the first component that has the value called `name`; nil when the Observation itself has it, or
    /// nothing does.
    fileprivate func component(of name: String) -> CodeableConcept? {
        func reads(_ rule: ValueRule) -> Bool { rule.uses.contains { $0.name == name } }
        guard !(value.map(reads) ?? false) else { return nil }
        return components.first { reads($0.value) }?.code
    }
}

extension ReadingKind.Code {
    /// The first coding of `concept`.
    fileprivate init(_ concept: CodeableConcept) {
        self.init(system: concept.codings.first?.system, code: concept.codings.first?.code)
    }

    /// The code of a unit, or its text where it has none.
    fileprivate init(_ unit: UnitMeaning) {
        let system = unit.code == nil ? nil : unit.system ?? UnitRule.ucum
        self.init(system: system, code: unit.code ?? unit.text)
    }
}
