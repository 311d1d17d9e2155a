/// Surveys what the readings of a content say about the fields of its template, and writes their values.
struct ValueWriter: ~Copyable, Sendable {
    /// What a survey found.
    struct Survey {
        /// Whether there is a value that makes sense alone.
        var hasValue = false
        /// Why the first of the values that cannot be written cannot.
        var loss: Rejection?
    }

    private let fields: RawArray<ProgramField>
    private let tables: ProgramTables
    private var figures: WindowFigures
    /// What the survey found of each field of the type.
    private var facts = RawArray<FieldFacts>()
    /// What the prepared content's Observation does not say.
    var losses = ObservationLosses()
    /// The slots of values that were withheld, for those who explain Observations; nil when no one does.
    private var withheld: [Int]?

    init(_ fields: consuming RawArray<ProgramField>, _ tables: consuming ProgramTables) {
        figures = WindowFigures(count: tables.figures.count)
        self.fields = fields
        self.tables = tables
    }

    // MARK: Survey

    /// Looks through `content` for an Observation, which covers `span`: with more than the readings' own times, that
    /// grows.
    @inline(__always)
    mutating func survey(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ span: inout EffectiveSpan
    ) -> Survey {
        facts.removeAll()
        losses = ObservationLosses()
        var survey = Survey()
        for index in program.fieldStart..<program.fieldEnd {
            let field = fields[index]
            var found = FieldFacts.survey(field, content)
            if field.isExtended { extend(&found, field, content, &span) }
            if field.hasSeries { checkSeries(&found, field, span) }
            if program.isJoined { withhold(&found, field, content) }
            if found.isImpaired { note(found) }
            survey.loss = survey.loss ?? found.loss
            found.settle()
            facts.append(found)
            let isThere = found.loss == nil && (found.count > 0 || found.reason >= 0)
            survey.hasValue = survey.hasValue || (isThere && field.extras.countsAsValue)
        }
        return survey
    }

    /// Looks through `content` for a resource that is no Observation; gives the reason when a value cannot be written.
    mutating func surveyResource(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ span: inout EffectiveSpan
    ) -> Rejection? {
        facts.removeAll()
        losses = ObservationLosses()
        for index in program.fieldStart..<program.fieldEnd {
            let field = fields[index]
            var found = FieldFacts.survey(field, content)
            if field.isExtended { extend(&found, field, content, &span) }
            // A resource is about one reading: what cannot be written of it is not left out.
            if let loss = found.loss { return loss }
            found.settle()
            facts.append(found)
        }
        return nil
    }

    /// Notes that no field has a value.
    mutating func clear(_ program: TypeProgram) {
        facts.removeAll()
        losses = ObservationLosses()
        for _ in program.fieldStart..<program.fieldEnd { facts.append(FieldFacts()) }
    }

    /// A series with more samples than one may have cannot be written.
    @inline(__always)
    private func checkSeries(_ found: inout FieldFacts, _ field: ProgramField, _ span: EffectiveSpan) {
        guard found.count > 0, !found.hasArrays, !SeriesPlan.fits(period: field.period, span: span.length) else {
            return
        }
        if field.kind == .statistics { found.losesSeries = found.count > 1 } else { found.lose(.valueTooLong) }
    }

    private mutating func note(_ found: FieldFacts) {
        losses.passedOver += found.passedOver
        if let loss = found.loss { losses.unwrittenValues[UnwrittenReason(loss)] += 1 }
        if found.losesSeries { losses.unwrittenValues[.valueTooLong] += 1 }
    }

