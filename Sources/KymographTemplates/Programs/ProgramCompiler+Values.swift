import KymographCore

/// Compiles the values that are more than one number of one reading, and what goes with values.
extension ProgramCompiler {
    /// Completes `field` by what `rule` has besides its kind.
    mutating func extend(_ field: inout ProgramField, _ rule: ValueRule, _ type: MeasurementType) {
        field.extras.form = rule.form
        field.extras.readsComparator = rule.extras.readsComparator
        field.extras.absents = addAbsents(rule.extras.absent)
        field.extras.interpretations = addInterpretations(rule.extras.interpretation)
        addPlaces(&field, rule, type)
        addFigures(&field, rule)
        addWaveform(&field, rule, type)
        if rule.isChecked { field.kind = .checked }
        let isSummary = field.kind == .statistics && (field.aggregate.isFound || !field.extras.figures.isEmpty)
        let isOwn = field.kind == .checked || field.extras.waveform >= 0
        field.isExtended = isOwn || isSummary || !field.extras.absents.isEmpty
    }

    private func addPlaces(_ field: inout ProgramField, _ rule: ValueRule, _ type: MeasurementType) {
        func slot(_ name: ValueName?) -> Int32 {
            Int32(name.flatMap { name in type.valueNames.firstIndex { $0 == name.text } } ?? -1)
        }
        field.extras.second = slot(rule.extras.comparatorName)
        guard case .typed(let typed) = rule.kind, typed.form.pair != nil else { return }
        field.slot = slot(typed.first)
        field.extras.second = slot(typed.second)
    }

    private mutating func addWaveform(_ field: inout ProgramField, _ rule: ValueRule, _ type: MeasurementType) {
        guard case .sampledData(_, let series) = rule.kind, let waveform = series.waveform else { return }
        field.extras.waveform = Int32(tables.waveforms.count)
        tables.waveforms.append(WaveformEntry(waveform, period: series.period, type))
    }

    private mutating func addAbsents(_ rules: [AbsentRule]) -> TableRange {
        let start = Int32(tables.absents.count)
        for rule in rules {
            let text = tables.add(rule.text ?? "")
            let code = tables.add(options.version.absentReason(rule.code) ?? rule.code)
            tables.absents.append(AbsentEntry(isAny: rule.text == nil, text: text, code: code))
        }
        return TableRange(start: start, end: Int32(tables.absents.count))
    }

    private mutating func addInterpretations(_ rules: [InterpretationRule]) -> TableRange {
        let start = Int32(tables.interpretations.count)
        for rule in rules {
            let json = tables.add("\(options.version.interpretation(rule.coding)),")
            tables.interpretations.append(InterpretationEntry(bounds: rule.bounds, json: json))
        }
        return TableRange(start: start, end: Int32(tables.interpretations.count))
    }

    /// The figures of a summary: first those of its parts, then the shares of ranges.
    private mutating func addFigures(_ field: inout ProgramField, _ rule: ValueRule) {
        guard case .statistics(let statistics) = rule.kind else { return }
        let start = Int32(tables.figures.count)
        for part in statistics.parts {
            guard var entry = part.figure else { continue }
            let unit = part == .variance ? statistics.unit.squared : statistics.unit
            entry.unit = tables.add(JSONText.unit(unit))
            tables.figures.append(entry)
        }
        let percent = UnitRule(unit: "%", system: UnitRule.ucum, code: "%")
        for share in rule.extras.shares {
            var entry = FigureEntry(kind: .share, bounds: share.bounds, unit: tables.add(JSONText.unit(percent)))
            if let holdTime = rule.extras.holdTime { (entry.kind, entry.holdTime) = (.timeShare, holdTime) }
            tables.figures.append(entry)
        }
        field.extras.figures = TableRange(start: start, end: Int32(tables.figures.count))
        let entries = field.extras.figures.places.map { tables.figures[$0].kind }
        field.extras.needsOrder =
            statistics.aggregate == .median || entries.contains(.median) || entries.contains(.percentile)
    }

    // MARK: Steps

    /// Why the value is absent, what it means and what is usual; each followed by what comes after.
    mutating func addExtras(_ rule: ValueRule, _ field: UInt16, then tail: String) {
        if rule.extras.absent.isEmpty {
            if isExplained(rule) { literal("\(JSONText.dataAbsentReason("error"))\(tail)", .explained, field) }
        } else {
            let system = JSONText.quoted("http://terminology.hl7.org/CodeSystem/data-absent-reason")
            literal("\"dataAbsentReason\":{\"coding\":[{\"system\":\(system),\"code\":\"", .explained, field)
            step(.reason, .explained, field)
            literal("\"}]}\(tail)", .explained, field)
        }
        if !rule.extras.interpretation.isEmpty { step(.interpretation, .present, field) }
        guard !rule.extras.referenceRanges.isEmpty else { return }
        let ranges = rule.extras.referenceRanges.map(JSONText.referenceRange).joined(separator: ",")
        literal("\"referenceRange\":[\(ranges)],", .present, field)
    }

