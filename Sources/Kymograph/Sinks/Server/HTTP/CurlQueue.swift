import CCurl
import Dispatch
import Glibc
import Synchronization

/// What callers and the transport's thread share: requests that wait, and whether more may come.
@safe
final class CurlQueue: Sendable {
    private struct State {
        var waiting: [CurlJob] = []
        var isClosed = false
        var thread: pthread_t?
    }

    /// libcurl's set of transfers. The thread alone uses it, but for waking the thread.
    nonisolated(unsafe) let multi: UnsafeMutableRawPointer

    private let state = Mutex(State())
    private let end = DispatchGroup()

    init() {
        // ``ServerAccess/faults(readingFiles:)`` has told whoever configured a server.
        if let problem = CurlText.loadingProblem { fatalError("libcurl cannot be used: \(problem)") }
        guard let multi = unsafe kymo_curl_multi_init() else { fatalError("no memory for libcurl") }
        unsafe self.multi = multi
        end.enter()
    }

    /// Hands a job to the thread; false when the queue is closed.
    func add(_ job: CurlJob) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.waiting.append(job)
            // Safe: the thread frees the set after the queue was closed, which needs this lock.
            unsafe kymo_curl_multi_wakeup(multi)
            return true
        }
    }

    /// Lets the thread take everything that waits; nil when the queue is closed.
    func take() -> [CurlJob]? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Refuses what comes from now on, wakes the thread, and waits for its end unless called on it.
    func close() {
        let isOwnThread = state.withLock { state in
            if !state.isClosed {
                state.isClosed = true
                // Safe: as in ``add(_:)``; once closed, nobody wakes the thread any more.
                unsafe kymo_curl_multi_wakeup(multi)
            }
            return state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
        }
        if !isOwnThread { end.wait() }
    }

    // MARK: On the thread

    /// Notes that the calling thread is the one that serves this queue.
    func beginServing() {
        state.withLock { $0.thread = pthread_self() }
    }

    /// Frees the set of transfers, which must be empty, and hands back what still waits.
    func endServing() -> [CurlJob] {
        // Safe: only after ``close()``, so nobody uses the set any more.
        unsafe kymo_curl_multi_cleanup(multi)
        return state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Lets those go that wait for the thread's end.
    func didEnd() {
        end.leave()
    }
}
