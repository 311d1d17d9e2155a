import KymographCore

/// Finds codes that say something else than the names beside them: a diastolic pressure that is coded as a heart rate.
enum ConceptCheck {
    /// A name and what messages call it.
    private typealias Name = (what: String, text: String)

    /// Notes each LOINC code of `template` that its display or the value's name contradicts; gives the places of those.
    static func run(_ template: FHIRTemplate, log: inout DiagnosticLog) -> Set<SourcePosition> {
        let start = log.all.count
        let spare = [("type name", template.typeName), ("text", template.code.text ?? "")]
        let value: [Name] = template.value.map { [("value name", $0.name)] } ?? []
        check(template.code.codings, names: value, spare: spare, log: &log)
        for component in template.components {
            check(component.code.codings, names: [("value name", component.value.name)], spare: [], log: &log)
        }
        return Set(log.all.dropFirst(start).map(\.position))
    }

    /// `spare` names are looked at when neither the display nor `names` say anything: they are less close to the code.
    private static func check(_ codings: [Coding], names: [Name], spare: [Name], log: inout DiagnosticLog) {
        for coding in codings where coding.system == LOINC.system {
            guard let entry = coding.code.flatMap(ClinicalCode.of) else { continue }
            let near = [("display", coding.display ?? "")] + names
            var concepts = near.map { ClinicalConcept.named(in: $0.text) }
            let isSilent = concepts.allSatisfy(\.isEmpty)
            if isSilent { concepts = spare.map { ClinicalConcept.named(in: $0.text) } }
            for (name, concepts) in zip(isSilent ? spare : near, concepts)
            where !concepts.isEmpty && concepts.isDisjoint(with: entry.concepts) {
                note(coding, entry, name, log: &log)
                break
            }
        }
    }

    private static func note(_ coding: Coding, _ entry: ClinicalCode, _ name: Name, log: inout DiagnosticLog) {
        let concept = ClinicalConcept.allCases.first { ClinicalConcept.named(in: name.text).contains($0) }
        let usual = concept.flatMap(ClinicalCode.usual)
        let advice = usual.map { "the code of \(concept?.name ?? "") is \($0.loinc) (\($0.name))" }
        log.warning(
            coding.position,
            "LOINC \(entry.loinc) is '\(entry.name)', but the \(name.what) '\(name.text)' says otherwise",
            advice: advice ?? "look the number up at loinc.org", finding: .codeMismatch)
    }
}
