import KymographCore

extension ProgramCompiler {
    /// `"valueSampledData":{…` up to its last member; the closing brace is the caller's. `code` says what the samples
    /// are.
    mutating func addSeries(
        _ unit: UnitRule, _ rule: SeriesRule, _ condition: ProgramStep.Condition, _ field: UInt16,
        _ code: CodeableConcept, _ type: MeasurementType
    ) {
        literal("\"valueSampledData\":{\"origin\":{\"value\":", condition, field)
        rule.isCompact ? step(.origin, condition, field) : literal(rule.origin ?? "0", condition, field)
        let factor = rule.factor.map { "\"factor\":\($0)," } ?? ""
        literal("\(JSONText.unit(unit))},\(factor)\(rule.limits.json)", condition, field)
        guard options.attachOver > 0, !isReference else { return step(.series, condition, field) }
        step(.attachableSeries, condition, field)
        steps[steps.count - 1].start = Int32(attachments.count)
        addAttachment(code, type, number: attachments.count - attachmentsBefore + 1)
    }

    /// How many attachments the types before have.
    private var attachmentsBefore: Int { types.count == 0 ? 0 : types[types.count - 1].attachmentEnd }

    /// Adds the attachment that the samples of a series go to, which is the type's `number`th.
    private mutating func addAttachment(_ code: CodeableConcept, _ type: MeasurementType, number: Int) {
        let start = Int32(constants.count)
        constants.appendIdentityPart(Array(type.name.utf8))
        // A name with a dot is that of no other type, because dots are escaped.
        if number > 1 { constants.append(Array(".\(number)".utf8)) }
        let end = Int32(constants.count)
        let json = spelled(",\"type\":\(JSONText.object(options.version.code(code))),\"subject\":{")
        constants.append(Array(json.utf8))
        attachments.append(
            AttachmentProgram(
                name: TableRange(start: start, end: end),
                head: TableRange(start: end, end: Int32(constants.count))))
    }
}

extension ProgramField {
    mutating func setSeries(_ rule: SeriesRule) {
        hasSeries = true
        period = rule.period ?? 0
        collision = rule.collision
        limits = rule.limits
        isCompact = rule.isCompact
    }
}
