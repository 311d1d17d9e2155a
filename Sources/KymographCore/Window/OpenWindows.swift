/// The series, and of each its windows in memory, the latest first.
///
/// Readings that come in order go into the run of their series' present window without a look at it (``RunEnd``). A
/// window is looked at by its index when it knows of them (``settle(series:)``), which debug builds check.
struct OpenWindows: ~Copyable {
    var series = RawArray<SeriesState>(capacity: 64)
    private var windows = RawArray<OpenWindow>(capacity: 64)
    private var firstFree = noWindow
    /// Windows in memory.
    private(set) var count = 0
    /// Records of windows, in use or free.
    var recordCount: Int { windows.count }

    /// A window that knows of all its readings.
    @inline(__always)
    subscript(index: Int) -> OpenWindow {
        @inline(__always) get {
            assert(isSettled(index))
            return windows[index]
        }
        @inline(__always) _modify {
            assert(isSettled(index))
            yield &windows[index]
        }
    }

    private func isSettled(_ index: Int) -> Bool {
        let state = series[Int(windows[index].series)]
        return state.current != UInt32(index) || !state.hasRun
    }

    /// A window that may not know of all its readings: to look at its span, its links and its phase.
    @inline(__always)
    func unsettled(_ index: Int) -> OpenWindow { windows[index] }

    /// Prefetches a window.
    @inline(__always)
    func prefetch(_ index: Int) { windows.prefetch(index) }

    /// Lets the present window of a series know of the readings that were put into its run, and lets no more in.
    @inline(__always)
    mutating func settle(series number: Int) {
        guard let slot = series[number].endRun() else { return }
        windows[Int(series[number].current)].settle(slot, newest: series[number].newest)
    }

    /// Lets window `index` know of the readings that were put into its run, and lets no more in.
    @inline(__always)
    mutating func settle(window index: Int) {
        let number = Int(windows[index].series)
        if series[number].current == UInt32(index) { settle(series: number) }
    }

    /// Notes that a reading in the run of the present window of a series has a block of its own.
    mutating func noteBlock(series number: Int) { windows[Int(series[number].current)].hasBlocks = true }

    /// Lets readings into the run of window `index` of series `number`, if it is the present one, and if they can come
    /// without a look at it. At most `limit` are in a window.
    @inline(__always)
    mutating func beginRun(_ index: Int, of number: Int, limit: Int) {
        guard series[number].current == UInt32(index) else { return }
        series[number].begin(windows[index].runEnd(newest: series[number].newest, limit: limit))
    }

    /// The window of `series` at `instant`, or nil; it may not know of all its readings.
    @inline(__always)
    mutating func find(series number: Int, at instant: Instant) -> Int? {
        let current = series[number].current
        if current != noWindow && windows[Int(current)].span.contains(instant) { return Int(current) }
        return findElsewhere(series: number, at: instant)
    }

    private mutating func findElsewhere(series number: Int, at instant: Instant) -> Int? {
        settle(series: number)
        var index = series[number].head
        while index != noWindow {
            let window = windows[Int(index)]
            if window.span.contains(instant) {
                series[number].makePresent(Int(index))
                return Int(index)
            }
            if window.span.through < instant { return nil }
            index = window.older
        }
        return nil
    }

    /// Adds `window`, for whose span there is none, as the present one of its series, which is settled.
    mutating func insert(_ window: OpenWindow) -> Int {
        let index = record(window)
        link(index, into: Int(window.series))
        series[Int(window.series)].makePresent(index)
        count += 1
        return index
    }

    private mutating func record(_ window: OpenWindow) -> Int {
        guard firstFree != noWindow else {
            windows.append(window)
            return windows.count - 1
        }
        let index = Int(firstFree)
        firstFree = windows[index].older
        windows[index] = window
        return index
    }

    /// Puts a window in its place among the series' windows, latest first.
    private mutating func link(_ index: Int, into number: Int) {
        var newer = noWindow
        var older = series[number].head
        while older != noWindow && windows[Int(older)].span.start > windows[index].span.start {
            newer = older
            older = windows[Int(older)].older
        }
        windows[index].newer = newer
        windows[index].older = older
        if older != noWindow { windows[Int(older)].newer = UInt32(index) }
        if newer == noWindow { series[number].head = UInt32(index) } else { windows[Int(newer)].older = UInt32(index) }
    }

    /// Forgets a window, whose memory is free.
    mutating func remove(_ index: Int) {
        unlink(windows[index], at: index)
        count -= 1
        windows[index].older = firstFree
        windows[index].journal = JournalWriter.noBlock
        firstFree = UInt32(index)
    }

    private mutating func unlink(_ window: OpenWindow, at index: Int) {
        let number = Int(window.series)
        if window.older != noWindow { windows[Int(window.older)].newer = window.newer }
        if window.newer == noWindow {
            series[number].head = window.older
        } else {
            windows[Int(window.newer)].older = window.older
        }
        if series[number].current == UInt32(index) { series[number].makePresentHead() }
    }
}
