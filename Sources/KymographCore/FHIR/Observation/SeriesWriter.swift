/// Writes the origins and the samples of series.
struct SeriesWriter: ~Copyable, Sendable {
    private let timing: SeriesTiming
    /// The series whose origin was just written.
    private var compactForm: SeriesForm?
    /// The scale of the waveform whose origin was just written.
    private var compactScale: SeriesScale?

    init(_ timing: SeriesTiming) { self.timing = timing }

    // MARK: Numbers

    /// Writes the origin of the compact series of `field` over `span`, and keeps its form for the series itself.
    mutating func writeOrigin(
        _ field: ProgramField, _ content: borrowing WindowContent, _ program: TypeProgram, _ span: EffectiveSpan,
        _ writer: inout ByteWriter
    ) {
        let form = form(field, content, program, span)
        writer.append(form.scale.origin)
        compactForm = form
    }

    /// Writes the series of `field` over `span`; gives the number of its condensed readings.
    mutating func write(
        _ field: ProgramField, _ content: borrowing WindowContent, _ program: TypeProgram, _ span: EffectiveSpan,
        _ writer: inout ByteWriter
    ) -> Int {
        let form = compactForm ?? form(field, content, program, span)
        compactForm = nil
        return writer.appendSeries(content, form, timing: timing)
    }

    private mutating func form(
        _ field: ProgramField, _ content: borrowing WindowContent, _ program: TypeProgram, _ span: EffectiveSpan
    ) -> SeriesForm {
        let slot = Int(field.slot)
        let plan =
            field.period > 0
            ? SeriesPlan(period: field.period, span: span.length)
            : SeriesPlan(
                content, slot: slot, start: span.start, span: span.length, endsOnReading: !program.coversWindow,
                timing: timing)
        var form = SeriesForm(
            slot: slot, start: span.start, plan: plan, policy: field.collision, limits: field.limits)
        if field.isCompact { form.scale = .shortest(content, form) }
        return form
    }

    // MARK: Waveforms

    /// Writes the origin of a waveform over `span`, and keeps its scale for the samples.
    mutating func writeOrigin(
        _ waveform: WaveformEntry, _ content: borrowing WindowContent, _ span: EffectiveSpan,
        _ writer: inout ByteWriter
    ) {
        let plan = WaveformPlan(content, waveform, start: span.start.nanoseconds)
        let scale = SeriesScale.shortest(content, WaveformWalk(plan, waveform))
        writer.append(scale.origin)
        compactScale = scale
    }

    /// Writes a waveform over `span`; gives the number of its condensed readings.
    mutating func write(
        _ waveform: WaveformEntry, _ limits: SeriesLimits, _ content: borrowing WindowContent, _ span: EffectiveSpan,
        _ writer: inout ByteWriter
    ) -> Int {
        let plan = WaveformPlan(content, waveform, start: span.start.nanoseconds)
        let scale = compactScale ?? .plain
        compactScale = nil
        return writer.appendWaveform(content, plan, waveform, limits, scale, timing: timing)
    }
}
