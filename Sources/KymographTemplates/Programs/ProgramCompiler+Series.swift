import KymographCore

extension ProgramCompiler {
    /// `"valueSampledData":{…` up to its last member; the closing brace is the caller's.
    mutating func addSeries(
        _ unit: UnitRule, _ rule: SeriesRule, _ condition: ProgramStep.Condition, _ field: UInt16
    ) {
        literal("\"valueSampledData\":{\"origin\":{\"value\":", condition, field)
        rule.isCompact ? step(.origin, condition, field) : literal(rule.origin ?? "0", condition, field)
        let factor = rule.factor.map { "\"factor\":\($0)," } ?? ""
        literal("\(JSONText.unit(unit))},\(factor)\(rule.limits.json)", condition, field)
        step(.series, condition, field)
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
