package import KymographCore

/// What only the settings of the output show of mappings.
extension MappingSet {
    /// Errors and warnings of the set's types where output is written by `options`; `mappings` are those it was loaded
    /// from.
    package func diagnostics(of options: ObservationOptions, _ mappings: [NamedMapping]) -> [Diagnostic] {
        foreignIdentities(options, mappings)
            + (options.isPersonalHealth ? PersonalHealthShape.check(self, mappings) : [])
    }

    /// An identifier in a system of ours could be that by which servers find another Observation.
    private func foreignIdentities(_ options: ObservationOptions, _ mappings: [NamedMapping]) -> [Diagnostic] {
        let own = options.systems
        var found: [Diagnostic] = []
        for (type, template) in fhirTemplates.enumerated() {
            guard let template, let linked = templates.first(where: { $0.type == type }) else { continue }
            let mapping = mappings[linked.mapping]
            var log = DiagnosticLog(file: mapping.fhir?.name ?? mapping.name)
            for rule in template.members.identifiers where own.contains(rule.system) {
                log.error(
                    rule.systemPosition,
                    "'\(rule.system)' is the system of identifiers that kymo makes: Observations are found by them",
                    advice: "take a system of your own", finding: .wrongIdentifier)
            }
            log.attribute(to: template.typeName, since: 0)
            found += log.all
        }
        return found
    }
}

extension ObservationOptions {
    /// The systems of identifiers that are made here.
    fileprivate var systems: Set<String> {
        [
            patientSystem, deviceSystem, deviceSubjectSystem, encounterSystem, observationSystem, resourceSystem,
            gatewaySystem, Compatibility.iomtFHIRSystem, PersonalHealthShape.identifierSystem,
        ]
    }
}
