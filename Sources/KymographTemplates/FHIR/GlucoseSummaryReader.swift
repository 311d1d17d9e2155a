import KymographCore

/// Reads a `GlucoseSummaryFhir` template.
enum GlucoseSummaryReader {
    private static let fields = [
        "typeName", "from", "period", "valueName", "unit", "samplePeriod", "category", "sameInstant",
    ]

    /// The template, or nil after an error that leaves nothing usable.
    static func read(_ object: FieldReader, typeName: ValueName?, log: inout DiagnosticLog) -> FHIRTemplate? {
        object.refuseUnknown(fields, log: &log)
        let grouping = period(object, log: &log)
        let units: [(String, GlucoseSummaryRule.Unit)] = GlucoseSummaryRule.Unit.allCases.map { ($0.rawValue, $0) }
        let hasUnit = object.required("unit", "a string", log: &log) != nil
        let unit = hasUnit ? object.choice("unit", among: units, log: &log) : nil
        let sample = samplePeriod(object, within: grouping, log: &log)
        let value = object.requiredString("valueName", log: &log)
        guard let typeName, let grouping, let unit, let sample, let value, !value.isEmpty else { return nil }
        var template = FHIRTemplate(
            typeName: typeName.text, namePosition: typeName.position, declaredGrouping: grouping, categories: [],
            code: CodeableConcept(text: nil, codings: []), profiles: [], effective: .window, value: nil,
            components: [], source: FHIRTemplateLoader.source(object, log: &log))
        template.sameInstant = FHIRTemplateLoader.sameInstant(object, log: &log)
        template.summary = GlucoseSummaryRule(
            value: ValueName(text: value, position: object.position(of: "valueName")), unit: unit,
            unitPosition: object.position(of: "unit"), samplePeriod: sample,
            categories: CodeReader.categories(object, log: &log))
        return template
    }

    /// A summary is of a window; sessions have no length.
    private static func period(_ object: FieldReader, log: inout DiagnosticLog) -> Grouping? {
        guard object.required("period", "a string", log: &log) != nil,
            let grouping = GroupingReader.read(object, log: &log)
        else { return nil }
        if case .tumbling = grouping { return grouping }
        log.error(
            object.position(of: "period"), "a summary needs the length of its windows",
            advice: "write \"period\": \"1d\", or \"14d\"", finding: .wrongPeriod)
        return nil
    }

    private static func samplePeriod(
        _ object: FieldReader, within grouping: Grouping?, log: inout DiagnosticLog
    ) -> Int64? {
        guard let text = object.requiredString("samplePeriod", log: &log) else { return nil }
        var longest = Int64.max
        if case .tumbling(let length) = grouping { longest = length }
        if let length = DurationText.parse(text), length > 0, length <= longest { return length }
        log.error(
            object.position(of: "samplePeriod"),
            "samplePeriod '\(text)' is not a length of time above zero and up to the period",
            advice: "\(DurationText.advice): how often the sensor gives a reading, such as 5m", finding: .wrongPeriod)
        return nil
    }
}
