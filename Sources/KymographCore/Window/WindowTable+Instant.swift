/// Readings at an instant that a window has readings of: nearly none.
extension WindowTable {
    /// Adds a reading to the run of a window, which has one at its instant at least.
    @inline(never)
    mutating func insertAtInstant(_ reading: Measurement, _ payload: ByteView, into index: Int) -> ReadingOutcome {
        let number = Int(windows[index].series)
        let key = series[number].key
        let content = ReadingKey.Content(reading: reading, payload: payload)
        let first = place(of: content, in: index) { key.compare($0, $1) }
        guard first.isThere else { return place(reading, payload, at: first.place, in: index) }
        let policy = policy(for: content, of: number)
        if policy == .merge { return merge(reading, payload, at: first.place, in: index) }
        let same = place(of: content, in: index) { key.compareAll($0, $1) }
        if same.isThere { return repeated(reading, payload, at: same.place, in: index, isFirst: policy == .reject) }
        if reading.mark & ReadingMark.supersedes == 0 {
            if policy == .keep { return place(reading, payload, at: same.place, in: index) }
            let isLater = reading.received >= slots[Int(windows[index].readings) + first.place].received
            guard isLater == (policy == .latest) else { return .rejected(.superseded) }
        }
        return replace(at: first.place, in: index, with: reading, payload)
    }

    /// What becomes of a reading where there is one of the same key that says something else. Of single readings
    /// without id only one can stay: their Observations would have one identity.
    private func policy(for content: ReadingKey.Content, of number: Int) -> SameInstant {
        if series[number].key.hasId(content) { return .latest }
        let policy = series[number].sameInstant
        return policy == .keep && series[number].isInstance ? .latest : policy
    }

    /// The first place in a window's run whose reading `content` is not behind, by time and then by `order`, and
    /// whether that reading is the same by it.
    private func place(
        of content: ReadingKey.Content, in index: Int, by order: (ReadingKey.Content, ReadingKey.Content) -> ReadingKey.Order
    ) -> (place: Int, isThere: Bool) {
        let run = slots.readings(from: Int(windows[index].readings), count: Int(windows[index].count))
        func compare(_ place: Int) -> ReadingKey.Order {
            let instant = run[place].instant
            guard instant == content.reading.instant else { return content.reading.instant < instant ? .before : .after }
            return order(content, ReadingKey.Content(reading: run.measurement(place), payload: run.payload(place)))
        }
        var (low, high) = (0, run.count)
        while low < high {
            let middle = (low + high) / 2
            if compare(middle) == .after { low = middle + 1 } else { high = middle }
        }
        return (low, low < run.count && compare(low) == .same)
    }

    /// Notes that a reading came again. What the last one says of when it was received counts, or with `isFirst` what
    /// the first one does.
    private mutating func repeated(
        _ reading: Measurement, _ payload: ByteView, at place: Int, in index: Int, isFirst: Bool
    ) -> ReadingOutcome {
        let slot = Int(windows[index].readings) + place
        let received = slots[slot].received
        let outcome = merge(reading, payload, at: place, in: index)
        if isFirst, min(received, reading.received) != slots[slot].received {
            slots[slot].received = min(received, reading.received)
        }
        return outcome
    }

    /// Puts a reading in the place of another, which is kept in ``WindowTable/superseded``.
    private mutating func replace(
        at place: Int, in index: Int, with reading: Measurement, _ payload: ByteView
    ) -> ReadingOutcome {
        let slot = Int(windows[index].readings) + place
        superseded.keep(slots.readings(from: slot, count: 1))
        let state = slots[slot].mark & (ReadingMark.unsent | ReadingMark.emitted)
        slots.releaseBlock(at: slot)
        put(reading, payload, at: slot, in: index)
        slots[slot].mark = slots[slot].mark & ReadingMark.source | state
        changed(place, in: index)
        return .replaced
    }

    /// Merges a reading with the stored one of the same key.
    private mutating func merge(
        _ reading: Measurement, _ payload: ByteView, at place: Int, in index: Int
    ) -> ReadingOutcome {
        let slot = Int(windows[index].readings) + place
        let stored = slots.readings(from: slot, count: 1)
        if ReadingMerger.isRepeat(reading, payload, of: stored.measurement(0)) {
            return repeated(reading, at: slot, in: index)
        }
        merger.merge(stored.measurement(0), stored.payloadAndReceipts(0), with: reading, payload)
        if merger.isTooLong { return .rejected(.valueTooLong) }
        if merger.outcome == .conflict { keepSuperseded(by: reading, payload, stored) }
        slots.releaseBlock(at: slot)
        put(merger.reading, merger.payload, at: slot, in: index)
        windows[index].flags.insert(.restamped)
        if merger.isChanged { changed(place, in: index) }
        count(merger.outcome, in: index)
        return merger.outcome
    }

    private mutating func count(_ outcome: ReadingOutcome, in index: Int) {
        switch outcome {
        case .duplicate: windows[index].duplicates &+= 1
        case .accepted: windows[index].merged &+= 1
        // Whoever added the reading rejects the one of which nothing, or not all, is left.
        case .conflict, .replaced, .rejected: break
        }
    }

    /// Keeps the reading that was received first of two that say different things, value by value.
    private mutating func keepSuperseded(by reading: Measurement, _ payload: ByteView, _ stored: WindowReadings) {
        if reading.received >= stored.measurement(0).received {
            superseded.keep(stored)
        } else {
            superseded.keep(reading, payload)
        }
    }
}
