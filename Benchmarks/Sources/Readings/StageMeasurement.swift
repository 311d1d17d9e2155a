import CLimits

/// What a stage takes before anything is counted.
package enum StageWarmup {
    /// Enough readings for windows to have been closed and their memory used again.
    package static let readings = 20_000
}

extension Stage where Self: ~Copyable {
    /// Takes `count` readings after `warmup` of them; prints the number of allocations in between (-1 when nobody
    /// counts them), and for people how long one reading took.
    package consuming func measure(_ count: Int, warmup: Int = StageWarmup.readings) {
        var stage = self
        stage.run(warmup)
        let start = ContinuousClock.now
        let before = kymograph_allocations()
        counted { stage.run(count) }
        let after = kymograph_allocations()
        let taken = ContinuousClock.now - start
        print("allocations \(before < 0 ? -1 : after - before)")
        print("nanoseconds \(Int64(taken / .nanoseconds(1)) / Int64(count))")
    }
}

/// Runs `body` inside the function between whose entry and exit callgrind counts.
private func counted(_ body: () -> Void) {
    withoutActuallyEscaping(body) { escaping in
        var closure = escaping
        // Safe: the closure outlives the call, which does not keep the pointer.
        unsafe withUnsafeMutablePointer(to: &closure) { pointer in
            unsafe kymograph_measured(
                { context in unsafe context?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
        }
    }
}
