extension WindowTable {
    /// Adds a reading that is simply the next one of its series' present window, as nearly all are. False, and nothing
    /// is done, when anything else may be the case.
    @inline(__always)
    mutating func appendNext(series number: Int, _ reading: Measurement) -> Bool {
        if reading.isPlain { return appendNext(series: number, PlainReading(reading)) }
        guard reading.payloadBytes == 0 else { return false }
        let slot = series[number].takeNext(reading.instant)
        guard slot != noWindow else { return false }
        putNewApart(reading, ByteView(""), at: Int(slot), in: Int(series[number].current))
        readingsHeld &+= 1
        advance(series: number, reading.instant, received: reading.received)
        return true
    }

    /// The same for a plain reading.
    @inline(__always)
    mutating func appendNext(series number: Int, _ reading: PlainReading) -> Bool {
        let slot = series[number].takeNext(reading.instant)
        guard slot != noWindow else { return false }
        slots.put(reading, at: Int(slot))
        readingsHeld &+= 1
        advance(series: number, reading.instant, received: reading.received)
        return true
    }

    /// Asks for the memory of the series of `record`.
    @inline(__always)
    mutating func prefetchSeries(_ record: NextRecord) {
        if record.series >= 0 { series.prefetch(Int(record.series)) }
    }

    /// Asks for the memory where `record` will be put, and for that of its window, if it needs a look at that.
    @inline(__always)
    mutating func prefetchReading(_ record: NextRecord) {
        guard record.series >= 0 else { return }
        let state = series[Int(record.series)]
        if state.runEnd.slot < state.runEnd.end { slots.prefetch(Int(state.runEnd.slot)) }
        guard !state.isNext(record.instant), state.current != noWindow else { return }
        windows.prefetch(Int(state.current))
    }

    /// Adds a reading to the open window that it belongs to; nil when that window is not open.
    @inline(__always)
    mutating func addToOpen(series number: Int, _ reading: Measurement, _ payload: ByteView) -> ReadingOutcome? {
        guard let window = find(series: number, at: reading.instant) else { return nil }
        return add(reading, payload, to: window)
    }

    /// Adds a reading to `window`, and closes what the series' event time has passed.
    mutating func add(_ reading: Measurement, _ payload: ByteView, to window: Int) -> ReadingOutcome {
        let number = Int(windows[window].series)
        settleRun(series: number)
        let outcome = insert(reading, payload, into: window)
        if case .rejected = outcome { return outcome }
        advance(series: number, reading.instant, received: reading.received)
        if series[number].current == UInt32(window) {
            series[number].runEnd = windows[window].runEnd(
                newest: series[number].newest, limit: limits.maxReadingsPerWindow)
        }
        return outcome
    }

    /// Lets the present window of a series know of the readings that were put into its run, and lets no more in.
    @inline(__always)
    mutating func settleRun(series number: Int) {
        let slot = series[number].runEnd.slot
        guard slot != noWindow else { return }
        windows[Int(series[number].current)].settle(slot, newest: series[number].newest)
        series[number].runEnd = .none
    }

    /// Moves the clocks of a series that has got a reading, and closes what its event time has passed.
    @inline(__always)
    private mutating func advance(series number: Int, _ instant: Instant, received: Instant) {
        if series[number].advance(instant, received: received) { closePassed(series: number) }
    }

    @inline(__always)
    private mutating func insert(_ reading: Measurement, _ payload: ByteView, into index: Int) -> ReadingOutcome {
        let count = Int(windows[index].count)
        if count == 0 || reading.instant > windows[index].last {
            return place(reading, payload, at: count, in: index)
        }
        return insertOutOfOrder(reading, payload, into: index)
    }

    private mutating func insertOutOfOrder(
        _ reading: Measurement, _ payload: ByteView, into index: Int
    ) -> ReadingOutcome {
        if windows[index].flags.contains(.packed), reading.instant < slots[Int(windows[index].readings)].instant {
            return insertIntoPacked(reading, payload, into: index)
        }
        return insertIntoRun(reading, payload, into: index)
    }

    /// Adds a reading that is not behind all others to the run of a window.
    mutating func insertIntoRun(
        _ reading: Measurement, _ payload: ByteView, into index: Int
    ) -> ReadingOutcome {
        let place = lowerBound(windows[index], reading.instant)
        let slot = Int(windows[index].readings) + place
        guard place < Int(windows[index].count), slots[slot].instant == reading.instant else {
            return self.place(reading, payload, at: place, in: index)
        }
        if ReadingMerger.isRepeat(reading, payload, of: slots.readings(from: slot, count: 1).measurement(0)) {
            return repeated(reading, at: slot, in: index)
        }
        return insertAtInstant(reading, payload, into: index)
    }

