extension WindowTable {
    /// Closes the windows whose end plus lateness the series' event time has reached, earliest first.
    @inline(never)
    mutating func closePassed(series number: Int) {
        let newest = series[number].newest
        close(series: number) { window, lateness in
            !window.flags.contains(.held) && window.span.end.advanced(by: lateness) <= newest
        }
    }

    /// Closes all windows of the series that have received nothing for the idle time, series by series.
    mutating func closeQuiet(at now: Instant) {
        quiet.removeAll(keepingCapacity: true)
        while let number = quietChecks.takeDue(at: now) {
            let quietAt = series[number].lastReceived.advanced(by: silence(of: number))
            let isOpen = series[number].head != noWindow
            if isOpen && quietAt > now {
                quietChecks.add(number, at: quietAt)
            } else {
                series[number].isChecked = false
                if isOpen { quiet.append(UInt32(number)) }
            }
        }
        quiet.sort()
        for number in quiet { closeAll(series: Int(number)) }
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

    /// Sees to it that `series`, which has a window, is looked at when it may be quiet since `received`.
    mutating func expectQuiet(series number: Int, after received: Instant) {
        guard idle > 0, !series[number].isChecked else { return }
        series[number].isChecked = true
        quietChecks.add(number, at: received.advanced(by: silence(of: number)))
    }

    /// How long a series receives nothing until it is quiet, in nanoseconds: a sensor that reads every few minutes is
    /// not silent between two readings of a window of days.
    private func silence(of number: Int) -> Int64 {
        max(idle, series[number].period / WindowSettings.idleShare)
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
