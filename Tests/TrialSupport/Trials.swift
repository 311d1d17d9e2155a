import FoundationEssentials

/// How many cases properties generate, and from which seeds: the one place where both are decided.
///
/// `KYMO_SEED=20261125` gives the seeds 20261125000001, 20261125000002, …: a failure that names its seed names the
/// variable with it. Without the variable the seeds are 1, 2, …, the same in each run. `KYMO_TORTURE` asks for the full
/// counts.
package enum Trials {
    private static let environment = ProcessInfo.processInfo.environment
    /// How many seeds belong to one value of `KYMO_SEED`.
    private static let seedsOfARun: UInt64 = 1_000_000

    /// What `KYMO_SEED` says; 0 when unset.
    private static let run: UInt64 = {
        guard let text = environment["KYMO_SEED"], !text.isEmpty else { return 0 }
        guard let run = UInt64(text), run < UInt64.max / (2 * seedsOfARun) else {
            preconditionFailure("KYMO_SEED is '\(text)': give a whole number below 9,000,000,000,000")
        }
        return run
    }()

    /// Whether the long forms of tests were asked for.
    package static let isTorture = environment["KYMO_TORTURE"] != nil
    /// The number of rounds that `KYMO_TORTURE` asks for, where a round is a process; nil when unset or no number.
    package static let tortureRounds = environment["KYMO_TORTURE"].flatMap { Int($0) }

    /// The seed of this run that stands for `number`.
    package static func seed(_ number: UInt64) -> UInt64 { run * seedsOfARun + number }

    /// `count` seeds of this run, for numbers from `first` on.
    package static func seeds(_ count: Int, from first: UInt64 = 1) -> Range<UInt64> {
        seed(first)..<seed(first) + UInt64(count)
    }

    /// The seeds of a property that takes seconds: a tenth of `count` of them, and all under `KYMO_TORTURE`.
    package static func seeds(tenthOf count: Int, from first: UInt64 = 1) -> Range<UInt64> {
        seeds(Self.count(tenthOf: count), from: first)
    }

    /// A tenth of `full`, at least 1, and all under `KYMO_TORTURE`.
    package static func count(tenthOf full: Int) -> Int { isTorture ? full : max(1, full / 10) }
}
