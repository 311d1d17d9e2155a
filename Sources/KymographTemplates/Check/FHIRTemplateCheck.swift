import KymographCore

/// What can be known about a template's Observations before any is written.
enum FHIRTemplateCheck {
    /// Notes what is doubtful in `template`, whose body is at `position`. What it lacks is noted only when it is
    /// `isComplete`: a part that could not be read is not missing.
    static func run(
        _ template: FHIRTemplate, position: SourcePosition, isComplete: Bool, log: inout DiagnosticLog
    ) {
        ConformanceCheck.run(template, position: position, isComplete: isComplete, log: &log)
        let wrongCodes = ConceptCheck.run(template, log: &log)
        UnitCheck.run(template, besides: wrongCodes, log: &log)
        checkIdentifiers(template, log: &log)
        checkGrouping(template, log: &log)
        ValueCheck.run(template, log: &log)
        guard isComplete, template.value == nil, template.components.isEmpty else { return }
        log.warning(
            position, "the template has neither a value nor components, so its readings give no Observation",
            advice: "add \"value\" or \"components\"", finding: .noValue)
    }

    /// Readings of one window have ids of their own: the last of them is not that of the Observation.
    private static func checkIdentifiers(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        guard case .tumbling = template.grouping(defaultPeriod: 1) else { return }
        for name in template.members.identifiers.compactMap(\.valueName) {
            log.error(
                name.position, "an Observation of a window has several readings, and '\(name.text)' is of one of them",
                advice: "take a constant value, or \"period\": \"instance\" or \"correlation\"",
                finding: .wrongIdentifier)
        }
    }

    /// A series of one sample is what comes of a template that was written for windows and names none.
    private static func checkGrouping(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        guard template.grouping(defaultPeriod: 1) == .instance else { return }
        for value in (template.value.map { [$0] } ?? []) + template.components.map(\.value) {
            guard case .sampledData(_, let rule) = value.kind, rule.waveform == nil else { continue }
            log.warning(
                value.position, "each reading gives an Observation of its own, so this SampledData has one sample",
                advice: "state a \"period\" such as \"1h\" (or \"periodInterval\": 60), or use Quantity",
                finding: .singleSample)
        }
    }
}
