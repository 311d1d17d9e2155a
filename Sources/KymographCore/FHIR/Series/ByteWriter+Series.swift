/// SampledData after its origin: when the samples were taken, `factor`, `dimensions` and `data`.
extension ByteWriter {
    /// Writes the series `form` of `content`; gives the readings that have no sample of their own, because they share
    /// one: readings = values in `data` + this number.
    mutating func appendSeries(
        _ content: borrowing WindowContent, _ form: SeriesForm, timing: SeriesTiming
    ) -> Int {
        appendSpacing(form.plan, timing)
        if !form.scale.hasUnitFactor {
            append(",\"factor\":")
            append(form.scale.factor)
        }
        append(",\"dimensions\":1,\"data\":\"")
        let condensed = appendData(content, form)
        append("\"")
        if form.plan.isIrregular {
            openOffsets(timing)
            appendOffsets(content, form)
            closeOffsets(timing)
        }
        return condensed
    }

    /// Writes the tokens; gives the readings without a sample of their own.
    mutating func appendData(_ content: borrowing WindowContent, _ form: SeriesForm) -> Int {
        if form.plan.isIrregular {
            appendValues(content, form)
            return 0
        }
        guard form.plan.isExact else { return appendGrid(content, form) }
        appendExactGrid(content, form)
        return 0
    }

    private mutating func appendExactGrid(_ content: borrowing WindowContent, _ form: SeriesForm) {
        let isPlain = form.isPlain
        let period = form.plan.period
        var written: Int64 = 0
        var expected = form.start.nanoseconds
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: form.slot) else { continue }
            let instant = content.readings[index].instant.nanoseconds
            // A division costs more than all else here, and most readings follow the one before.
            if instant != expected {
                appendHoles(upTo: (instant - form.start.nanoseconds) / period, written: &written)
            }
            if written > 0 { append(UInt8(ascii: " ")) }
            isPlain ? append(number) : appendToken(number, form)
            written += 1
            expected = instant + period
        }
        appendHoles(upTo: form.plan.samples, written: &written)
    }

    private mutating func appendGrid(_ content: borrowing WindowContent, _ form: SeriesForm) -> Int {
        var written: Int64 = 0
        var condensed = 0
        var walk = SampleWalk(form)
        while let sample = walk.next(content) {
            appendHoles(upTo: sample.place, written: &written)
            guard let value = sample.value else {
                appendHoles(upTo: sample.place + 1, written: &written)
                condensed += sample.readings
                continue
            }
            if written > 0 { append(UInt8(ascii: " ")) }
            appendToken(value, form)
            written += 1
            condensed += sample.readings - 1
        }
        appendHoles(upTo: form.plan.samples, written: &written)
        return condensed
    }

    private mutating func appendToken(_ number: Decimal64, _ form: SeriesForm) {
        if let mark = form.limits.mark(of: number) { return append(mark) }
        form.scale.isPlain ? append(number) : append(digits: form.scale.token(of: number))
    }

    @inline(__always)
    private mutating func appendHoles(upTo place: Int64, written: inout Int64) {
        while written < place {
            written == 0 ? append("E") : append(" E")
            written += 1
        }
    }

    private mutating func appendValues(_ content: borrowing WindowContent, _ form: SeriesForm) {
        var isFirst = true
        for index in 0..<content.readings.count {
            let number = content.number(index, slot: form.slot)
            guard number != nil || content.hasNoNumber(index, slot: form.slot) else { continue }
            if !isFirst { append(UInt8(ascii: " ")) }
            isFirst = false
            if let number { appendToken(number, form) } else { append(Sample.Mark.missing.token) }
        }
    }

    /// Writes the times of an irregular series' samples: milliseconds after its start, separated by spaces, as R5's
    /// `SampledData.offsets` has them.
    mutating func appendOffsets(_ content: borrowing WindowContent, _ form: SeriesForm) {
        var isFirst = true
        for index in 0..<content.readings.count where content.hasSample(index, slot: form.slot) {
            if !isFirst { append(UInt8(ascii: " ")) }
            append(milliseconds: content.readings[index].instant.nanoseconds - form.start.nanoseconds)
            isFirst = false
        }
    }
}
