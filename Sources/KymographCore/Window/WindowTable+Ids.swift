/// Readings of a window that their senders name.
extension WindowTable {
    /// The slot of the reading called `id` at `instant` in a window's run.
    private func slot(of id: ByteView, at instant: Instant, in index: Int) -> Int? {
        let window = windows[index]
        let key = series[Int(window.series)].key
        let end = Int(window.readings + window.count)
        var slot = Int(window.readings) + lowerBound(window, instant)
        while slot < end, slots[slot].instant == instant {
            let stored = slots.readings(from: slot, count: 1)
            let content = ReadingKey.Content(reading: stored.measurement(0), payload: stored.payload(0))
            if let other = key.id(of: content), other.equals(id) { return slot }
            slot += 1
        }
        return nil
    }

    /// When the reading called `id` at `instant` was received; nil when the window does not have it. Nothing of the
    /// window is packed afterwards.
    mutating func received(of id: ByteView, at instant: Instant, in index: Int) -> Instant? {
        settleRun(series: Int(windows[index].series))
        unpack(index)
        return slot(of: id, at: instant, in: index).map { slots[$0].received }
    }

    /// Takes the reading called `id`, which is there, out of a window; whether an Observation of its own has shown it.
    mutating func remove(_ id: ByteView, at instant: Instant, from index: Int) -> Bool {
        settleRun(series: Int(windows[index].series))
        unpack(index)
        guard let slot = slot(of: id, at: instant, in: index) else { return false }
        superseded.keep(slots.readings(from: slot, count: 1))
        let mark = slots[slot].mark
        let place = slot - Int(windows[index].readings)
        slots.releaseBlock(at: slot)
        slots.move(Int(windows[index].count) - place - 1, from: slot + 1, to: slot)
        windows[index].count -= 1
        readingsHeld -= 1
        if windows[index].flags.contains(.carrier) {
            forgetUnsent(place, mark, in: index)
        } else {
            // An empty one that nobody has seen is nothing to show.
            let isToShow = windows[index].count > 0 || windows[index].flags.contains(.emitted)
            windows[index].flags.remove(.dirty)
            if isToShow { windows[index].flags.insert(.dirty) }
        }
        windows[index].flags.subtract([.sending, .stored])
        if windows[index].count > 0 {
            windows[index].last = slots[Int(windows[index].readings + windows[index].count) - 1].instant
        }
        return mark & ReadingMark.emitted != 0
    }

    private mutating func forgetUnsent(_ place: Int, _ mark: UInt8, in index: Int) {
        if mark & ReadingMark.unsent != 0 { windows[index].unsent -= 1 }
        if place < Int(windows[index].firstUnsent) { windows[index].firstUnsent -= 1 }
    }

    /// Notes of a reading of its own Observation, which is to be sent, that this has been shown before.
    mutating func noteShown(_ id: ByteView, at instant: Instant, in index: Int) {
        guard windows[index].flags.contains(.carrier), let slot = slot(of: id, at: instant, in: index) else { return }
        slots[slot].mark |= ReadingMark.emitted
    }

    /// The readings of a window with an id, of which nothing is packed.
    func named(_ index: Int) -> [NamedReading] {
        let window = windows[index]
        let key = series[Int(window.series)].key
        let readings = slots.readings(from: Int(window.readings), count: Int(window.count))
        return (0..<readings.count).compactMap { place in
            let content = ReadingKey.Content(reading: readings.measurement(place), payload: readings.payload(place))
            return key.id(of: content).map { NamedReading(id: $0.array, instant: content.reading.instant) }
        }
    }
}
