/// Puts readings into windows: what becomes of one where the window has readings of its instant already.
struct ReadingInserter: ~Copyable {
    private var mostReadings: Int
    private let preliminaryEvery: Int
    private var merger = ReadingMerger()
    /// The payload of a reading with the tags of another.
    private var tagged = ByteWriter(capacity: 64)
    /// The reading whose place another has taken last.
    private(set) var superseded = SupersededReading()

    init(limits: WindowLimits) {
        (mostReadings, preliminaryEvery) = (limits.maxReadingsPerWindow, limits.preliminaryEvery)
    }

    /// Takes over `limits` for what comes.
    mutating func takeOver(_ limits: WindowLimits) { mostReadings = limits.maxReadingsPerWindow }

    /// Adds a reading to `window`, which knows of all its readings; ``OpenWindow/isDue`` tells whether it is to enter
    /// the queue.
    @inline(__always)
    mutating func insert(
        _ reading: Measurement, _ payload: ByteView, into window: inout OpenWindow, _ rules: InstantRules,
        _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        if window.count == 0 || reading.instant > window.last {
            return place(reading, payload, at: Int(window.count), in: &window, &runs)
        }
        return insertOutOfOrder(reading, payload, into: &window, rules, &runs)
    }

    private mutating func insertOutOfOrder(
        _ reading: Measurement, _ payload: ByteView, into window: inout OpenWindow, _ rules: InstantRules,
        _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        if window.isPacked, reading.instant < runs[Int(window.readings)].instant {
            return insertIntoPacked(reading, payload, into: &window, rules, &runs)
        }
        return insertIntoRun(reading, payload, into: &window, rules, &runs)
    }

    /// Adds a reading of a window that is before all that is not packed.
    private mutating func insertIntoPacked(
        _ reading: Measurement, _ payload: ByteView, into window: inout OpenWindow, _ rules: InstantRules,
        _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        guard window.isCarrier else {
            return runs.withChunk(for: reading.instant, of: &window) { runs, window in
                insertIntoRun(reading, payload, into: &window, rules, &runs)
            }
        }
        // It is to be sent. With room for as many again, unpacking costs no more than they do before it is done again.
        runs.unpack(&window, behind: reading.instant)
        return insertIntoRun(reading, payload, into: &window, rules, &runs)
    }

    /// Adds a reading that is not behind all others to the run of a window.
    private mutating func insertIntoRun(
        _ reading: Measurement, _ payload: ByteView, into window: inout OpenWindow, _ rules: InstantRules,
        _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        let place = runs.lowerBound(window, reading.instant)
        let slot = Int(window.readings) + place
        guard place < Int(window.count), runs[slot].instant == reading.instant else {
            return self.place(reading, payload, at: place, in: &window, &runs)
        }
        if ReadingMerger.isRepeat(reading, payload, of: runs.reading(slot).measurement(0)) {
            return repeated(reading, at: slot, in: &window, rules, &runs)
        }
        return insertAtInstant(reading, payload, into: &window, rules, &runs)
    }

    /// Notes that exactly the reading in `slot` came again. What the last one says of when it was received counts, or
    /// what the first one does where that is to stay.
    @inline(__always)
    private func repeated(
        _ reading: Measurement, at slot: Int, in window: inout OpenWindow, _ rules: InstantRules,
        _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        let isFirst = rules.sameInstant == .reject
        if isFirst ? reading.received < runs[slot].received : reading.received > runs[slot].received {
            runs[slot].received = reading.received
            window.restamp()
        }
        window.duplicates &+= 1
        return .duplicate
    }

    /// Puts a reading that is not there yet at `place` of a window's run.
    private func place(
        _ reading: Measurement, _ payload: ByteView, at place: Int, in window: inout OpenWindow,
        _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        guard window.total < mostReadings else { return .rejected(.tooManyReadings) }
        let place = runs.insert(reading, payload, at: place, in: &window)
        changed(place, in: &window, &runs)
        window.noteGrowth(preliminaryEvery: preliminaryEvery)
        return .accepted
    }

