extension WindowTable {
    /// Closes the windows whose end plus lateness the series' event time has reached, earliest first.
    mutating func closePassed(series number: Int) {
        let newest = series[number].newest
        close(series: number) { window, lateness in
            !window.flags.contains(.held) && window.span.end.advanced(by: lateness) <= newest
        }
    }

    /// Closes all windows of the series that have received nothing for the idle time.
    mutating func closeQuiet(at now: Instant) {
        guard idle > 0 && now >= nextIdleCheck else { return }
        nextIdleCheck = .distantFuture
        for number in 0..<series.count where series[number].head != noWindow {
            // A sensor that reads every few minutes is not silent between two readings of a window of days.
            let silence = max(idle, series[number].period / WindowSettings.idleShare)
            let quietAt = series[number].lastReceived.advanced(by: silence)
            if quietAt <= now { closeAll(series: number) } else { nextIdleCheck = min(nextIdleCheck, quietAt) }
        }
    }

    /// Lets a window that was opened by a reading received at `received` wait for more, if its time has passed already.
    mutating func holdIfLate(_ index: Int, received: Instant) {
        let number = Int(windows[index].series)
        let closesAt = windows[index].span.end.advanced(by: lateness)
        guard lateHold > 0, series[number].period > 0, closesAt <= series[number].newest else { return }
        windows[index].heldUntil = received.advanced(by: lateHold)
        windows[index].flags.insert(.held)
        held.append(UInt32(index))
        nextHeldCheck = min(nextHeldCheck, windows[index].heldUntil)
    }

    /// Closes the windows that have waited long enough for more late readings.
    mutating func closeHeld(at now: Instant) {
        guard now >= nextHeldCheck else { return }
        nextHeldCheck = .distantFuture
        var kept = 0
        for place in 0..<held.count {
            let index = Int(held[place])
            // A record may have been closed, or be in use by another window, since it was listed.
            guard windows[index].flags.contains(.held), !windows[index].flags.contains(.closing) else { continue }
            if windows[index].heldUntil <= now {
                windows[index].flags.remove(.held)
                windows[index].flags.insert(.closing)
                enqueue(index)
            } else {
                nextHeldCheck = min(nextHeldCheck, windows[index].heldUntil)
                held[kept] = held[place]
                kept += 1
            }
        }
        held.truncate(to: kept)
    }

    /// Sees to it that the next check for quiet series is not too late for a window opened at `received`.
    mutating func expectQuiet(after received: Instant) {
        nextIdleCheck = min(nextIdleCheck, received.advanced(by: idle))
    }

    /// Closes everything, series by series.
    mutating func closeAll() {
        for number in 0..<series.count where series[number].head != noWindow { closeAll(series: number) }
    }

    /// Closes all windows of one series.
    mutating func closeAll(series number: Int) {
        close(series: number) { _, _ in true }
    }

    @inline(__always)
    private mutating func close(series number: Int, where isDue: (OpenWindow, Int64) -> Bool) {
        var added = 0
        var nextClose = Instant.distantFuture
        let isTimed = series[number].period > 0
        var index = series[number].head
        while index != noWindow {
            let window = windows[Int(index)]
            if !window.flags.contains(.closing) {
                if isDue(window, lateness) {
                    if !window.flags.contains(.queued) { added += 1 }
                    windows[Int(index)].flags.insert(.closing)
                    enqueue(Int(index))
                } else if isTimed && !window.flags.contains(.held) {
                    nextClose = min(nextClose, window.span.end.advanced(by: lateness))
                }
            }
            index = window.older
        }
        queue.reverseLast(added)
        series[number].nextClose = nextClose
    }
}
