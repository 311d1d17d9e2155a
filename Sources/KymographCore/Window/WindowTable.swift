/// The windows in memory and what is due, without the archive.
///
/// Kept apart from the generic ``WindowMachine`` so that the path of a reading is compiled once and not through generic
/// code. Its parts have their own state and do not know of each other: which windows are open (``OpenWindows``), where
/// their readings are (``ReadingRuns``), what becomes of a reading (``ReadingInserter``), and when windows close
/// (``QuietChecks``, ``LateHolds``). A window that is due is in the queue, and only the table puts it there.
///
/// What only reads is mutating as well where it is called for each window: otherwise the compiler lends it a copy of
/// the table (Swift 6.3), see ``ObservationEncoder``.
struct WindowTable: ~Copyable {
    private(set) var limits: WindowLimits
    private let lateness: Int64
    var windows = OpenWindows()
    var runs: ReadingRuns
    var inserter: ReadingInserter
    var queue = DueQueue()
    /// By window, the sources (``ReadingSource``) of readings that were taken back since it was emitted, as bits: who
    /// got the window for them is told.
    var lostSources: [Int: UInt16] = [:]
    /// The same of tags (``ReadingTags``), where such readings had any; ``ReadingTags/any`` for too many to keep.
    var lostTags: [Int: [UInt8]] = [:]
    /// Readings that are due as errors.
    var withdrawn = WithdrawnReadings()
    private var quiet: QuietChecks
    private var holds: LateHolds
    /// By which both go.
    private var clock = SilenceClock()
    /// What a journal, where there is one, has to know of the windows.
    var journal = JournaledWindows()
    /// Windows that were closed.
    private var closings = WindowClosings()
    /// Readings that came when the time of their window had passed, and were not there already.
    private var lateReadings = 0

    init(settings: WindowSettings) {
        limits = settings.limits
        lateness = settings.lateness
        runs = ReadingRuns(memory: settings.memory, packingSizeClass: settings.packingSizeClass)
        inserter = ReadingInserter(limits: settings.limits)
        quiet = QuietChecks(idle: settings.idle)
        holds = LateHolds(length: settings.lateHold)
    }

    /// Takes over `new` for what comes; what it holds already stays.
    mutating func takeOver(_ new: WindowLimits) {
        limits.takeOver(new)
        inserter.takeOver(limits)
    }

    // MARK: Series

    /// Adds a series of readings of `type`.
    mutating func append(_ type: MeasurementType) { windows.series.append(SeriesState(type)) }

    /// Takes over what `type`, which may have changed since, says of readings of one instant.
    mutating func adopt(_ type: MeasurementType, of number: Int) { windows.series[number].adopt(type) }

    // MARK: Opening

    /// The open window of `series` at `instant`, or nil.
    @inline(__always)
    mutating func find(series number: Int, at instant: Instant) -> Int? { windows.find(series: number, at: instant) }

    /// Makes an empty window with room for `room` readings; there must not be one for this span. `isStored` when the
    /// archive has its content.
    mutating func open(series number: Int, span: WindowSpan, room: Int, isStored: Bool) -> Int {
        windows.settle(series: number)
        let head = windows.series[number].head
        let sizeClass = ReadingRuns.sizeClass(
            for: room, at: span, latest: head == noWindow ? nil : windows.unsettled(Int(head)))
        let window = OpenWindow(
            span: span, series: number, isCarrier: windows.series[number].rules.isInstance, isStored: isStored,
            readings: runs.allocate(sizeClass: sizeClass), sizeClass: sizeClass, journal: journal.block,
            preliminaryEvery: limits.preliminaryEvery)
        let index = windows.insert(window)
        if windows.series[number].period > 0 {
            windows.series[number].nextClose = min(windows.series[number].nextClose, span.end.advanced(by: lateness))
        }
        journal.noteOpened(index)
        return index
    }

