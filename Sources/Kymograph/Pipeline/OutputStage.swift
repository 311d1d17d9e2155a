import KymographCore
import Synchronization

/// The shards' common way out: makes a bundle of each block, and gives one at a time to the sink, again and again while
/// the sink says it may work later.
final class OutputStage: Sendable {
    private let sink: any BundleSink
    private let ledger: PipelineLedger
    private let control: PipelineControl
    private let assembler = Mutex(BundleAssembler())

    init(sink: any BundleSink, ledger: PipelineLedger, control: PipelineControl) {
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
    @discardableResult
    func write(_ block: ByteView) -> Outcome {
        assembler.withLock { assembler in
            guard let bundle = assembler.text(of: block) else { return .unreadable }
            let isTaken = attempt { () throws(SinkError) in try sink.write(bundle) }
            if isTaken { ledger.addBundle(bytes: bundle.count) } else { ledger.addUndelivered() }
            return isTaken ? .written : .notTaken
        }
    }

    /// Counts a bundle that is not even tried, because the pipeline is ended by force.
    func giveUp() { ledger.addUndelivered() }

    /// Makes everything taken durable where it is a file; false when that failed.
    func synchronise() -> Bool {
        assembler.withLock { _ in attempt { () throws(SinkError) in try sink.synchronise() } }
    }

    /// Gives what waits in the sink to the system. `now` lets it rotate files.
    func tick(_ now: Instant) {
        assembler.withLock { _ in
            _ = attempt { () throws(SinkError) in
                try sink.flush()
                try sink.tick(now)
            }
        }
    }

    /// Completes the output.
    func close() {
        assembler.withLock { _ in
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
