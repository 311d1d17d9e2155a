/// When to look whether a series has become quiet.
struct QuietCheck: BitwiseCopyable {
    var at: Instant
    var series: UInt32
}

/// The series with open windows, by when each is to be looked at next: a heap, so that a look costs as much as is due,
/// and not as much as there is.
struct QuietChecks: ~Copyable {
    private var checks = RawArray<QuietCheck>(capacity: 64)

    /// Looks at `series`, which must not be there, at `instant` or later.
    mutating func add(_ series: Int, at instant: Instant) {
        checks.append(QuietCheck(at: instant, series: UInt32(series)))
        var place = checks.count - 1
        while place > 0, checks[place].at < checks[(place - 1) / 2].at {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Takes the series that is to be looked at first, if that is due at `now`.
    mutating func takeDue(at now: Instant) -> Int? {
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
