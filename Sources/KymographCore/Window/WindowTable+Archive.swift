extension WindowTable {
    /// What the archive is told of a window, of which nothing is packed.
    mutating func facts(of index: Int) -> WindowFacts {
        let window = windows[index]
        var readings = InlineArray<16, UInt32>(repeating: 0)
        // Counted in runs: nearly all readings of a window are from one source.
        var (source, run) = (0, UInt32(0))
        let content = runs.readings(of: window)
        for place in 0..<content.count {
            let number = ReadingSource.number(content[place].mark)
            if number != source {
                readings[source] &+= run
                (source, run) = (number, 0)
            }
            run &+= 1
        }
        readings[source] &+= run
        let first = content.count > 0 ? content[0].instant : window.span.start
        var facts = WindowFacts(
            end: window.span.end, firstReading: first, lastReading: window.last, readings: readings,
            merged: window.merged, duplicates: window.duplicates, conflicts: window.conflicts, journal: window.journal)
        facts.route = window.route
        facts.isCarrier = window.isCarrier
        if let earlier = journal.restored(index) { facts.noteRestored(earlier) }
        return facts
    }

    /// Unpacks all of a window, which is to be archived.
    mutating func unpack(_ index: Int) { runs.unpack(&windows[index]) }

    /// Appends the content of a window, of which nothing is packed, to `writer` as an archive block.
    mutating func pack(_ index: Int, into writer: inout ByteWriter) {
        WindowBlockEncoder.append(runs.readings(of: windows[index]), to: &writer)
    }

    /// The oldest block of the journal with readings of windows that are open.
    mutating func neededJournal() -> Int64 { journal.oldest(among: windows) }

    /// Whether a window has a reading at `instant`. Nothing of the window is packed afterwards.
    mutating func hasReading(at instant: Instant, in index: Int) -> Bool {
        windows.settle(window: index)
        runs.unpack(&windows[index])
        let window = windows[index]
        let place = runs.lowerBound(window, instant)
        return place < Int(window.count) && runs[Int(window.readings) + place].instant == instant
    }

    // MARK: Readings that their senders name

    /// When the reading called `id` at `instant` was received; nil when the window does not have it. Nothing of the
    /// window is packed afterwards.
    mutating func received(of id: ByteView, at instant: Instant, in index: Int) -> Instant? {
        windows.settle(window: index)
        runs.unpack(&windows[index])
        return slot(of: id, at: instant, in: index).map { runs[$0].received }
    }

    private func slot(of id: ByteView, at instant: Instant, in index: Int) -> Int? {
        let window = windows[index]
        let key = windows.series[Int(window.series)].rules.key
        return runs.place(of: id, at: instant, in: window, by: key).map { Int(window.readings) + $0 }
    }

    /// Takes the reading called `id`, which is there, out of a window; whether an Observation of its own has shown it.
    mutating func remove(_ id: ByteView, at instant: Instant, from index: Int) -> Bool {
        windows.settle(window: index)
        runs.unpack(&windows[index])
        guard let slot = slot(of: id, at: instant, in: index) else { return false }
        let wasShown = runs[slot].mark & ReadingMark.emitted != 0
        inserter.remove(at: slot - Int(windows[index].readings), from: &windows[index], &runs)
        return wasShown
    }

    /// Notes of a reading of its own Observation, which is to be sent, that this has been shown before.
    mutating func noteShown(_ id: ByteView, at instant: Instant, in index: Int) {
        guard windows[index].isCarrier, let slot = slot(of: id, at: instant, in: index) else { return }
        runs[slot].mark |= ReadingMark.emitted
    }

    /// The readings of a window with an id, of which nothing is packed.
    func named(_ index: Int) -> [NamedReading] {
        let window = windows[index]
        let key = windows.series[Int(window.series)].rules.key
        let readings = runs.readings(of: window)
        return (0..<readings.count).compactMap { place in
            let content = ReadingKey.Content(reading: readings.measurement(place), payload: readings.payload(place))
            return key.id(of: content).map { NamedReading(id: $0.array, instant: content.reading.instant) }
        }
    }
}