    /// Notes that exactly the reading in `slot` came again. What the last one says of when it was received counts, or
    /// what the first one does where that is to stay.
    @inline(__always)
    mutating func repeated(_ reading: Measurement, at slot: Int, in index: Int) -> ReadingOutcome {
        let isFirst = series[Int(windows[index].series)].sameInstant == .reject
        if isFirst ? reading.received < slots[slot].received : reading.received > slots[slot].received {
            slots[slot].received = reading.received
            // Receive times are not content, but decide later conflicts: the archive must have them.
            windows[index].flags.insert(.restamped)
        }
        windows[index].duplicates &+= 1
        return .duplicate
    }

    /// Makes room at `place` for a reading that is not there yet.
    mutating func place(
        _ reading: Measurement, _ payload: ByteView, at place: Int, in index: Int
    ) -> ReadingOutcome {
        let count = Int(windows[index].count)
        let total = windows[index].total
        guard total < limits.maxReadingsPerWindow else { return .rejected(.tooManyReadings) }
        if count == 1 &<< Int(windows[index].sizeClass) {
            if place == count, !windows[index].flags.contains(.queued), packOlder(index) {
                return self.place(reading, payload, at: Int(windows[index].count), in: index)
            }
            enlarge(index)
        }
        let slot = Int(windows[index].readings) + place
        if place < count {
            slots.move(count - place, from: slot, to: slot + 1)
        } else {
            windows[index].last = reading.instant
        }
        putNew(reading, payload, at: slot, in: index)
        windows[index].count = UInt32(count + 1)
        readingsHeld += 1
        changed(place, in: index)
        if total + 1 == Int(windows[index].nextPreliminary) { preliminaryDue(index) }
        return .accepted
    }

    /// Writes a reading that was not there before to `slot` of `window`.
    @inline(__always)
    private mutating func putNew(_ reading: Measurement, _ payload: ByteView, at slot: Int, in window: Int) {
        if reading.isPlain { return slots.put(PlainReading(reading), at: slot) }
        putNewApart(reading, payload, at: slot, in: window)
    }

    @inline(never)
    private mutating func putNewApart(_ reading: Measurement, _ payload: ByteView, at slot: Int, in window: Int) {
        put(reading, payload, at: slot, in: window)
        slots[slot].mark &= ReadingMark.source
    }

    /// Writes a reading and its payload, which receive times may follow, to `slot` of `window`.
    mutating func put(_ reading: Measurement, _ bytes: ByteView, at slot: Int, in window: Int) {
        if slots.put(reading, bytes, at: slot) { windows[window].flags.insert(.blocks) }
    }

    /// Gives a window four times the room, and twice from 64 readings on: the small blocks that growing leaves behind
    /// are memory that nobody needs for long.
    private mutating func enlarge(_ index: Int) {
        let window = windows[index]
        let sizeClass = max(
            Int(window.sizeClass) + 1, min(Int(window.sizeClass) + 2, WindowTable.largestSwiftSizeClass))
        let block = slots.allocate(sizeClass: sizeClass)
        slots.move(Int(window.count), from: Int(window.readings), to: block)
        slots.release(Int(window.readings), sizeClass: Int(window.sizeClass))
        windows[index].readings = UInt32(block)
        windows[index].sizeClass = UInt8(sizeClass)
    }

    /// Notes that the reading at `place` is new or has other content than before.
    @inline(__always)
    mutating func changed(_ place: Int, in index: Int) {
        windows[index].flags.subtract([.sending, .stored])
        if windows[index].flags.contains(.carrier) {
            unsent(place, in: index)
        } else {
            windows[index].flags.insert(.dirty)
        }
    }

    private mutating func unsent(_ place: Int, in index: Int) {
        let slot = Int(windows[index].readings) + place
        if slots[slot].mark & ReadingMark.unsent == 0 {
            windows[index].firstUnsent =
                windows[index].unsent == 0 ? UInt32(place) : min(windows[index].firstUnsent, UInt32(place))
            windows[index].unsent += 1
        }
        slots[slot].mark = (slots[slot].mark | ReadingMark.unsent) & ~ReadingMark.sending
        enqueue(index)
    }

    private mutating func preliminaryDue(_ index: Int) {
        windows[index].nextPreliminary = UInt32(
            clamping: Int(windows[index].nextPreliminary) + limits.preliminaryEvery)
        windows[index].flags.insert(.preliminaryDue)
        enqueue(index)
    }
}
