/// Places of readings of one instant, and which of them are to be sent.
extension ReadingRuns {
    /// The first place in a window's run whose reading `content` is not behind, by time and then by `order`, and
    /// whether that reading is the same by it.
    func place(
        of content: ReadingKey.Content, in window: OpenWindow,
        by order: (ReadingKey.Content, ReadingKey.Content) -> ReadingKey.Order
    ) -> (place: Int, isThere: Bool) {
        let run = readings(of: window)
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

    /// The place of the reading called `id` at `instant` in a window's run.
    func place(of id: ByteView, at instant: Instant, in window: OpenWindow, by key: ReadingKey) -> Int? {
        let run = Int(window.readings)
        var place = lowerBound(window, instant)
        while place < Int(window.count), self[run + place].instant == instant {
            if let other = key.id(of: content(run + place)), other.equals(id) { return place }
            place += 1
        }
        return nil
    }

    /// Moves the reading at `place`, whose values are others than before, to its place among those of its instant.
    mutating func order(_ place: Int, in window: OpenWindow, by key: ReadingKey) {
        let run = Int(window.readings)
        var place = place
        while place > 0, isBehind(run + place - 1, run + place, by: key) {
            exchange(run + place - 1, run + place)
            place -= 1
        }
        while place + 1 < Int(window.count), isBehind(run + place, run + place + 1, by: key) {
            exchange(run + place, run + place + 1)
            place += 1
        }
    }

    private func isBehind(_ one: Int, _ other: Int, by key: ReadingKey) -> Bool {
        guard self[one].instant == self[other].instant else { return false }
        return key.compareAll(content(one), content(other)) == .after
    }

    /// Notes that the reading at `place` of a carrier is to be sent as it is now.
    mutating func markUnsent(_ place: Int, in window: inout OpenWindow) {
        let slot = Int(window.readings) + place
        if self[slot].mark & ReadingMark.unsent == 0 { window.noteUnsent(place) }
        self[slot].mark = (self[slot].mark | ReadingMark.unsent) & ~ReadingMark.sending
    }

    /// The slot of the first reading of a carrier that is to be sent, of which there is one.
    mutating func firstUnsent(of window: inout OpenWindow) -> Int {
        var place = Int(window.firstUnsent)
        while self[Int(window.readings) + place].mark & ReadingMark.unsent == 0 { place += 1 }
        window.passSent(to: place)
        return Int(window.readings) + place
    }

    /// The slot of the reading of a carrier at `instant` that an emission shows: of several, the one that is being
    /// sent, or the first where that has changed since; nil when there is none.
    func slotBeingSent(at instant: Instant, in window: OpenWindow) -> Int? {
        let first = Int(window.readings) + lowerBound(window, instant)
        let end = Int(window.readings + window.count)
        guard first < end && self[first].instant == instant else { return nil }
        var slot = first
        while slot < end, self[slot].instant == instant {
            if self[slot].mark & ReadingMark.sending != 0 { return slot }
            slot += 1
        }
        return first
    }
}