    /// Opens a window with the content of an archive block; nil when the block is damaged.
    mutating func restore(series number: Int, span: WindowSpan, block: ByteView) -> Int? {
        guard var decoder = WindowBlockDecoder(block) else { return nil }
        let index = open(series: number, span: span, room: decoder.count, isStored: true)
        while let reading = decoder.next() {
            guard span.contains(reading.instant) else { break }
            runs.restore(reading, decoder.payload, to: &windows[index])
        }
        if decoder.isComplete && Int(windows[index].count) == decoder.count {
            if decoder.isUnshown { windows[index].noteUnshown() }
            if journal.isThere {
                let facts = facts(of: index)
                journal.noteRestored(index, facts)
            }
            return index
        }
        discard(index)
        return nil
    }

    /// Forgets a window and frees its memory; it must not be in the queue.
    mutating func discard(_ index: Int) {
        runs.discard(&windows[index])
        forgetLostSources(index)
        journal.forget(index)
        windows.remove(index)
    }

    /// Forgets what window `index` has lost.
    @inline(__always)
    mutating func forgetLostSources(_ index: Int) {
        if !lostSources.isEmpty { (lostSources[index], lostTags[index]) = (nil, nil) }
    }

    /// Lets a window that was opened by a reading received at `received` wait for more, if its time has passed already;
    /// and sees to it that its series is looked at when it may be quiet.
    mutating func expectMore(in index: Int, after received: Instant) {
        let number = Int(windows[index].series)
        let closesAt = windows[index].span.end.advanced(by: lateness)
        if windows.series[number].period > 0, closesAt <= windows.series[number].newest {
            holds.hold(index, &windows[index], received: received, by: clock)
        }
        guard quiet.lacks(windows.series[number]) else { return }
        quiet.expect(number, &windows.series[number], after: clock.moment(of: received))
    }
}

// MARK: Readings

extension WindowTable {
    /// Adds a reading that is simply the next one of its series' present window, as nearly all are. False, and nothing
    /// is done, when anything else may be the case.
    @inline(__always)
    mutating func appendNext(series number: Int, _ reading: Measurement) -> Bool {
        if reading.isPlain { return appendNext(series: number, PlainReading(reading)) }
        guard reading.payloadBytes == 0 else { return false }
        let slot = windows.series[number].takeNext(reading.instant)
        guard slot != noWindow else { return false }
        if runs.putNext(reading, at: Int(slot)) { windows.noteBlock(series: number) }
        advance(series: number, reading.instant, received: reading.received)
        return true
    }

    /// The same for a plain reading.
    @inline(__always)
    mutating func appendNext(series number: Int, _ reading: PlainReading) -> Bool {
        let slot = windows.series[number].takeNext(reading.instant)
        guard slot != noWindow else { return false }
        runs.putNext(reading, at: Int(slot))
        advance(series: number, reading.instant, received: reading.received)
        return true
    }

    /// Prefetches the series of `record`.
    @inline(__always)
    mutating func prefetchSeries(_ record: NextRecord) {
        if record.series >= 0 { windows.series.prefetch(Int(record.series)) }
    }

    /// Prefetches the memory where `record` will be put, and its window, if it needs a look at that.
    @inline(__always)
    mutating func prefetchReading(_ record: NextRecord) {
        guard record.series >= 0 else { return }
        let state = windows.series[Int(record.series)]
        if let slot = state.nextSlot { runs.prefetch(slot) }
        guard !state.isNext(record.instant), state.current != noWindow else { return }
        windows.prefetch(Int(state.current))
    }

    /// Adds a reading to the open window that it belongs to; nil when that is not open.
    @inline(__always)
    mutating func addToOpen(series number: Int, _ reading: Measurement, _ payload: ByteView) -> ReadingOutcome? {
        guard let window = windows.find(series: number, at: reading.instant) else { return nil }
        return add(reading, payload, to: window, of: number)
    }

    /// Adds a reading to window `index` of series `number`, and closes what the series' event time has passed.
    mutating func add(_ reading: Measurement, _ payload: ByteView, to index: Int, of number: Int) -> ReadingOutcome {
        windows.settle(series: number)
        let rules = windows.series[number].rules
        let outcome = inserter.insert(reading, payload, into: &windows[index], rules, &runs)
        if case .rejected = outcome { return outcome }
        if outcome != .duplicate, isPast(windows[index].span, of: number) { lateReadings += 1 }
        if windows[index].isDue { enqueue(index) }
        advance(series: number, reading.instant, received: reading.received)
        windows.beginRun(index, of: number, limit: limits.maxReadingsPerWindow)
        return outcome
    }