    /// Withholds the value of `field` where readings of one correlation and time differ in it: a number of one
    /// measurement must not stand beside those of another. It stays so until what one of them says is corrected or
    /// taken back, in whatever order they came.
    @inline(never)
    private mutating func withhold(
        _ facts: inout FieldFacts, _ field: ProgramField, _ content: borrowing WindowContent
    ) {
        guard facts.isContradicted(field, content, tables) else { return }
        facts = FieldFacts()
        facts.explain(ProgramTables.errorReason)
        losses.unwrittenValues[.contradiction] += 1
        guard withheld != nil else { return }
        let isPair = [.period, .range, .ratio].contains(field.extras.form)
        let first = field.slot >= 0 ? field.slot : field.extras.second
        for slot in isPair ? [field.slot, field.extras.second] : [first] where slot >= 0 {
            withheld?.append(Int(slot))
        }
    }

    /// Has slots of values that are withheld noted from now on; those since the last time.
    mutating func takeWithheld() -> [Int] {
        defer { withheld = [] }
        return withheld ?? []
    }

    /// Completes what the survey of `field` found.
    private mutating func extend(
        _ facts: inout FieldFacts, _ field: ProgramField, _ content: borrowing WindowContent,
        _ span: inout EffectiveSpan
    ) {
        if field.extras.waveform >= 0, surveyWaveform(&facts, field, content, &span) { return }
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
        losses.unwrittenValues[.inexactNumber] += figures.make(field, content, tables, &facts)
    }

