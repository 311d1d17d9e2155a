extension WindowTable {
    /// What the first window in the queue needs.
    enum Due {
        /// Nothing is in the queue.
        case nothing
        /// It is to be emitted.
        case emission(Emission)
        /// It has nothing more to show: its content goes to the archive and it leaves memory.
        case retirement(window: Int)
    }

    /// Finds what is due first, dropping windows from the queue that have nothing to show and stay open.
    mutating func due() -> Due {
        while let index = queue.first {
            let flags = windows[index].flags
            if flags.contains(.carrier) && windows[index].unsent > 0 { return .emission(readingEmission(index)) }
            if flags.contains(.closing) {
                guard flags.contains(.dirty) else { return .retirement(window: index) }
                let again: ObservationStatus = windows[index].total > 0 ? .amended : .enteredInError
                return .emission(emission(index, flags.contains(.emitted) ? again : .final))
            }
            if flags.contains(.preliminaryDue), windows[index].total > 0 {
                return .emission(emission(index, .preliminary))
            }
            dequeue()
        }
        return .nothing
    }

    /// Takes the first window out of the queue.
    mutating func dequeue() {
        guard let index = queue.first else { return }
        windows[index].flags.remove(.queued)
        queue.removeFirst()
    }

    private mutating func emission(_ index: Int, _ status: ObservationStatus) -> Emission {
        prefetchDue()
        unpack(index)
        windows[index].flags.insert(.sending)
        let window = windows[index]
        let isOpenEnded = series[Int(window.series)].period == 0
        let first = window.count > 0 ? slots[Int(window.readings)].instant : window.last
        let start = isOpenEnded ? first : window.span.start
        return Emission(
            series: Int(window.series), status: status, start: start, end: isOpenEnded ? window.last : window.span.end,
            window: UInt32(index))
    }

    /// Asks for the memory of what is due next while the first is being shown: nobody has looked at these readings
    /// since they came.
    private func prefetchDue() {
        if let next = queue.behindFirst(1) {
            series.prefetch(Int(windows[next].series))
            var slot = Int(windows[next].readings)
            let end = slot &+ Int(min(windows[next].count, 48))
            while slot < end {
                slots.prefetch(slot)
                slot &+= 2
            }
        }
        // What is known of the one behind the next is asked for by its series: by then its record must be at hand.
        if let later = queue.behindFirst(3) { windows.prefetch(later) }
    }

    /// The window that is due `places` after the first, if there is one.
    @inline(__always)
    func dueWindow(behindFirst places: Int) -> OpenWindow? { queue.behindFirst(places).map { windows[$0] } }

    private mutating func readingEmission(_ index: Int) -> Emission {
        let window = windows[index]
        var place = Int(window.firstUnsent)
        while slots[Int(window.readings) + place].mark & ReadingMark.unsent == 0 { place += 1 }
        windows[index].firstUnsent = UInt32(place)
        let slot = Int(window.readings) + place
        slots[slot].mark |= ReadingMark.sending
        let status: ObservationStatus = slots[slot].mark & ReadingMark.emitted == 0 ? .final : .amended
        let instant = slots[slot].instant
        return Emission(
            series: Int(window.series), status: status, start: instant, end: instant, window: UInt32(index))
    }

    /// Notes who gets the Observation of `emission`. The readings of a carrier may be for different sinks; of another
    /// window, the last Observation counts.
    mutating func leaves(_ emission: Emission, by route: BundleRoute) {
        let index = Int(emission.window)
        if windows[index].flags.contains(.carrier) {
            windows[index].route.formUnion(route)
        } else {
            windows[index].route = route
        }
    }

    /// The readings that `emission` shows.
    mutating func readings(of emission: Emission) -> WindowReadings {
        let window = windows[Int(emission.window)]
        precondition(Int(window.series) == emission.series, "the emission was settled before")
        guard window.flags.contains(.carrier) else {
            precondition(!window.flags.contains(.packed), "the emission was settled before")
            return slots.readings(from: Int(window.readings), count: Int(window.count))
        }
        return slots.readings(from: slot(of: emission), count: 1)
    }

    /// Notes that the owner has encoded `emission`, which must be the first of the queue.
    mutating func settle(_ emission: Emission) {
        let index = Int(emission.window)
        precondition(queue.first == index, "emissions are settled in the order in which they are given")
        if windows[index].flags.contains(.carrier) {
            settleReading(emission, in: index)
        } else if emission.status == .preliminary {
            windows[index].flags.remove(.preliminaryDue)
            if !windows[index].flags.contains(.closing) { _ = packOlder(index) }
        } else {
            windows[index].flags.insert(.emitted)
            if windows[index].flags.contains(.sending) { windows[index].flags.remove(.dirty) }
        }
    }

    /// The slot of the reading that `emission` of a carrier shows: of several at its instant the one that is sent now,
    /// or the first where that has changed since.
    private mutating func slot(of emission: Emission) -> Int {
        let window = windows[Int(emission.window)]
        let first = Int(window.readings) + lowerBound(window, emission.start)
        let end = Int(window.readings + window.count)
        precondition(first < end && slots[first].instant == emission.start, "the emission was settled before")
        var slot = first
        while slot < end, slots[slot].instant == emission.start {
            if slots[slot].mark & ReadingMark.sending != 0 { return slot }
            slot += 1
        }
        return first
    }

    private mutating func settleReading(_ emission: Emission, in index: Int) {
        let slot = slot(of: emission)
        let isAsEncoded = slots[slot].mark & ReadingMark.sending != 0
        slots[slot].mark = (slots[slot].mark | ReadingMark.emitted) & ~ReadingMark.sending
        guard isAsEncoded else { return }
        slots[slot].mark &= ~ReadingMark.unsent
        windows[index].unsent -= 1
    }
}
