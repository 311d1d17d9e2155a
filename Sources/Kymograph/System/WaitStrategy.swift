import CKymographLinux
import Glibc

/// How a thread waits for another one of the pipeline: a shard for readings, a lane for room in a ring.
package enum WaitStrategy: String, CaseIterable, Sendable {
    /// It sleeps until it is woken. For machines whose processors have other work.
    case sleep
    /// It lets others run and looks again.
    case yield
    /// It looks again and again. For a processor that is its own (`processors`).
    case spin

    /// Looks at the clock and at ``hasWork`` are far apart in cost.
    private static let looksPerClock = 64

    /// Waits for `hasWork` without sleeping, for `milliseconds` at most.
    func busily(milliseconds: Int32, until hasWork: () -> Bool) {
        let end = MonotonicClock.instant.advanced(by: Int64(milliseconds) * 1_000_000)
        repeat {
            for _ in 0..<WaitStrategy.looksPerClock {
                if hasWork() { return }
                relax()
            }
        } while MonotonicClock.instant < end
    }

    /// What a thread does between two looks.
    func relax() {
        if self == .yield { sched_yield() } else { kymo_pause() }
    }
}

/// Puts the calling thread to sleep.
enum Wait {
    static func milliseconds(_ count: Int) {
        usleep(UInt32(max(0, count)) * 1_000)
    }

    static func microseconds(_ count: Int) {
        usleep(UInt32(max(0, count)))
    }
}
