import KymographCore
import Synchronization

/// The shards' common way out: gives one block at a time to the sink, again and again while the sink says it may work
/// later.
final class OutputStage: Sendable {
    private let sink: any BlockSink
    private let ledger: PipelineLedger
    private let control: PipelineControl
    /// Whether the sink could not work, as when the disk is full, and is called again.
    private let retrying = Atomic(false)
    /// Times from the making of entries to when the sink had them.
    private let delays = Mutex(DurationCounts())
    /// Held while the sink is called.
    private let turn = Mutex(())

    init(sink: any BlockSink, ledger: PipelineLedger, control: PipelineControl) {
        self.sink = sink
        self.ledger = ledger
        self.control = control
    }

    /// What became of a block.
    enum Outcome {
        case written
        /// The sink failed for good, or the pipeline is ended by force.
        case notTaken
        /// It is no block of entries that this version knows.
        case unreadable
    }

    /// Writes the entries of a block. Blocks while the disk is full: that is backpressure, and nothing is lost.
    func write(_ block: ByteView) -> Outcome {
        turn.withLock { _ in
            var size: Int?
            guard attempt({ () throws(SinkError) in size = try sink.write(block) }) else {
                ledger.addUndelivered()
                return .notTaken
            }
            guard let size else { return .unreadable }
            ledger.addBundle(bytes: size)
            return .written
        }
    }

    /// As ``writeOnce(_:)``, of a block that is done with it: its oldest entry was made at `since`.
    func deliver(_ block: ByteView, since: Instant) {
        if writeOnce(block) { noteDelivered([since]) }
    }

    /// Notes that the sink has blocks for good, whose oldest entries were made at these times.
    func noteDelivered(_ since: [Instant]) {
        let now = WallClock.now()
        delays.withLock { delays in
            for time in since { delays.add(from: time, to: now) }
        }
    }

    /// How long entries were on their way: of each block the oldest.
    var deliveryTimes: DurationCounts { delays.withLock { $0 } }

    /// As ``write(_:)``, of a block that was just made: one that cannot be read is a mistake of ours, is counted, and
    /// ends the run.
    func writeOnce(_ block: ByteView) -> Bool {
        switch write(block) {
        case .written: return true
        case .notTaken: return false
        case .unreadable:
            ledger.addUndelivered()
            control.fail(
                "entries were made that cannot be put together: this is a bug, please report it",
                exitCode: ExitStatus.software)
            return false
        }
    }

    /// Whether the sink cannot work for now, as when the disk is full.
    var isRetrying: Bool { retrying.load(ordering: .relaxed) }

    /// Counts a bundle that is not even tried, because the pipeline is ended by force.
    func giveUp() { ledger.addUndelivered() }

    /// Makes everything taken durable where it is a file; false when that failed.
    func synchronise() -> Bool {
        turn.withLock { _ in attempt { () throws(SinkError) in try sink.synchronise() } }
    }

    /// Gives what waits in the sink to the system. `now`, on a clock that is never set, lets it rotate files.
    func tick(_ now: Instant) {
        turn.withLock { _ in
            _ = attempt { () throws(SinkError) in
                try sink.flush()
                try sink.tick(now)
            }
        }
    }

    /// Ends files by `limits` from here on.
    func follow(_ limits: RotationLimits) { sink.follow(limits) }

    /// Completes the output.
    func close() {
        turn.withLock { _ in
            _ = attempt { () throws(SinkError) in try sink.close() }
        }
    }

    /// Tries until it works, fails for good, or the pipeline is ended by force.
    private func attempt(_ action: () throws(SinkError) -> Void) -> Bool {
        var failure: String?
        defer { if failure != nil { retrying.store(false, ordering: .relaxed) } }
        while true {
            do throws(SinkError) {
                try action()
                if let failure {
                    let text = "it works again, and everything was written: \(failure)"
                    control.note(LogEntry(.info, text, fields: [("event", .text("output.again"))]))
                }
                return true
            } catch {
                // A program that was too slow is no failure of its own.
                if control.isForced, error.kind == .notTaken {
                    control.note(.error(error.message))
                    return false
                }
                guard error.isRetriable, !control.isForced else {
                    control.fail(error.message, exitCode: ExitStatus.ioError)
                    return false
                }
                if failure == nil {
                    let rest = "trying again, and nothing is lost while the process runs"
                    control.note(
                        LogEntry(.error, "\(error.message); \(rest)", fields: [("event", .text("output.waiting"))]))
                }
                failure = failure ?? error.message
                retrying.store(true, ordering: .relaxed)
                control.pause(milliseconds: 500)
            }
        }
    }
}
