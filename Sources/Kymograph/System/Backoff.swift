/// How long to wait before the next attempt: any time up to a bound that doubles (exponential backoff, full jitter),
/// so that many senders do not come back together.
struct Backoff {
    /// Bound of the first wait, in nanoseconds.
    var first: Int64
    /// Largest bound, in nanoseconds.
    var longest: Int64

    /// The bound after `failures` failures, at least one.
    func bound(failures: Int) -> Int64 {
        let doublings = min(40, max(0, failures - 1))
        let (bound, overflow) = first.multipliedReportingOverflow(by: 1 << doublings)
        return overflow ? longest : min(longest, bound)
    }

    /// A wait after `failures` failures; never shorter than a hundredth of the bound, so that nothing spins.
    func wait(failures: Int, using random: inout any RandomNumberGenerator) -> Int64 {
        let bound = bound(failures: failures)
        return max(bound / 100, Int64.random(in: 0...bound, using: &random))
    }
}
