import CKymographLinux
import Synchronization

/// What the threads of a pipeline tell each other: that it ends, that it ends by force, that it failed.
final class PipelineControl: Sendable {
    /// Why a pipeline failed.
    struct Failure: Sendable {
        var message: String
        var exitCode: Int32
    }

    private let forced = Atomic(false)
    private let failure = Mutex<Failure?>(nil)
    private let notes: LogTaker
    /// Readable when a thread has ended or failed.
    private let event: Descriptor

    init(notes: @escaping LogTaker) throws(SystemError) {
        self.notes = notes
        let raw = kymo_event_create()
        guard raw >= 0 else { throw SystemError(-raw, "create", "an event for the end of threads") }
        event = Descriptor(raw)
    }

    /// Whether everything must end now, delivered or not.
    var isForced: Bool { forced.load(ordering: .relaxed) }

    /// Ends everything now.
    func force() { forced.store(true, ordering: .relaxed) }

    /// Tells the operator something, once.
    func note(_ entry: LogEntry) { notes(entry) }

    /// Notes a failure that ends the pipeline; the first one counts.
    func fail(_ message: String, exitCode: Int32) {
        failure.withLock { known in
            if known == nil { known = Failure(message: message, exitCode: exitCode) }
        }
        force()
        noteChange()
    }

    /// Wakes the controlling thread.
    func noteChange() { _ = kymo_event_raise(event.raw) }

    /// Waits for a change, for `descriptor` (-1 for none) to become readable, or for `milliseconds`.
    func waitForChange(or descriptor: Int32, milliseconds: Int32) {
        let ready = kymo_wait_either(descriptor, event.raw, milliseconds)
        if ready & 2 != 0 { _ = kymo_event_wait(event.raw, 0) }
    }

    /// The failure, if there was one.
    var currentFailure: Failure? { failure.withLock { $0 } }

    /// Waits a little, less when the pipeline is ended by force.
    func pause(milliseconds: Int) {
        var left = milliseconds
        while left > 0 && !isForced {
            Wait.milliseconds(min(left, 20))
            left -= 20
        }
    }
}
