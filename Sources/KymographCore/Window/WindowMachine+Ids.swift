/// Readings that their senders name.
extension WindowMachine where Archive: ~Copyable {
    /// Adds a reading with an id to its window, and takes it out of the one where it was before.
    @inline(never)
    mutating func addNamed(_ id: ByteView, series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        var outcome: ReadingOutcome?
        if let former = formerInstant(of: id, series: series, reading), former != reading.instant {
            outcome = move(id, from: former, series: series, reading, payload)
        }
        let settled = outcome ?? addUnnamed(series: series, reading, payload: payload)
        if case .rejected = settled { return settled }
        ids.note(series: series, id, at: reading.instant)
        return settled
    }

    /// Where the reading was; nil when it is new, or the journal says itself what has moved.
    private mutating func formerInstant(of id: ByteView, series: Int, _ reading: Measurement) -> Instant? {
        if isReplaying, reading.mark & ReadingMark.returned == 0 { return nil }
        return ids.instant(series: series, id) ?? archive.instant(of: id, series: series)
    }

    /// Moves a reading to another time; nil when there is none to move. The later received of the two counts.
    private mutating func move(
        _ id: ByteView, from former: Instant, series: Int, _ reading: Measurement, _ payload: ByteView
    ) -> ReadingOutcome? {
        switch window(series: series, at: former, received: reading.received) {
        // Its content is gone, and the new one is all that there is.
        case .rejected(.archiveEvicted): return nil
        case .rejected(let reason): return .rejected(reason)
        case .window(let window):
            guard let received = table.received(of: id, at: former, in: window) else { return nil }
            guard reading.isLater(than: received) else { return .rejected(.superseded) }
            let outcome = addMoved(series: series, reading, payload, tags: table.tags(of: id, at: former, in: window))
            if case .rejected = outcome { return outcome }
            let wasShown = table.remove(id, at: former, from: window)
            if wasShown, let window = table.find(series: series, at: reading.instant) {
                table.noteShown(id, at: reading.instant, in: window)
            }
            return .replaced
        }
    }

    /// Adds a reading with the tags of what it was before.
    private mutating func addMoved(
        series: Int, _ reading: Measurement, _ payload: ByteView, tags: [UInt8]
    ) -> ReadingOutcome {
        guard !tags.isEmpty else { return addUnnamed(series: series, reading, payload: payload) }
        var whole = ByteWriter(capacity: payload.count + 64)
        tags.withByteView { ReadingTags.append(payload, keeping: $0, to: &whole) }
        var reading = reading
        reading.payloadBytes = whole.count
        return addUnnamed(series: series, reading, payload: whole.view)
    }

    /// Takes out a reading of an earlier run's journal that has moved since; false when it is not there.
    mutating func remove(series: Int, _ reading: Measurement, payload: ByteView) -> Bool {
        let content = ReadingKey.Content(reading: reading, payload: payload)
        guard let id = table.windows.series[series].rules.key.id(of: content),
            case .window(let window) = window(series: series, at: reading.instant, received: reading.received),
            table.received(of: id, at: reading.instant, in: window) != nil
        else { return false }
        _ = table.remove(id, at: reading.instant, from: window, isReplayed: true)
        // Where it went to is in the journal, or in the archive.
        ids.forget(series: series, id)
        return true
    }

    /// Tells the archive the ids of the readings of a window, which is to be archived.
    mutating func archiveIds(of index: Int) {
        let window = table.windows[index]
        let key = table.windows.series[Int(window.series)].rules.key
        guard key.hasIds else { return }
        archive.name(table.named(index))
    }

    /// Forgets the places of readings that the archive tells, now and then.
    mutating func forgetIds() {
        guard ids.isLarge, archive.canTellIds() else { return }
        var kept = ReadingIds()
        swap(&kept, &ids)
        kept.forget { series, instant in
            if table.find(series: series, at: instant) != nil { return true }
            guard !Archive.keepsIds else { return false }
            let start = table.windows.series[series].span(around: instant).key
            return archive.evictedThrough(series: series).map { $0 < start } ?? true
        }
        swap(&kept, &ids)
    }
}
