extension WindowTable {
    /// Closes the windows whose end plus lateness the series' event time has reached, earliest first.
    mutating func closePassed(series number: Int) {
        let newest = series[number].newest
        close(series: number) { span, lateness in span.end.advanced(by: lateness) <= newest }
    }

    /// Closes all windows of the series that have received nothing for the idle time.
    mutating func closeQuiet(at now: Instant) {
        guard idle > 0 && now >= nextIdleCheck else { return }
        nextIdleCheck = .distantFuture
        for number in 0..<series.count where series[number].head != noWindow {
            let quietAt = series[number].lastReceived.advanced(by: idle)
            if quietAt <= now { closeAll(series: number) } else { nextIdleCheck = min(nextIdleCheck, quietAt) }
        }
    }

    /// Sees to it that the next check for quiet series is not too late for a window opened at `received`.
    mutating func expectQuiet(after received: Instant) {
        nextIdleCheck = min(nextIdleCheck, received.advanced(by: idle))
    }

    /// Closes everything, series by series.
    mutating func closeAll() {
        for number in 0..<series.count where series[number].head != noWindow { closeAll(series: number) }
    }

    private mutating func closeAll(series number: Int) {
        close(series: number) { _, _ in true }
    }

    @inline(__always)
    private mutating func close(series number: Int, where isDue: (WindowSpan, Int64) -> Bool) {
        var added = 0
        var nextClose = Instant.distantFuture
        let isTimed = series[number].period > 0
        var index = series[number].head
        while index != noWindow {
            let window = windows[Int(index)]
            if !window.flags.contains(.closing) {
                if isDue(window.span, lateness) {
                    if !window.flags.contains(.queued) { added += 1 }
                    windows[Int(index)].flags.insert(.closing)
                    enqueue(Int(index))
                } else if isTimed {
                    nextClose = min(nextClose, window.span.end.advanced(by: lateness))
                }
            }
            index = window.older
        }
        queue.reverseLast(added)
        series[number].nextClose = nextClose
    }
}
