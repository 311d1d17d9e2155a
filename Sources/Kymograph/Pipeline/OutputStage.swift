import KymographCore
import Synchronization

/// The shards' common way out: one bundle at a time to the sink, again and again while the sink says it may work later.
final class OutputStage: Sendable {
    private let sink: any BundleSink
    private let ledger: PipelineLedger
    private let control: PipelineControl
    private let isBusy = Mutex(())

    init(sink: any BundleSink, ledger: PipelineLedger, control: PipelineControl) {
        self.sink = sink
        self.ledger = ledger
        self.control = control
    }

    /// Writes a bundle; false when it was not taken. Blocks while the disk is full: that is backpressure, and nothing
    /// is lost.
    @discardableResult
    func write(_ bytes: ByteView) -> Bool {
        isBusy.withLock { _ in
            let isTaken = attempt { () throws(SinkError) in try sink.write(bytes) }
            if isTaken { ledger.addBundle(bytes: bytes.count) } else { ledger.addUndelivered() }
            return isTaken
        }
    }

    /// Counts a bundle that is not even tried, because the pipeline is ended by force.
    func giveUp() { ledger.addUndelivered() }

    /// Makes everything taken durable where it is a file; false when that failed.
    func synchronise() -> Bool {
        isBusy.withLock { _ in attempt { () throws(SinkError) in try sink.synchronise() } }
    }

    /// Gives what waits in the sink to the system. `now` lets it rotate files.
    func tick(_ now: Instant) {
        isBusy.withLock { _ in
            _ = attempt { () throws(SinkError) in
                try sink.flush()
                try sink.tick(now)
            }
        }
    }

    /// Completes the output.
    func close() {
        isBusy.withLock { _ in
            _ = attempt { () throws(SinkError) in try sink.close() }
        }
    }

    /// Tries until it works, fails for good, or the pipeline is ended by force.
    private func attempt(_ action: () throws(SinkError) -> Void) -> Bool {
        var hasReported = false
        while true {
            do throws(SinkError) {
                try action()
                return true
            } catch {
                guard error.isRetriable, !control.isForced else {
                    control.fail(error.message, exitCode: ExitStatus.ioError)
                    return false
                }
                if !hasReported { control.note("\(error.message); trying again") }
                hasReported = true
                control.pause(milliseconds: 500)
            }
        }
    }
}