    /// Looks for the arrays of a waveform; false when there are none.
    @inline(never)
    private mutating func surveyWaveform(
        _ facts: inout FieldFacts, _ field: ProgramField, _ content: borrowing WindowContent,
        _ span: inout EffectiveSpan
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

    // MARK: What there is

    /// Whether `step` is to be taken.
    @inline(__always)
    mutating func satisfies(_ step: ProgramStep) -> Bool {
        step.condition == .always || facts[Int(step.field)].satisfies(step.condition)
    }

    /// What the survey found of the type's field `field`.
    @inline(__always)
    mutating func facts(of field: UInt16) -> FieldFacts { facts[Int(field)] }

    /// The type's field `field`.
    @inline(__always)
    mutating func field(_ field: UInt16, of program: TypeProgram) -> ProgramField {
        fields[program.fieldStart + Int(field)]
    }

    /// The waveform of `field`, which is that of `step`, when its readings are arrays.
    @inline(__always)
    mutating func waveform(_ step: ProgramStep, _ field: ProgramField) -> WaveformEntry? {
        facts[Int(step.field)].hasArrays ? tables.waveforms[Int(field.extras.waveform)] : nil
    }

    /// The latest text of the type's field `field`; nil when it is a number.
    mutating func text(
        of field: UInt16, _ content: borrowing WindowContent, _ program: TypeProgram
    ) -> ByteView? {
        content.text(facts[Int(field)].last, slot: slot(of: field, program))
    }

    @inline(__always)
    private mutating func slot(of field: UInt16, _ program: TypeProgram) -> Int {
        Int(fields[program.fieldStart + Int(field)].slot)
    }

    // MARK: One value

    /// Writes the number of a field.
    @inline(__always)
    mutating func writeResult(_ step: ProgramStep, _ writer: inout ByteWriter) {
        writer.append(facts[Int(step.field)].result)
    }

    /// Writes how many readings have the value.
    @inline(__always)
    mutating func writeCount(_ step: ProgramStep, _ writer: inout ByteWriter) {
        writer.append(digits: UInt64(facts[Int(step.field)].count))
    }

    /// Writes the least number of a field.
    @inline(__always)
    mutating func writeLeast(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let least = facts[Int(step.field)].least
        if let number = content.number(least, slot: slot(of: step.field, program)) { writer.append(number) }
    }

    /// Writes the greatest number of a field.
    @inline(__always)
    mutating func writeGreatest(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let greatest = facts[Int(step.field)].greatest
        if let number = content.number(greatest, slot: slot(of: step.field, program)) { writer.append(number) }
    }

    /// Writes the latest text of a field, or its number.
    mutating func writeText(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        guard let text = text(of: step.field, content, program) else { return writeResult(step, &writer) }
        writer.appendJSON(text)
    }

    /// Writes one of two texts: `yes` unless the number is 0.
    mutating func writeBoolean(
        _ step: ProgramStep, _ yes: StaticString, _ no: StaticString, _ writer: inout ByteWriter
    ) {
        writer.append(facts[Int(step.field)].result.mantissa == 0 ? no : yes)
    }

    /// Writes the latest text of a field, which is a time of day.
    mutating func writeTimeOfDay(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        if let text = text(of: step.field, content, program) { writer.append(timeOfDay: text) }
    }

    // MARK: What goes with values

    /// Writes why there is no value.
    mutating func writeReason(_ step: ProgramStep, _ writer: inout ByteWriter) {
        writer.append(tables.text(tables.absents[Int(facts[Int(step.field)].reason)].code))
    }

    /// Writes the member `comparator`, where there is one, with a comma before it.
    mutating func writeComparator(_ step: ProgramStep, _ writer: inout ByteWriter) {
        let comparator = facts[Int(step.field)].comparator
        guard comparator != .none else { return }
        writer.append(",\"comparator\":\"")
        writer.append(comparator.code)
        writer.append("\"")
    }

    /// Writes a figure of the window.
    mutating func writeFigure(_ step: ProgramStep, _ writer: inout ByteWriter) {
        let place = Int(step.start)
        guard let figure = figures.result(place) else { return writer.append(tables.text(tables.lostValue)) }
        writer.append("\"valueQuantity\":{\"value\":")
        writer.append(figure)
        writer.append(tables.text(tables.figures[place].unit))
        writer.append("}")
    }

    /// Writes the first meaning that fits. With a comparator only a bound of the value is known, and so not what it
    /// means.
    mutating func writeInterpretation(_ step: ProgramStep, _ program: TypeProgram, _ writer: inout ByteWriter) {
        let facts = self.facts[Int(step.field)]
        guard facts.comparator == .none else { return }
        for place in field(step.field, of: program).extras.interpretations.places {
            guard tables.interpretations[place].bounds.contains(facts.result) else { continue }
            return writer.append(tables.text(tables.interpretations[place].json))
        }
    }

    // MARK: Two values

    /// Writes the second number of a pair.
    mutating func writeSecond(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let second = Int(field(step.field, of: program).extras.second)
        if let number = content.number(facts[Int(step.field)].last, slot: second) { writer.append(number) }
    }

    /// Writes the members of a Period.
    mutating func writePeriod(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let last = facts[Int(step.field)].last
        let (first, second) = slots(of: step, program)
        let start = first >= 0 ? content.text(last, slot: first) : nil
        let end = second >= 0 ? content.text(last, slot: second) : nil
        if let start {
            writer.append("\"start\":\"")
            writer.append(start)
            writer.append(end == nil ? "\"" : "\",")
        }
        guard let end else { return }
        writer.append("\"end\":\"")
        writer.append(end)
        writer.append("\"")
    }

    /// Writes the members of a Range.
    mutating func writeRange(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let last = facts[Int(step.field)].last
        let (first, second) = slots(of: step, program)
        let low = first >= 0 ? content.number(last, slot: first) : nil
        let high = second >= 0 ? content.number(last, slot: second) : nil
        let unit = tables.texts.view(Int(step.start)..<Int(step.end))
        if let low { writeEnd("\"low\":{\"value\":", low, unit, &writer) }
        if low != nil && high != nil { writer.append(",") }
        if let high { writeEnd("\"high\":{\"value\":", high, unit, &writer) }
    }

    /// The slots of a pair, each of which may be -1.
    private mutating func slots(of step: ProgramStep, _ program: TypeProgram) -> (first: Int, second: Int) {
        let field = field(step.field, of: program)
        return (Int(field.slot), Int(field.extras.second))
    }

    private mutating func writeEnd(
        _ head: StaticString, _ number: Decimal64, _ unit: ByteView, _ writer: inout ByteWriter
    ) {
        writer.append(head)
        writer.append(number)
        writer.append(unit)
        writer.append("}")
    }
}