    /// Notes that the reading at `place` is new or has other content than before.
    @inline(__always)
    private func changed(_ place: Int, in window: inout OpenWindow, _ runs: inout ReadingRuns) {
        window.change()
        if window.isCarrier { runs.markUnsent(place, in: &window) }
    }
}

// MARK: Readings at an instant that a window has readings of: nearly none

extension ReadingInserter {
    /// Adds a reading to the run of a window, which has one at its instant at least.
    @inline(never)
    private mutating func insertAtInstant(
        _ reading: Measurement, _ payload: ByteView, into window: inout OpenWindow, _ rules: InstantRules,
        _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        let key = rules.key
        let content = ReadingKey.Content(reading: reading, payload: payload)
        let first = runs.place(of: content, in: window) { key.compare($0, $1) }
        guard first.isThere else { return place(reading, payload, at: first.place, in: &window, &runs) }
        let policy = rules.policy(for: content)
        if policy == .merge { return merge(reading, payload, at: first.place, in: &window, rules, &runs) }
        let same = runs.place(of: content, in: window) { key.compareAll($0, $1) }
        if same.isThere {
            return repeated(
                reading, payload, at: same.place, in: &window, rules, &runs, isFirst: policy == .reject)
        }
        if reading.mark & ReadingMark.supersedes == 0 {
            if policy == .keep {
                return keep(reading, payload, at: same.place, from: first.place, in: &window, rules, &runs)
            }
            let isLater = reading.isLater(than: runs[Int(window.readings) + first.place].received)
            guard isLater == (policy == .latest) else { return .rejected(.superseded) }
        }
        return replace(at: first.place, in: &window, &runs, with: reading, payload)
    }

    /// Readings of one key that another is compared with, to find one that it is a part of.
    private static var mostCompared: Int { 64 }

    /// Adds a reading at `place` where others of its key are, from place `first` on; or joins it with one that says
    /// nothing else.
    private mutating func keep(
        _ reading: Measurement, _ payload: ByteView, at place: Int, from first: Int, in window: inout OpenWindow,
        _ rules: InstantRules, _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        let run = Int(window.readings)
        guard rules.hasParts else { return self.place(reading, payload, at: place, in: &window, &runs) }
        let end = min(Int(window.count), first + ReadingInserter.mostCompared)
        let new = ReadingKey.Content(reading: reading, payload: payload)
        var other: Int?
        var candidate = first
        while candidate < end, runs[run + candidate].instant == reading.instant,
            rules.key.compare(runs.content(run + candidate), new) == .same
        {
            let stored = runs.reading(run + candidate)
            merger.merge(stored.measurement(0), stored.payloadAndReceipts(0), with: reading, payload)
            if merger.outcome == .duplicate {
                return merge(reading, payload, at: candidate, in: &window, rules, &runs)
            }
            if merger.outcome == .accepted, !merger.isTooLong, other == nil { other = candidate }
            candidate += 1
        }
        guard let other else { return self.place(reading, payload, at: place, in: &window, &runs) }
        let outcome = merge(reading, payload, at: other, in: &window, rules, &runs)
        runs.order(other, in: window, by: rules.key)
        return outcome
    }

    /// Notes that a reading came again. What the last one says of when it was received counts, or with `isFirst` what
    /// the first one does.
    private mutating func repeated(
        _ reading: Measurement, _ payload: ByteView, at place: Int, in window: inout OpenWindow,
        _ rules: InstantRules, _ runs: inout ReadingRuns, isFirst: Bool
    ) -> ReadingOutcome {
        let slot = Int(window.readings) + place
        let received = runs[slot].received
        let outcome = merge(reading, payload, at: place, in: &window, rules, &runs)
        if isFirst, min(received, reading.received) != runs[slot].received {
            runs[slot].received = min(received, reading.received)
        }
        return outcome
    }

