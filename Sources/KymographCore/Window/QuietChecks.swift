/// When to look whether a series has become quiet, on the clock that is never set (``SilenceClock``).
struct QuietCheck: BitwiseCopyable {
    var at: Instant
    var series: UInt32
}

/// The series with open windows, by when each is to be looked at next: a heap, so that a look costs as much as is due,
/// and not as much as there is.
struct QuietChecks: ~Copyable {
    /// See ``WindowSettings/idle``.
    private let idle: Int64
    private var checks = RawArray<QuietCheck>(capacity: 64)
    /// Series that the last look has found quiet, in rising order.
    private(set) var quiet: [UInt32] = []

    init(idle: Int64) { self.idle = idle }

    /// How long a series of windows of `period` receives nothing until it is quiet, in nanoseconds: a sensor that reads
    /// every few minutes is not silent between two readings of a window of days.
    private func silence(_ period: Int64) -> Int64 { max(idle, period / WindowSettings.idleShare) }

    /// Whether `series` is not to be looked at yet.
    @inline(__always)
    func lacks(_ series: borrowing SeriesState) -> Bool {
        guard idle > 0 else { return false }
        return !series.isChecked
    }

    /// Sees to it that `series`, which has a window and which it ``lacks(_:)``, is looked at when it may be quiet since
    /// `moment`, or before.
    mutating func expect(_ number: Int, _ series: inout SeriesState, after moment: Instant) {
        series.isChecked = true
        add(number, at: moment.advanced(by: silence(series.period)))
    }

    /// Finds the series with windows that have received nothing for long enough, at the last look of `clock`.
    mutating func findQuiet(by clock: SilenceClock, among series: inout RawArray<SeriesState>) {
        let now = clock.now
        quiet.removeAll(keepingCapacity: true)
        while let number = takeDue(at: now) {
            let last = clock.moment(of: series[number].lastReceived)
            let quietAt = last.advanced(by: silence(series[number].period))
            let isOpen = series[number].head != noWindow
            if isOpen && quietAt > now {
                add(number, at: quietAt)
            } else {
                series[number].isChecked = false
                if isOpen { quiet.append(UInt32(number)) }
            }
        }
        quiet.sort()
    }

    /// Looks at `series`, which must not be there, at `instant` or later.
    private mutating func add(_ series: Int, at instant: Instant) {
        checks.append(QuietCheck(at: instant, series: UInt32(series)))
        var place = checks.count - 1
        while place > 0, checks[place].at < checks[(place - 1) / 2].at {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Takes the series that is to be looked at first, if that is due at `now`.
    private mutating func takeDue(at now: Instant) -> Int? {
        guard checks.count > 0, checks[0].at <= now else { return nil }
        let first = checks[0].series
        if let last = checks.popLast(), checks.count > 0 {
            checks[0] = last
            sink()
        }
        return Int(first)
    }

    private mutating func sink() {
        var place = 0
        while true {
            var first = place
            for child in (2 * place + 1)...(2 * place + 2) where child < checks.count {
                if checks[child].at < checks[first].at { first = child }
            }
            if first == place { return }
            swap(place, first)
            place = first
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        (checks[one], checks[other]) = (checks[other], checks[one])
    }
}
