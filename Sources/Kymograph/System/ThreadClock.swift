import Glibc
import Synchronization

/// The processor time that one thread has taken. Any thread may ask: the system counts it anyway.
final class ThreadClock: Sendable {
    private enum State {
        case waiting
        case running(clockid_t)
        case ended(seconds: Double)
    }

    private let state = Mutex(State.waiting)

    /// Begins to show the time of the calling thread.
    func begin() {
        var clock = clockid_t()
        // Safe: the number is ours.
        guard unsafe pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return }
        state.withLock { $0 = .running(clock) }
    }

    /// Keeps what it shows, because the calling thread, which has begun it, ends: its clock goes with it.
    func end() {
        state.withLock { state in
            if case .running(let clock) = state { state = .ended(seconds: ThreadClock.seconds(of: clock)) }
        }
    }

    /// Seconds up to now, of user and system; 0 before it has begun.
    var seconds: Double {
        state.withLock { state in
            switch state {
            case .waiting: 0
            // The thread cannot end in between: it has to take the lock before.
            case .running(let clock): ThreadClock.seconds(of: clock)
            case .ended(let seconds): seconds
            }
        }
    }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        // Safe: the struct is ours.
        guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