    /// Puts a reading in the place of another, which is kept in ``superseded``. It has the tags of both: who got the
    /// other one for a tag hears of this.
    private mutating func replace(
        at place: Int, in window: inout OpenWindow, _ runs: inout ReadingRuns, with reading: Measurement,
        _ payload: ByteView
    ) -> ReadingOutcome {
        let slot = Int(window.readings) + place
        superseded.keep(runs.reading(slot))
        let state = runs[slot].mark & (ReadingMark.unsent | ReadingMark.emitted)
        let tags = ReadingTags.list(in: superseded.payload.view)
        if tags.count > 0 {
            var reading = reading
            tagged.removeAll()
            ReadingTags.append(payload, keeping: tags, to: &tagged)
            reading.payloadBytes = tagged.count
            runs.replace(at: slot, in: &window, with: reading, tagged.view)
        } else {
            runs.replace(at: slot, in: &window, with: reading, payload)
        }
        runs[slot].mark = runs[slot].mark & ReadingMark.source | state
        changed(place, in: &window, &runs)
        return .replaced
    }

    /// Merges a reading with the stored one of the same key.
    private mutating func merge(
        _ reading: Measurement, _ payload: ByteView, at place: Int, in window: inout OpenWindow,
        _ rules: InstantRules, _ runs: inout ReadingRuns
    ) -> ReadingOutcome {
        let slot = Int(window.readings) + place
        let stored = runs.reading(slot)
        if ReadingMerger.isRepeat(reading, payload, of: stored.measurement(0)) {
            return repeated(reading, at: slot, in: &window, rules, &runs)
        }
        merger.merge(stored.measurement(0), stored.payloadAndReceipts(0), with: reading, payload)
        if merger.isTooLong { return .rejected(.valueTooLong) }
        if merger.outcome == .conflict { keepSuperseded(by: reading, payload, stored) }
        runs.replace(at: slot, in: &window, with: merger.reading, merger.payload)
        window.restamp()
        if merger.isChanged { changed(place, in: &window, &runs) }
        window.count(merger.outcome)
        return merger.outcome
    }

    /// Keeps the reading that was received first of two that say different things, value by value.
    private mutating func keepSuperseded(by reading: Measurement, _ payload: ByteView, _ stored: WindowReadings) {
        if reading.isLater(than: stored.measurement(0).received) {
            superseded.keep(stored)
        } else {
            superseded.keep(reading, payload)
        }
    }

    /// Takes the reading at `place` out of a window, and keeps it in ``superseded``.
    mutating func remove(at place: Int, from window: inout OpenWindow, _ runs: inout ReadingRuns) {
        let slot = Int(window.readings) + place
        let wasUnsent = runs[slot].mark & ReadingMark.unsent != 0
        superseded.keep(runs.reading(slot))
        runs.remove(at: place, from: &window)
        if window.isCarrier { window.forgetUnsent(place, wasUnsent: wasUnsent) }
        window.changeByRemoval()
    }
}

extension Measurement {
    /// Whether it takes the place of a reading received at `stored`: of those of one time, the last one taken does,
    /// unless it comes from a dead letter.
    func isLater(than stored: Instant) -> Bool {
        received > stored || received == stored && mark & ReadingMark.returned == 0
    }
}

/// A reading that was in a window until another took its place.
struct SupersededReading: ~Copyable {
    private(set) var reading = Measurement(instant: .distantPast, received: .distantPast)
    private(set) var payload = ByteWriter(capacity: 64)

    /// Keeps a copy of `stored`, as it came.
    mutating func keep(_ stored: WindowReadings) { keep(stored.measurement(0), stored.payload(0)) }

    /// Keeps a copy of a reading and its payload.
    mutating func keep(_ other: Measurement, _ bytes: ByteView) {
        reading = other
        reading.mark &= ReadingMark.source
        payload.removeAll()
        payload.append(bytes)
    }
}
