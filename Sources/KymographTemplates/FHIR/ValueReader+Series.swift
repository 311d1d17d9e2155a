import KymographCore

/// How a series is put on a grid of times, as SampledData and the series of Statistics state it.
extension ValueReader {
    /// Members that both have, besides their period.
    static let seriesMembers = ["collision", "lowerLimit", "upperLimit", "compact"]

    /// The rule that `object` states; its period is the member `period`.
    func series(_ object: FieldReader, period: String, log: inout DiagnosticLog) -> SeriesRule {
        let collisions: [(String, SlotCollision)] = SlotCollision.allCases.map { ("\($0)", $0) }
        let limits = SeriesLimits(
            lower: limit("lowerLimit", of: object, log: &log), upper: limit("upperLimit", of: object, log: &log))
        let rule = SeriesRule(
            period: object.node(period).flatMap { readPeriod($0, period, log: &log) },
            collision: object.choice("collision", among: collisions, log: &log) ?? .latest, limits: limits,
            isCompact: isTrue("compact", of: object, log: &log))
        checkLimits(rule, object, log: &log)
        return rule
    }

    /// The rule of a SampledData value, whose readings may be waveforms.
    func sampledData(_ object: FieldReader, log: inout DiagnosticLog) -> SeriesRule {
        var rule = series(object, period: "defaultPeriod", log: &log)
        rule.origin = number("origin", of: object, log: &log)
        rule.factor = number("factor", of: object, log: &log)
        rule.waveform = WaveformReader(object, period: rule.period).read(log: &log)
        if rule.isCompact, rule.origin != nil || rule.factor != nil {
            log.error(
                object.position(of: "compact"), "'compact' chooses origin and factor, and one of them is stated",
                advice: "remove 'compact', or 'origin' and 'factor'", finding: .wrongLimit)
        }
        return rule
    }

    /// The text of a number that is not zero where it is a factor.
    private func number(_ name: String, of object: FieldReader, log: inout DiagnosticLog) -> String? {
        guard let node = object.optional(name, "a number", log: &log), case .number(let text) = node.value else {
            return nil
        }
        if let number = Array(text.utf8).withByteView({ $0.decimal }), name != "factor" || number.mantissa != 0 {
            return text
        }
        log.error(
            node.position, "'\(name)' is not a number of at most 18 digits, or a factor of zero",
            advice: "value = origin + number of the device × factor", finding: .wrongLimit)
        return nil
    }

    /// Milliseconds between samples; nil stands for "auto".
    private func readPeriod(_ node: JSONNode, _ name: String, log: inout DiagnosticLog) -> Int64? {
        switch node.value {
        case .string(let text) where text.lowercased() == "auto": return nil
        case .number(let text), .string(let text):
            if let nanoseconds = MillisecondText.parse(text), nanoseconds > 0 { return nanoseconds }
        case .object, .array, .bool, .null: break
        }
        let advice = "write the milliseconds between two samples, such as 1000, or \"auto\""
        log.error(
            node.position, "'\(name)' is not a number of milliseconds above zero", advice: advice,
            finding: .wrongPeriod)
        return nil
    }

    private func isTrue(_ name: String, of object: FieldReader, log: inout DiagnosticLog) -> Bool {
        if case .bool(let flag) = object.optional(name, "true or false", log: &log)?.value { flag } else { false }
    }

    private func limit(_ name: String, of object: FieldReader, log: inout DiagnosticLog) -> Decimal64? {
        guard let node = object.optional(name, "a number", log: &log), case .number(let text) = node.value else {
            return nil
        }
        // The parser reads eight bytes at a time, beyond the end of the text.
        let bytes = PaddedBytes(copying: Array(text.utf8))
        if case .number(let number) = DecimalParser.parse(bytes.view) { return number }
        log.error(
            node.position, "'\(name)' is not a number of at most 18 digits",
            advice: "write what the device can measure, such as 40", finding: .wrongLimit)
        return nil
    }

    private func checkLimits(_ rule: SeriesRule, _ object: FieldReader, log: inout DiagnosticLog) {
        if let lower = rule.limits.lower, let upper = rule.limits.upper, !lower.isLess(than: upper) {
            log.error(
                object.position(of: "upperLimit"), "'upperLimit' is not above 'lowerLimit'",
                advice: "numbers below the lower limit become L, and those above the upper one U", finding: .wrongLimit)
        }
        guard rule.isCompact, !rule.limits.isEmpty else { return }
        // FHIR does not say whether limits are scaled: R5 reads them as data points, R4 as measured points.
        log.error(
            object.position(of: "compact"), "'compact' cannot be true beside 'lowerLimit' or 'upperLimit'",
            advice: "remove one of them: readers disagree on whether origin and factor apply to limits",
            finding: .wrongLimit)
    }
}
