extension MappingLoader {
    /// Refuses what would give several Observations one identity.
    func checkSameInstant(_ loaded: [FHIRTemplate], _ index: Int, _ log: inout DiagnosticLog) {
        for template in loaded where template.sameInstant == .keep {
            guard template.grouping(defaultPeriod: 1) == .instance else { continue }
            let lacking = templates.contains {
                $0.mapping == index && $0.type < drafts.count && $0.template.readingId == nil
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
