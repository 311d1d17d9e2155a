import Foundation

/// Starts named threads. The data plane has its own: a task of the cooperative pool must not block on a socket or ring.
enum WorkerThread {
    /// Runs `body` on a new thread called `name`.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }
}
