import KymographCore

/// Refuses what would give several Observations one identity.
extension MappingLoader {
    /// The reference system writes identities in whole seconds, and has no windows below an hour.
    func checkPeriods(_ loaded: [FHIRTemplate], _ compatibility: Compatibility, _ log: inout DiagnosticLog) {
        guard compatibility == .iomtFHIR else { return }
        for template in loaded {
            guard case .tumbling(let length) = template.grouping(defaultPeriod: defaultPeriod),
                length % 1_000_000_000 != 0
            else { continue }
            log.error(
                template.namePosition,
                "the windows of '\(template.typeName)' are not of whole seconds, and identities of compatibility "
                    + "iomt-fhir have no parts of seconds: several windows would be one Observation",
                advice: "take a period of whole seconds", finding: .wrongPeriod)
        }
    }

    /// Readings of one time that are kept need something that tells them apart.
    func checkSameInstant(_ loaded: [FHIRTemplate], _ index: Int, _ log: inout DiagnosticLog) {
        for template in loaded where template.sameInstant == .keep {
            guard template.grouping(defaultPeriod: 1) == .instance else { continue }
            let lacking = templates.contains {
                $0.mapping == index && $0.type < drafts.count && $0.template.readingId == nil
                    && !$0.template.retracts
                    && $0.template.typeName.isCaseVariant(of: template.typeName)
            }
            guard lacking else { continue }
            log.error(
                template.namePosition,
                "\"sameInstant\": \"keep\" needs ids where each reading is an Observation: of readings of one time "
                    + "without ids, nobody could tell which is corrected",
                advice:
                    "give the device templates of '\(template.typeName)' a readingIdExpression, or write \"latest\"",
                finding: .sameInstant)
        }
    }
}
