import KymographCore

/// `from` in fhir.json: a further Observation of the readings of another type.
extension MappingLoader {
    /// Repeats the device templates of the types that `loaded` templates name with `from`, under the names of these.
    ///
    /// Each match then gives a reading of either type, with identity and windows of its own.
    mutating func derive(_ loaded: [FHIRTemplate], mapping index: Int, _ log: inout DiagnosticLog) {
        guard loaded.contains(where: { $0.source != nil }) else { return }
        let sent = templates.filter { $0.mapping == index }
        for template in loaded {
            guard let source = template.source else { continue }
            if let other = sent.first(where: { $0.template.typeName.isCaseVariant(of: template.typeName) }) {
                log.error(
                    template.namePosition,
                    "a device template already gives the type '\(other.template.typeName)': 'from' is for another",
                    advice: "give this FHIR template a name of its own, such as '\(source.typeName)Daily'",
                    finding: .derivation)
                continue
            }
            let originals = sent.filter { $0.template.typeName.isCaseVariant(of: source.typeName) }
            if originals.isEmpty {
                let names = sent.map(\.template.typeName)
                log.error(
                    source.position, "no device template gives the type '\(source.typeName)'",
                    advice: NearestName.advice(
                        for: source.typeName, among: names,
                        otherwise: "'from' names a typeName of the device file: \(names.joined(separator: ", "))"),
                    finding: .derivation)
            }
            for original in originals { repeatTemplate(original, as: template.typeName, &log) }
        }
    }

    private mutating func repeatTemplate(
        _ original: MappingSet.LinkedTemplate, as typeName: String, _ log: inout DiagnosticLog
    ) {
        var copy = original.template
        copy.typeName = typeName
        addTemplate(copy, mapping: original.mapping, &log)
        templates[templates.count - 1].isDerived = true
    }
}