    /// Whether the event time of a series has come to close the window of `span`.
    @inline(__always)
    private func isPast(_ span: WindowSpan, of number: Int) -> Bool {
        windows.series[number].period > 0 && span.end.advanced(by: lateness) <= windows.series[number].newest
    }

    /// Moves the clocks of a series that has got a reading, and closes what its event time has passed.
    @inline(__always)
    private mutating func advance(series number: Int, _ instant: Instant, received: Instant) {
        if windows.series[number].advance(instant, received: received) { closePassed(series: number) }
    }

    /// Puts a window into the queue, which has lost a reading, if that makes it due.
    mutating func enqueueIfDue(_ index: Int) {
        if windows[index].isDue { enqueue(index) }
    }

    /// Puts a window into the queue unless it is there.
    private mutating func enqueue(_ index: Int) {
        if windows[index].enqueue() { queue.append(index) }
    }
}

// MARK: Closing

extension WindowTable {
    /// Closes the windows whose end plus lateness the series' event time has reached, earliest first.
    @inline(never)
    private mutating func closePassed(series number: Int) {
        let newest = windows.series[number].newest
        close(series: number, .time) { window, lateness in
            !window.isHeld && window.span.end.advanced(by: lateness) <= newest
        }
    }

    /// Closes all windows of the series that have received nothing for the idle time, series by series, and the windows
    /// that have waited long enough for more late readings. `now` is on the clock of receive times, `steady` on one
    /// that is never set.
    mutating func closeQuiet(at now: Instant, steady: Instant) {
        clock.look(at: now, steady: steady)
        quiet.findQuiet(by: clock, among: &windows.series)
        for place in quiet.quiet.indices { closeAll(series: Int(quiet.quiet[place]), .idle) }
        holds.findDue(by: clock, among: windows)
        // One that was held twice is due twice.
        for place in holds.due.indices where !windows.unsettled(Int(holds.due[place])).isClosing {
            close(Int(holds.due[place]), .late)
        }
    }

    /// Closes everything, series by series.
    mutating func closeAll() {
        for number in 0..<windows.series.count where windows.series[number].head != noWindow {
            closeAll(series: number, .end)
        }
    }

    /// Closes the windows of the series that `isChosen` says, because somebody asks for it; how many they were.
    mutating func flush(where isChosen: (Int) -> Bool) -> Int {
        let before = closings[.flush]
        for number in 0..<windows.series.count where windows.series[number].head != noWindow && isChosen(number) {
            closeAll(series: number, .flush)
        }
        return closings[.flush] - before
    }

    /// Closes all windows of one series for `cause`.
    mutating func closeAll(series number: Int, _ cause: WindowCause) {
        close(series: number, cause) { _, _ in true }
    }

    @inline(__always)
    private mutating func close(
        series number: Int, _ cause: WindowCause, where isDue: (OpenWindow, Int64) -> Bool
    ) {
        var added = 0
        var nextClose = Instant.distantFuture
        let isTimed = windows.series[number].period > 0
        var index = windows.series[number].head
        while index != noWindow {
            let window = windows.unsettled(Int(index))
            if !window.isClosing {
                if isDue(window, lateness) {
                    if !window.isQueued { added += 1 }
                    close(Int(index), cause)
                } else if isTimed && !window.isHeld {
                    nextClose = min(nextClose, window.span.end.advanced(by: lateness))
                }
            }
            index = window.older
        }
        queue.reverseLast(added)
        windows.series[number].nextClose = nextClose
    }

    private mutating func close(_ index: Int, _ cause: WindowCause) {
        closings[cause] += 1
        windows.settle(window: index)
        windows[index].close()
        enqueue(index)
    }

    /// What was closed, and how many readings were late, since the last call.
    mutating func takeCounts() -> (closings: WindowClosings, lateReadings: Int) {
        defer { (closings, lateReadings) = (WindowClosings(), 0) }
        return (closings, lateReadings)
    }

    /// Forgets readings that were late: an earlier run has counted them.
    mutating func forgetLateReadings() { lateReadings = 0 }
}
