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
            if policy == .keep { return keep(reading, payload, at: same.place, from: first.place, in: index) }
            let isLater = reading.isLater(than: slots[Int(windows[index].readings) + first.place].received)
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
        of content: ReadingKey.Content, in index: Int,
        by order: (ReadingKey.Content, ReadingKey.Content) -> ReadingKey.Order
    ) -> (place: Int, isThere: Bool) {
        let run = slots.readings(from: Int(windows[index].readings), count: Int(windows[index].count))
        func compare(_ place: Int) -> ReadingKey.Order {
            let instant = run[place].instant
            guard instant == content.reading.instant else {
                return content.reading.instant < instant ? .before : .after
            }
            return order(content, ReadingKey.Content(reading: run.measurement(place), payload: run.payload(place)))
        }
        var (low, high) = (0, run.count)
        while low < high {
            let middle = (low + high) / 2
            if compare(middle) == .after { low = middle + 1 } else { high = middle }
        }
        return (low, low < run.count && compare(low) == .same)
    }

    /// Readings of one key that another is compared with, to find one that it is a part of.
    private static var mostCompared: Int { 64 }

    /// Adds a reading at `place` where others of its key are, from place `first` on; or joins it with one that says
    /// nothing else.
    private mutating func keep(
        _ reading: Measurement, _ payload: ByteView, at place: Int, from first: Int, in index: Int
    ) -> ReadingOutcome {
        let (state, run) = (series[Int(windows[index].series)], Int(windows[index].readings))
        guard state.hasParts else { return self.place(reading, payload, at: place, in: index) }
        let end = min(Int(windows[index].count), first + WindowTable.mostCompared)
        let new = ReadingKey.Content(reading: reading, payload: payload)
        var other: Int?
        var candidate = first
        while candidate < end, slots[run + candidate].instant == reading.instant,
            state.key.compare(content(run + candidate), new) == .same
        {
            let stored = slots.readings(from: run + candidate, count: 1)
            merger.merge(stored.measurement(0), stored.payloadAndReceipts(0), with: reading, payload)
            if merger.outcome == .duplicate { return merge(reading, payload, at: candidate, in: index) }
            if merger.outcome == .accepted, !merger.isTooLong, other == nil { other = candidate }
            candidate += 1
        }
        guard let other else { return self.place(reading, payload, at: place, in: index) }
        let outcome = merge(reading, payload, at: other, in: index)
        order(other, in: index)
        return outcome
    }

    /// Moves the reading at `place`, whose values are others than before, to its place among those of its instant.
    private mutating func order(_ place: Int, in index: Int) {
        let key = series[Int(windows[index].series)].key
        let run = Int(windows[index].readings)
        func isBehind(_ one: Int, _ other: Int) -> Bool {
            guard slots[run + one].instant == slots[run + other].instant else { return false }
            return key.compareAll(content(run + one), content(run + other)) == .after
        }
        var place = place
        while place > 0, isBehind(place - 1, place) {
            slots.exchange(run + place - 1, run + place)
            place -= 1
        }
        while place + 1 < Int(windows[index].count), isBehind(place, place + 1) {
            slots.exchange(run + place, run + place + 1)
            place += 1
        }
    }

    private func content(_ slot: Int) -> ReadingKey.Content {
        let stored = slots.readings(from: slot, count: 1)
        return ReadingKey.Content(reading: stored.measurement(0), payload: stored.payload(0))
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

extension Measurement {
    /// Whether it takes the place of a reading received at `stored`: of those of one time, the last one taken does.
    func isLater(than stored: Instant) -> Bool {
        received > stored || received == stored && mark & ReadingMark.returned == 0
    }
}
