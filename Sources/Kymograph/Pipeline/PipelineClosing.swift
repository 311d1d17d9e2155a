import KymographCore
import Synchronization

/// Completes what a pipeline has written, at its end.
final class PipelineClosing: Sendable {
    private let accounts: ReadingAccounts
    private let output: PipelineOutput
    private let workers: PipelineWorkers
    private let control: PipelineControl
    private let auditing: PipelineAudit
    private let running = RunningThreads(1)
    /// Why the dead letters are not complete, if so.
    private let failure = Mutex<String?>(nil)

    /// For what the given parts have written.
    init(
        _ accounts: ReadingAccounts, _ output: PipelineOutput, _ workers: PipelineWorkers,
        _ control: PipelineControl, _ auditing: PipelineAudit
    ) {
        (self.accounts, self.output, self.workers) = (accounts, output, workers)
        (self.control, self.auditing) = (control, auditing)
    }

    /// Whether everything is complete.
    var isDone: Bool { running.isZero }

    /// Why the dead letters are not complete, if so.
    var message: String? { failure.withLock { $0 } }

    /// Completes the files on a thread of its own: a full disk or a reader that does not read would keep this one from
    /// its signals. `endAnswers` ends those who answer others; the audit trail is complete only behind them.
    func start(_ endAnswers: @escaping @Sendable () -> Void) {
        WorkerThread.start("kymo-close") { [self] in
            output.noteKernelDrops(workers.droppedSockets)
            output.stage?.finish()
            let message = closeDeadLetters()
            failure.withLock { $0 = message }
            output.stages.close()
            output.stage?.close()
            endAnswers()
            auditing.log?.finish()
            running.leave()
            control.noteChange()
        }
    }

    private func closeDeadLetters() -> String? {
        guard let deadLetters = accounts.deadLetters else { return nil }
        do throws(SinkError) {
            try deadLetters.close()
        } catch {
            return error.message
        }
        let lost = deadLetters.counts.lost
        return lost == 0 ? nil : "\(CountText.of(Int(lost), "dead letter")) could not be written"
    }
}
