extension ObservationEncoder {
    /// How the series of `step` is written for the prepared `content`.
    mutating func seriesForm(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram
    ) -> SeriesForm {
        let field = fields[program.fieldStart + Int(step.field)]
        let slot = Int(field.slot)
        let plan =
            field.period > 0
            ? SeriesPlan(period: field.period, span: span.length)
            : SeriesPlan(
                content, slot: slot, start: span.start, span: span.length, endsOnReading: !program.coversWindow,
                timing: options.version.seriesTiming)
        var form = SeriesForm(
            slot: slot, start: span.start, plan: plan, policy: field.collision, limits: field.limits)
        if field.isCompact { form.scale = .shortest(content, form) }
        return form
    }

    /// Writes the origin of a compact series, and keeps its form for the series itself.
    mutating func writeOrigin(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        if facts[Int(step.field)].hasArrays { return writeWaveformOrigin(step, content, program, &writer) }
        let form = seriesForm(step, content, program)
        writer.append(form.scale.origin)
        compactForm = form
    }

    /// Writes a series; gives the number of its condensed readings.
    mutating func writeSeries(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) -> Int {
        if facts[Int(step.field)].hasArrays { return writeWaveform(step, content, program, &writer) }
        let form = compactForm ?? seriesForm(step, content, program)
        compactForm = nil
        return writer.appendSeries(content, form, timing: options.version.seriesTiming)
    }

    // MARK: Waveforms

    private mutating func writeWaveformOrigin(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let field = fields[program.fieldStart + Int(step.field)]
        let entry = tables.waveforms[Int(field.extras.waveform)]
        let plan = WaveformPlan(content, entry, start: span.start.nanoseconds)
        let scale = SeriesScale.shortest(content, WaveformWalk(plan, entry))
        writer.append(scale.origin)
        compactScale = scale
    }

    private mutating func writeWaveform(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) -> Int {
        let field = fields[program.fieldStart + Int(step.field)]
        let entry = tables.waveforms[Int(field.extras.waveform)]
        let plan = WaveformPlan(content, entry, start: span.start.nanoseconds)
        let scale = compactScale ?? .plain
        compactScale = nil
        return writer.appendWaveform(
            content, plan, entry, field.limits, scale, timing: options.version.seriesTiming)
    }
}
