/// Writes the values that are more than one number of one reading, and what goes with values.
extension ObservationEncoder {
    /// Completes what the survey of `field` found.
    mutating func extend(
        _ facts: inout FieldFacts, _ field: ProgramField, _ content: borrowing WindowContent
    ) {
        if field.extras.waveform >= 0, surveyWaveform(&facts, field, content) { return }
        guard field.slot >= 0 || field.extras.second >= 0 else { return }
        if field.kind == .checked {
            facts = FieldFacts.checked(field, content, tables)
            if facts.isUnusable && facts.count == 0 && facts.reason < 0 { facts.lose(.invalidValue) }
            return
        }
        if facts.count == 0 {
            let reason = tables.reason(field, content)
            if reason >= 0 { facts.explain(reason) }
            return
        }
        guard field.kind == .statistics else { return }
        losses.unwritten += figures.make(field, content, tables, &facts)
    }

    /// Looks for the arrays of a waveform; false when there are none.
    @inline(never)
    private mutating func surveyWaveform(
        _ facts: inout FieldFacts, _ field: ProgramField, _ content: borrowing WindowContent
    ) -> Bool {
        let entry = tables.waveforms[Int(field.extras.waveform)]
        let plan = WaveformPlan(content, entry, start: span.start.nanoseconds)
        guard plan.hasArrays else { return false }
        facts = FieldFacts()
        facts.hasArrays = true
        facts.count = plan.readings
        guard plan.readings > 0 else {
            facts.lose(.invalidValue)
            return true
        }
        facts.passedOver = plan.unusable
        guard plan.fits(dimensions: entry.dimensions) else {
            facts.lose(.valueTooLong)
            return true
        }
        // The Observation covers the samples, and not just the readings' own times.
        span.start = min(span.start, Instant(nanoseconds: plan.start))
        span.end = max(span.end, Instant(nanoseconds: plan.end))
        return true
    }

    mutating func writeFurther(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        if step.code == .figure { return writeFigure(Int(step.start), &writer) }
        if step.code == .issued { return writeIssued(content, &writer) }
        let facts = self.facts[Int(step.field)]
        let extras = fields[program.fieldStart + Int(step.field)].extras
        switch step.code {
        case .reason: writer.append(tables.text(tables.absents[Int(facts.reason)].code))
        case .interpretation: writeInterpretation(facts, extras, &writer)
        case .comparator:
            guard facts.comparator != .none else { return }
            writer.append(",\"comparator\":\"")
            writer.append(facts.comparator.code)
            writer.append("\"")
        case .boolean: writer.append(facts.result.mantissa == 0 ? "false" : "true")
        case .yesNo: writer.append(facts.result.mantissa == 0 ? "N" : "Y")
        default: writePair(step, content, program, &writer)
        }
    }

    private mutating func writeFigure(_ place: Int, _ writer: inout ByteWriter) {
        guard let figure = figures.result(place) else { return writer.append(tables.text(tables.lostValue)) }
        writer.append("\"valueQuantity\":{\"value\":")
        writer.append(figure)
        writer.append(tables.text(tables.figures[place].unit))
        writer.append("}")
    }

    /// The first meaning that fits. With a comparator only a bound of the value is known, and so not what it means.
    private mutating func writeInterpretation(_ facts: FieldFacts, _ extras: FieldExtras, _ writer: inout ByteWriter) {
        guard facts.comparator == .none else { return }
        for place in extras.interpretations.places {
            guard tables.interpretations[place].bounds.contains(facts.result) else { continue }
            return writer.append(tables.text(tables.interpretations[place].json))
        }
    }

    private mutating func writePair(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let last = facts[Int(step.field)].last
        let field = fields[program.fieldStart + Int(step.field)]
        let (first, second) = (Int(field.slot), Int(field.extras.second))
        switch step.code {
        case .second: if let number = content.number(last, slot: second) { writer.append(number) }
        case .time: if let text = content.text(last, slot: first) { writer.append(timeOfDay: text) }
        case .period:
            let start = first >= 0 ? content.text(last, slot: first) : nil
            let end = second >= 0 ? content.text(last, slot: second) : nil
            writeEnds("\"start\":\"", start, "\"end\":\"", end, &writer)
        default:
            let low = first >= 0 ? content.number(last, slot: first) : nil
            let high = second >= 0 ? content.number(last, slot: second) : nil
            let unit = tables.texts.view(Int(step.start)..<Int(step.end))
            if let low { writeEnd("\"low\":{\"value\":", low, unit, &writer) }
            if low != nil && high != nil { writer.append(",") }
            if let high { writeEnd("\"high\":{\"value\":", high, unit, &writer) }
        }
    }

    private mutating func writeEnds(
        _ head: StaticString, _ start: ByteView?, _ foot: StaticString, _ end: ByteView?, _ writer: inout ByteWriter
    ) {
        if let start {
            writer.append(head)
            writer.append(start)
            writer.append(end == nil ? "\"" : "\",")
        }
        guard let end else { return }
        writer.append(foot)
        writer.append(end)
        writer.append("\"")
    }

    private mutating func writeEnd(
        _ head: StaticString, _ number: Decimal64, _ unit: ByteView, _ writer: inout ByteWriter
    ) {
        writer.append(head)
        writer.append(number)
        writer.append(unit)
        writer.append("}")
    }

    // MARK: Times

    /// Writes the member that says when the last of the readings came: nothing was known of the Observation before.
    private mutating func writeIssued(_ content: borrowing WindowContent, _ writer: inout ByteWriter) {
        guard let last = content.readings.lastReceived else { return }
        writer.append("\"issued\":\"")
        writeTime(last, .unknown, &writer)
        writer.append("\",")
    }

    /// Writes `effective[x]` of the type that the template states.
    mutating func writeStatedEffective(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let form = timeForm(content, program)
        if program.effectiveForm == .period { return writePeriod(form, &writer) }
        writer.append(program.effectiveForm == .instant ? "\"effectiveInstant\":\"" : "\"effectiveDateTime\":\"")
        writeTime(span.end, form, &writer)
        writer.append("\"")
    }
}
