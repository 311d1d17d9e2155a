import KymographCore

/// What the rules of values and the FHIR templates that use the values must agree on.
extension MappingLoader {
    /// Notes constants, defaults and map results of mapping `index` that are no numbers where the FHIR template reads
    /// one: each such reading would be rejected as `invalidValue`.
    mutating func checkRuleNumbers(_ mapping: NamedMapping, _ index: Int) {
        var log = DiagnosticLog(file: mapping.device.name)
        for linked in templates where linked.mapping == index {
            let uses = drafts[linked.type].fhir?.valueUses ?? []
            let numeric = Set(uses.filter(\.isNumeric).map(\.name))
            for value in linked.template.values where numeric.contains(value.name) {
                guard let rule = value.rule, let text = rule.texts.first(where: { !ValueRuleLoader.isNumber($0) })
                else { continue }
                log.error(
                    value.position,
                    "the value '\(value.name)' can be '\(text)', where the FHIR template of "
                        + "'\(linked.template.typeName)' reads a number",
                    advice: "write numbers, or use valueType String or CodeableConcept", finding: .valueRule)
            }
        }
        report(log)
    }
}

extension DeviceTemplate.ValueRule {
    /// Every text that this rule itself can give.
    fileprivate var texts: [String] {
        if let constant { return [constant] }
        guard let map else { return fallback.map { [$0] } ?? [] }
        return map.entries.map(\.value) + (map.otherwise.map { [$0] } ?? [])
    }
}
