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
        let isUnshown = windows[index].isUnshown
        WindowBlockEncoder.append(runs.readings(of: windows[index]), isUnshown: isUnshown, to: &writer)
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
    mutating func remove(
        _ id: ByteView, at instant: Instant, from index: Int, isReplayed: Bool = false
    ) -> Bool {
        windows.settle(window: index)
        runs.unpack(&windows[index])
        guard let slot = slot(of: id, at: instant, in: index) else { return false }
        let wasShown = runs[slot].mark & ReadingMark.emitted != 0
        inserter.remove(at: slot - Int(windows[index].readings), from: &windows[index], &runs)
        let window = windows[index]
        if !window.isCarrier, isReplayed || window.mayHaveBeenSeen { noteLost(index) }
        return wasShown
    }

    /// The tags (``ReadingTags``) of the reading called `id` of window `index`.
    mutating func tags(of id: ByteView, at instant: Instant, in index: Int) -> [UInt8] {
        windows.settle(window: index)
        runs.unpack(&windows[index])
        guard windows[index].hasBlocks, let slot = slot(of: id, at: instant, in: index) else { return [] }
        return ReadingTags.list(in: runs.reading(slot).payload(0)).array
    }

    /// The places of the readings of a window that `name`, with `key`, says, at `instant`. Nothing of the window is
    /// packed afterwards.
    mutating func places(of name: RetractionName, at instant: Instant, in index: Int) -> [Int] {
        windows.settle(window: index)
        runs.unpack(&windows[index])
        let window = windows[index]
        let key = windows.series[Int(window.series)].rules.key
        let run = Int(window.readings)
        var found: [Int] = []
        var place = runs.lowerBound(window, instant)
        while place < Int(window.count), runs[run + place].instant == instant {
            if name.fits(runs.content(run + place), by: key) { found.append(place) }
            place += 1
        }
        return found
    }

    /// The place of the reading that says what `content` says, or else of the only one of its instant; nil when it is
    /// not there. Nothing of the window is packed afterwards.
    mutating func place(of content: ReadingKey.Content, in index: Int) -> Int? {
        windows.settle(window: index)
        let key = windows.series[Int(windows[index].series)].rules.key
        let name = key.id(of: content).map { RetractionName(id: $0) }
        let instant = content.reading.instant
        let places = places(of: name ?? RetractionName(instant: instant), at: instant, in: index)
        let window = windows[index]
        let same = places.first { key.compareAll(runs.content(Int(window.readings) + $0), content) == .same }
        return same ?? (places.count == 1 ? places[0] : nil)
    }

    /// Takes the reading at `place`, which its sender has taken back, out of a window, of which nothing is packed. With
    /// `isReplayed`, an earlier run may have shown it.
    mutating func retract(at place: Int, from index: Int, isReplayed: Bool) {
        let window = windows[index]
        let wasShown = isReplayed || runs[Int(window.readings) + place].mark & ReadingMark.emitted != 0
        inserter.remove(at: place, from: &windows[index], &runs)
        // Who got a single reading is told by its own Observation; and what was never shown went to no one.
        if !window.isCarrier, isReplayed || window.mayHaveBeenSeen { noteLost(index) }
        if isReplayed { windows[index].noteMayHaveBeenSeen() }
        guard window.isCarrier, wasShown else { return }
        let former = inserter.superseded.reading
        let slot = runs.keepApart(former, inserter.superseded.payload.view)
        withdrawn.append(.init(series: Int(window.series), slot: slot, instant: former.instant))
    }

    /// Notes that window `index` has lost the reading that was taken out last.
    private mutating func noteLost(_ index: Int) {
        lostSources[index, default: 0] |= 1 << UInt16(ReadingSource.number(inserter.superseded.reading.mark))
        let tags = ReadingTags.list(in: inserter.superseded.payload.view)
        let former = lostTags[index] ?? []
        guard tags.count > 0, former != ReadingTags.any else { return }
        var union = ByteWriter(capacity: 64)
        former.withByteView { ReadingTags.appendUnion($0, tags, to: &union) }
        // A sender can take back any number of them. A sink that did not get the window hears of it once more then.
        lostTags[index] = union.count > ReadingTags.longest ? ReadingTags.any : union.view.array
    }

    /// Notes of the reading that `name` says, which is of its own Observation, that this has been shown before.
    mutating func noteShown(_ name: RetractionName, at instant: Instant, in index: Int) {
        windows.settle(window: index)
        guard windows[index].isCarrier, let place = places(of: name, at: instant, in: index).first else { return }
        runs[Int(windows[index].readings) + place].mark |= ReadingMark.emitted
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
