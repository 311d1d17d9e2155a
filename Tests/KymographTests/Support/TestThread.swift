import Glibc
import Synchronization

/// A thread that gives a result, for what blocks.
final class TestThread<Result: Sendable>: @unchecked Sendable {
    private final class Job: Sendable {
        let body: @Sendable () -> Result
        let result = Mutex<Result?>(nil)

        init(_ body: @escaping @Sendable () -> Result) {
            self.body = body
        }

        func run() {
            let value = body()
            result.withLock { $0 = value }
        }
    }

    private let job: Job
    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () -> Result) {
        job = Job(body)
        let run: @Sendable () -> Void = { [job] in job.run() }
        let box = unsafe Unmanaged.passRetained(Box(run)).toOpaque()
        unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box)
    }

    /// Waits for the end.
    func join() -> Result {
        pthread_join(thread, nil)
        guard let result = job.result.withLock({ $0 }) else { preconditionFailure("the thread gave no result") }
        return result
    }
}

private final class Box: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
