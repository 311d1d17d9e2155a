/// The free rest of a window's run, in which readings that come in order are put without a look at the window.
///
/// The window does not know of them until ``OpenWindows/settle(series:)``. A window in the queue has none.
struct RunEnd: BitwiseCopyable {
    /// Last instant of the window.
    var through: Instant
    /// The slot of the next reading.
    var slot: UInt32
    /// The first slot that is not free.
    var end: UInt32

    /// No room.
    static let none = RunEnd(through: .distantPast, slot: noWindow, end: 0)
}

/// The windows of one series, in one cache line: with many series it is one that the shard waits for.
struct SeriesState: BitwiseCopyable {
    /// Latest event time of its readings: its own clock, which other series cannot move.
    private(set) var newest = Instant.distantPast
    /// Latest receive time of its readings.
    private(set) var lastReceived = Instant.distantPast
    /// Event time at which its next open window closes.
    var nextClose = Instant.distantFuture
    /// Length of its windows in nanoseconds, or 0 when one window covers all time.
    let period: Int64
    /// Where the next readings go, as long as they come in order.
    private var runEnd = RunEnd.none
    /// The window of the last reading: usually that of the next. The one that ``runEnd`` belongs to.
    private(set) var current = noWindow
    /// Its latest window; earlier ones are linked from it.
    var head = noWindow
    /// What becomes of its readings of one instant.
    private(set) var rules: InstantRules
    /// Whether it is among the ``QuietChecks``.
    var isChecked = false

    /// Whether its present window may not know of all its readings.
    @inline(__always)
    var hasRun: Bool { runEnd.slot != noWindow }

    /// The slot of the next reading, while there is one.
    @inline(__always)
    var nextSlot: Int? { runEnd.slot < runEnd.end ? Int(runEnd.slot) : nil }

    /// Lets readings into `run`, which is that of the present window.
    @inline(__always)
    mutating func begin(_ run: RunEnd) { runEnd = run }

    /// Lets no more readings into the run; the slot behind those that have come, or nil when there was none.
    @inline(__always)
    mutating func endRun() -> UInt32? {
        guard hasRun else { return nil }
        defer { runEnd = .none }
        return runEnd.slot
    }

    /// Takes window `index` for that of the next reading.
    @inline(__always)
    mutating func makePresent(_ index: Int) {
        assert(!hasRun)
        current = UInt32(truncatingIfNeeded: index)
    }

    /// Takes its latest window for that of the next reading.
    mutating func makePresentHead() {
        assert(!hasRun)
        current = head
    }

    /// Whether a reading at `instant` is simply the next one of the present window, for which there is room.
    @inline(__always)
    func isNext(_ instant: Instant) -> Bool {
        instant > newest && instant <= runEnd.through && runEnd.slot < runEnd.end
    }

    /// The slot of a reading at `instant`, now taken, if that is simply the next one; otherwise ``noWindow``, and
    /// nothing has changed.
    @inline(__always)
    mutating func takeNext(_ instant: Instant) -> UInt32 {
        guard isNext(instant) else { return noWindow }
        runEnd.slot &+= 1
        return runEnd.slot &- 1
    }

    /// Moves the clocks for a reading; true when the event time has come to close windows.
    @inline(__always)
    mutating func advance(_ instant: Instant, received: Instant) -> Bool {
        if received > lastReceived { lastReceived = received }
        if instant > newest { newest = instant }
        return newest >= nextClose
    }

    /// Length of the windows that carry the readings of instance grouping: 5 minutes, in nanoseconds.
    static let carrierPeriod: Int64 = 300_000_000_000

    init(_ type: MeasurementType) {
        self.init(type.grouping, InstantRules(type))
    }

    /// Takes over what `type`, which may have changed since, says of readings of one instant.
    mutating func adopt(_ type: MeasurementType) { rules = InstantRules(type) }

    private init(_ grouping: Grouping, _ rules: InstantRules) {
        self.rules = rules
        switch grouping {
        case .instance: period = SeriesState.carrierPeriod
        case .tumbling(let nanoseconds):
            precondition(nanoseconds > 0)
            period = nanoseconds
        case .correlation: period = 0
        }
    }

    /// The span of the window of a series of this grouping that `instant` belongs to.
    static func span(of grouping: Grouping, around instant: Instant) -> WindowSpan {
        SeriesState(grouping, .none).span(around: instant)
    }

    /// The span of the window that `instant` belongs to.
    func span(around instant: Instant) -> WindowSpan {
        period == 0 ? .always : .aligned(around: instant, period: period)
    }
}
