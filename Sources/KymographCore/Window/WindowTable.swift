/// The windows in memory and what is due, without the archive.
///
/// Kept apart from the generic ``WindowMachine`` so that the path of a reading is compiled once and not through generic
/// code. Everything is addressed by index and lives in memory that is reused: after warm-up nothing is allocated.
///
/// What only reads is mutating as well where it is called for each window: otherwise the compiler lends it a copy of
/// the table (Swift 6.3), see ``ObservationEncoder``.
struct WindowTable: ~Copyable {
    let lateness: Int64
    let idle: Int64
    let lateHold: Int64
    let limits: WindowLimits
    var series = RawArray<SeriesState>(capacity: 64)
    var windows = RawArray<OpenWindow>(capacity: 64)
    var slots: ReadingSlab
    var queue = DueQueue()
    var merger = ReadingMerger()
    /// The reading whose place another has taken last.
    var superseded = SupersededReading()
    /// Of windows with ``WindowFlags/packed``, by ``OpenWindow/pack``.
    var packs: [PackedReadings] = []
    /// Those that no window uses.
    var freePacks: [UInt32] = []
    /// See ``WindowSettings/packingSizeClass``.
    let packingSizeClass: Int
    /// Where a chunk is on its way to memory and back.
    var packing = ByteWriter(capacity: 2_048)
    var openCount = 0
    var readingsHeld = 0
    /// Receive-clock times at which series with windows can be quiet for long enough.
    var quietChecks = QuietChecks()
    /// Series that a look has found quiet.
    var quiet: [UInt32] = []
    /// Windows that wait for more late readings, and receive-clock time at which the first has waited long enough.
    var held = RawArray<UInt32>(capacity: 16)
    var nextHeldCheck = Instant.distantFuture
    /// Number of the journal's block that readings go into now.
    var journal = JournalWriter.noBlock
    /// Open windows in the order in which they were opened, while there is a journal.
    var journaled = JournaledWindows()
    /// What the archive had of windows that were opened with its content, by window; while there is a journal.
    var restored: [Int: [UInt32]] = [:]
    /// Whether readings of an earlier run are being taken.
    var isReplaying = false
    private var firstFree = noWindow

    /// Size class of the readings of a series' first window: one of them. Where there are a million series, most
    /// have few.
    private static var initialSizeClass: Int { 0 }
    /// Size class up to which windows grow by a factor of four, and then by two: 64 readings, 2 KiB.
    static var largestSwiftSizeClass: Int { 6 }

    init(settings: WindowSettings) {
        lateness = settings.lateness
        idle = settings.idle
        lateHold = settings.lateHold
        limits = settings.limits
        packingSizeClass = settings.packingSizeClass
        slots = ReadingSlab(memory: settings.memory)
    }

    /// The open window of `series` at `instant`, or nil.
    @inline(__always)
    mutating func find(series number: Int, at instant: Instant) -> Int? {
        let current = series[number].current
        if current != noWindow && windows[Int(current)].span.contains(instant) { return Int(current) }
        return findElsewhere(series: number, at: instant)
    }

    private mutating func findElsewhere(series number: Int, at instant: Instant) -> Int? {
        settleRun(series: number)
        var index = series[number].head
        while index != noWindow {
            let window = windows[Int(index)]
            if window.span.contains(instant) {
                series[number].current = index
                return Int(index)
            }
            if window.span.through < instant { return nil }
            index = window.older
        }
        return nil
    }

    /// Makes an empty window with room for `room` readings; there must not be one for this span.
    mutating func open(series number: Int, span: WindowSpan, room: Int, flags: WindowFlags) -> Int {
        settleRun(series: number)
        let sizeClass = sizeClass(series: number, span: span, room: room)
        var window = OpenWindow(
            span: span, series: UInt32(number), readings: UInt32(slots.allocate(sizeClass: sizeClass)),
            nextPreliminary: .max, sizeClass: UInt8(sizeClass), flags: flags)
        window.journal = journal
        if series[number].isInstance { window.flags.insert(.carrier) }
        if limits.preliminaryEvery > 0 && window.flags.isDisjoint(with: [.carrier, .emitted]) {
            window.nextPreliminary = UInt32(clamping: limits.preliminaryEvery)
        }
        let index = record(window)
        link(index, into: number)
        series[number].current = UInt32(index)
        if series[number].period > 0 {
            series[number].nextClose = min(series[number].nextClose, span.end.advanced(by: lateness))
        }
        openCount += 1
        if journal != JournalWriter.noBlock { journaled.append(index, journal) }
        return index
    }

    /// The size class for the readings of a new window: for one after all others, the one from which it becomes as
    /// large as the latest one is by growing once. Until then that one has closed and left its block.
    private func sizeClass(series number: Int, span: WindowSpan, room: Int) -> Int {
        let least = max(WindowTable.initialSizeClass, ReadingSlab.sizeClass(for: room))
        let head = series[number].head
        guard head != noWindow, windows[Int(head)].span.start < span.start else { return least }
        return max(least, min(Int(windows[Int(head)].sizeClass), WindowTable.largestSwiftSizeClass) - 2)
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

    /// Forgets a window and frees its memory; it must not be in the queue.
    mutating func discard(_ index: Int) {
        let window = windows[index]
        releaseBlocks(of: window, 0..<Int(window.count))
        endPacking(index)
        if !restored.isEmpty { restored[index] = nil }
        slots.release(Int(window.readings), sizeClass: Int(window.sizeClass))
        unlink(window, at: index)
        readingsHeld -= window.total
        openCount -= 1
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
        if series[number].current == UInt32(index) { series[number].current = series[number].head }
    }

    /// Frees what the readings in `places` of a window's run have besides.
    @inline(__always)
    mutating func releaseBlocks(of window: OpenWindow, _ places: Range<Int>) {
        if window.flags.contains(.blocks) { releaseAllBlocks(of: window, places) }
    }

    private mutating func releaseAllBlocks(of window: OpenWindow, _ places: Range<Int>) {
        for place in places { slots.releaseBlock(at: Int(window.readings) + place) }
    }

    /// Puts a window into the queue unless it is there.
    mutating func enqueue(_ index: Int) {
        guard !windows[index].flags.contains(.queued) else { return }
        let number = Int(windows[index].series)
        if series[number].current == UInt32(index) { settleRun(series: number) }
        windows[index].flags.insert(.queued)
        queue.append(index)
    }

    /// The first place in a window whose reading is not before `instant`.
    func lowerBound(_ window: OpenWindow, _ instant: Instant) -> Int {
        var low = 0
        var high = Int(window.count)
        while low < high {
            let middle = (low + high) / 2
            if slots[Int(window.readings) + middle].instant < instant { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
