import CKymographLinux
import Foundation
import Synchronization

/// Starts named threads. The data plane has its own: a task of the cooperative pool must not block on a socket or ring.
enum WorkerThread {
    /// Runs `body` on a new thread called `name`, on `processor` alone if there is one.
    ///
    /// The stack has `stackBytes`: what reads the text of users needs more than what maps readings.
    static func start(
        _ name: String, on processor: Int? = nil, stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Void
    ) {
        let thread = Thread {
            // Foundation ignores a name that is set before the thread exists.
            // Safe: Swift lends the name as a C string for the call.
            unsafe kymo_thread_name(name)
            // One that has gone since the start is no reason to stop: the system then chooses.
            if let processor { _ = kymo_thread_bind(Int32(clamping: processor)) }
            body()
        }
        thread.stackSize = stackBytes
        thread.start()
    }
}

/// How many of several threads still run.
final class RunningThreads: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }

    /// Whether all have ended. What they wrote before is visible then.
    var isZero: Bool { count.load(ordering: .acquiring) == 0 }

    /// Notes that one has ended; whether it was the last.
    @discardableResult
    func leave() -> Bool { count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