    /// Whether a reason can stand in the place of the value: one that the template states, or that what there is cannot
    /// be written, or that readings of a correlation contradict each other.
    func isExplained(_ rule: ValueRule) -> Bool {
        !rule.extras.absent.isEmpty || (!isReference && (rule.kind.mayBeLost || isCorrelation))
    }

    /// The members of a value of a further type, followed by `tail`.
    mutating func addTyped(_ rule: TypedRule, _ text: TypedText, _ field: UInt16, then tail: String) {
        literal(text.head, .present, field)
        switch rule.form {
        case .ratio:
            step(.result, .present, field)
            literal("\(JSONText.unit(rule.unit))},\"denominator\":{\"value\":", .present, field)
            step(.second, .present, field)
            literal("\(JSONText.unit(rule.secondUnit))}}\(tail)", .present, field)
        case .integer, .boolean, .dateTime, .time, .period, .range:
            step(text.code, .present, field)
            // The unit of both ends of a range.
            let unit = tables.add(JSONText.unit(rule.unit))
            (steps[steps.count - 1].start, steps[steps.count - 1].end) = (unit.start, unit.end)
            literal("\(text.foot)\(tail)", .present, field)
        }
    }

    /// The statistics of `rule` as components.
    mutating func addParts(_ rule: StatisticsRule, _ field: UInt16) {
        var place = fieldExtras(field).figures.start
        for part in rule.parts {
            let code = "{\"code\":\(JSONText.object(CodeableConcept(text: nil, codings: [part.coding])))"
            guard part != .count else {
                component("\(code),\(countForm.texts.before)", .several, field)
                step(.count, .several, field)
                literal("\(countForm.texts.after)}", .several, field)
                continue
            }
            guard part.figure == nil else {
                addFigure("\(code),", &place, field)
                continue
            }
            component("\(code),\"valueQuantity\":{\"value\":", .several, field)
            step(part == .minimum ? .minimum : .maximum, .several, field)
            literal("\(JSONText.unit(rule.unit))}}", .several, field)
        }
    }

    /// The shares of ranges as components, in per cent.
    mutating func addShares(_ shares: [ShareRule], after rule: StatisticsRule, _ field: UInt16) {
        var place = fieldExtras(field).figures.end - Int32(shares.count)
        for share in shares { addFigure("{\"code\":\(JSONText.object(share.code)),", &place, field) }
    }

    /// The component of a figure; `head` comes before its value.
    private mutating func addFigure(_ head: String, _ place: inout Int32, _ field: UInt16) {
        component(head, .several, field)
        step(.figure, .several, field)
        steps[steps.count - 1].start = place
        literal("}", .several, field)
        place += 1
    }
}

extension ValueRule {
    /// How its readings are read when they have to be looked at.
    fileprivate var form: FieldExtras.Form {
        switch kind {
        case .quantity, .sampledData, .statistics: .number
        case .string: .text
        case .codeableConcept: .presence
        case .typed(let rule):
            switch rule.form {
            case .integer: .integer
            case .boolean: .boolean
            case .dateTime: .dateTime
            case .time: .time
            case .period: .period
            case .range: .range
            case .ratio: .ratio
            }
        }
    }

    /// Whether each reading has to be looked at. Summaries and series take the numbers among the texts themselves.
    fileprivate var isChecked: Bool {
        switch kind {
        case .typed: true
        case .quantity, .string, .codeableConcept: extras.readsText || extras.comparatorName != nil
        case .sampledData, .statistics: false
        }
    }
}

extension ValueRule.Kind {
    /// Whether there can be readings that it cannot write.
    fileprivate var mayBeLost: Bool {
        switch self {
        case .quantity, .statistics, .sampledData, .typed: true
        case .string, .codeableConcept: false
        }
    }
}

extension ValueExtras {
    /// Whether its numbers can come with comparators.
    var mayCompare: Bool { readsComparator || comparatorName != nil }
}

extension StatisticsRule.Aggregate {
    /// Whether it is found after the survey.
    fileprivate var isFound: Bool { self != .mean && self != .sum }
}

extension StatisticsPart {
    /// How it is made of the numbers; nil for those that the survey of the readings gives.
    fileprivate var figure: FigureEntry? {
        switch self {
        case .minimum, .maximum, .count: nil
        case .average: FigureEntry(kind: .average)
        case .sum: FigureEntry(kind: .sum)
        case .median: FigureEntry(kind: .median)
        case .deviation: FigureEntry(kind: .deviation)
        case .variance: FigureEntry(kind: .variance)
        case .percentile(let permille): FigureEntry(kind: .percentile, permille: Int32(permille))
        }
    }
}
