/// SampledData after an origin of 0: when the samples were taken, `dimensions` and `data`.
extension ByteWriter {
    /// Writes the numbers in `slot` of `content` on the plan's grid; gives the readings that share a slot with another
    /// (or have no exact mean) and are therefore not there on their own.
    mutating func appendSeries(
        _ content: borrowing WindowContent, slot: Int, start: Instant, plan: SeriesPlan, policy: SlotCollision,
        timing: SeriesTiming
    ) -> Int {
        appendSpacing(plan, timing)
        append(",\"dimensions\":1,\"data\":\"")
        if plan.isIrregular {
            appendValues(content, slot: slot)
            append("\"")
            openOffsets(timing)
            appendOffsets(content, slot: slot, start: start)
            closeOffsets(timing)
            return 0
        }
        var condensed = 0
        if plan.isExact {
            appendExactGrid(content, slot: slot, start: start, plan: plan)
        } else {
            condensed = appendGrid(content, slot: slot, start: start, plan: plan, policy: policy)
        }
        append("\"")
        return condensed
    }

    private mutating func appendExactGrid(
        _ content: borrowing WindowContent, slot: Int, start: Instant, plan: SeriesPlan
    ) {
        var written: Int64 = 0
        var expected = start.nanoseconds
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: slot) else { continue }
            let instant = content.readings[index].instant.nanoseconds
            // A division costs more than all else here, and most readings follow the one before.
            if instant != expected {
                appendHoles(upTo: (instant - start.nanoseconds) / plan.period, written: &written)
            }
            if written > 0 { append(UInt8(ascii: " ")) }
            append(number)
            written += 1
            expected = instant + plan.period
        }
        appendHoles(upTo: plan.samples, written: &written)
    }

    private mutating func appendGrid(
        _ content: borrowing WindowContent, slot: Int, start: Instant, plan: SeriesPlan, policy: SlotCollision
    ) -> Int {
        var place: Int64 = 0
        var written: Int64 = 0
        var sum = SlotSum()
        var condensed = 0
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: slot) else { continue }
            let next = (content.readings[index].instant.nanoseconds - start.nanoseconds) / plan.period
            if next != place && sum.readings > 0 {
                condensed += appendSlot(sum, policy, at: place, written: &written)
                sum = SlotSum()
            }
            place = next
            sum.add(number, policy)
        }
        condensed += appendSlot(sum, policy, at: place, written: &written)
        appendHoles(upTo: plan.samples, written: &written)
        return condensed
    }

    /// Writes the value of slot `place` after the holes before it; gives the readings it condenses.
    @inline(__always)
    private mutating func appendSlot(
        _ sum: SlotSum, _ policy: SlotCollision, at place: Int64, written: inout Int64
    ) -> Int {
        guard sum.readings > 0 else { return 0 }
        appendHoles(upTo: place, written: &written)
        guard let value = sum.value(policy) else {
            appendHoles(upTo: place + 1, written: &written)
            return sum.readings
        }
        if written > 0 { append(UInt8(ascii: " ")) }
        append(value)
        written += 1
        return sum.readings == 1 ? 0 : sum.readings
    }

    @inline(__always)
    private mutating func appendHoles(upTo place: Int64, written: inout Int64) {
        while written < place {
            written == 0 ? append("E") : append(" E")
            written += 1
        }
    }

    private mutating func appendValues(_ content: borrowing WindowContent, slot: Int) {
        var isFirst = true
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: slot) else { continue }
            if !isFirst { append(UInt8(ascii: " ")) }
            append(number)
            isFirst = false
        }
    }

    /// Writes milliseconds after the start, as R5's `SampledData.offsets` has them.
    private mutating func appendOffsets(_ content: borrowing WindowContent, slot: Int, start: Instant) {
        var isFirst = true
        for index in 0..<content.readings.count where content.number(index, slot: slot) != nil {
            if !isFirst { append(UInt8(ascii: " ")) }
            append(milliseconds: content.readings[index].instant.nanoseconds - start.nanoseconds)
            isFirst = false
        }
    }
}
