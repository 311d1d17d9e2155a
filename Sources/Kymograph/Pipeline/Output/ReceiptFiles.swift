import KymographCore
import Synchronization

/// Brings lines of receipts from the store to files, on a thread of its own.
///
/// A line leaves the store when the file has it for good: after a crash it may be there twice, with the same id. It is
/// missing only if the store was full while its file took nothing. What happens to the files holds up nothing else.
final class ReceiptFiles: Sendable {
    private let store: Store
    private let progress: ReceiptProgress
    private let directory: String
    /// As files begin, and as they end at present.
    private let rotation: RotationOptions
    private let present: @Sendable () -> RotationOptions
    /// Open from the start on; nil once the thread has it, and where the disk has failed.
    private let first: Mutex<RotatingFileSink?>
    private let control: PipelineControl
    private let bell: Doorbell
    private let isStarted = Atomic(false)
    private let isFinishing = Atomic(false)
    private let thread = RunningThreads(1)

    /// Lines taken at a time, and milliseconds between two attempts when files take nothing.
    private static let most = 1_000
    private static let patience = 1_000

    /// Writes to files in `directory`, readable only by the owner, rotated as `rotation` says at the time.
    ///
    /// - Throws: ``PipelineError`` when the directory cannot be used. A disk that fails is none of the readings'
    ///   business: receipts wait for it.
    init(
        _ store: Store, directory: String, rotation: @escaping @Sendable () -> RotationOptions,
        control: PipelineControl
    ) throws(PipelineError) {
        (self.store, self.control, self.directory, present) = (store, control, directory, rotation)
        var options = rotation()
        // A file that ends whenever little is delivered would be many.
        (options.maxIdle, options.compression, options.dictionary) = (0, .none, nil)
        options.isGroupReadable = false
        self.rotation = options
        do throws(SinkError) {
            first = Mutex(try RotatingFileSink(directory: directory, options: options))
        } catch {
            guard error.isOfDisk else {
                throw PipelineError(message: "receipts: \(error.message)", exitCode: error.exitCode)
            }
            first = Mutex(nil)
        }
        do throws(SystemError) { bell = try Doorbell() } catch { throw PipelineError(error) }
        progress = store.beginReceipts(for: .files)
    }

    /// Starts the thread.
    func start() {
        isStarted.store(true, ordering: .releasing)
        WorkerThread.start("kymo-receipts") { [self] in
            run()
            thread.leave()
        }
    }

    /// There may be lines.
    func wake() { bell.ring() }

    /// Writes what there is, after the last commit, and ends the files.
    func finish() {
        isFinishing.store(true, ordering: .releasing)
        bell.ring()
        guard isStarted.load(ordering: .acquiring) else { return }
        while !thread.isZero, !control.isForced { Wait.milliseconds(1) }
    }

    private func run() {
        var sink = first.withLock { sink in
            defer { sink = nil }
            return sink
        }
        var last = progress.taken
        var hasFailed = false
        while !control.isForced {
            let isLast = isFinishing.load(ordering: .acquiring)
            do throws(SinkError) {
                let open: RotatingFileSink
                if let sink {
                    open = sink
                } else {
                    open = try RotatingFileSink(directory: directory, options: rotation)
                }
                sink = open
                var limits = present().limits
                limits.maxIdle = rotation.maxIdle
                open.follow(limits)
                let written = try write(after: last, to: open)
                if hasFailed { control.note(.info("receipts: files take them again")) }
                hasFailed = false
                progress.note()
                if written > last {
                    last = written
                    progress.take(through: written)
                    store.queue.add { $0.hasTakenReceipts = true }
                    continue
                }
                try open.tick(MonotonicClock.instant)
                // Nothing else is committed any more.
                if isLast { return try open.close() }
                bell.sleep(milliseconds: 1_000) { isFinishing.load(ordering: .acquiring) }
            } catch {
                progress.noteFailure()
                // What that file has, nobody knows: all that the store has goes to another one.
                if error.kind == .syncFailed { sink = nil }
                if !hasFailed {
                    control.note(.error("receipts: \(error.message); they wait in \(store.directory.path)"))
                }
                hasFailed = true
                // They wait for the next run.
                if isLast { return }
                control.pause(milliseconds: ReceiptFiles.patience)
            }
        }
    }

    /// Writes the next lines and makes them durable; gives the number of the last one.
    private func write(after last: Int64, to sink: RotatingFileSink) throws(SinkError) -> Int64 {
        let lines = store.receiptLines(after: last, most: ReceiptFiles.most)
        guard let newest = lines.last?.number else { return last }
        for (_, line) in lines {
            var failure: SinkError?
            line.withByteView { bytes in
                do throws(SinkError) { try sink.write(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
        }
        try sink.synchronise()
        CrashPoint.receiptsWritten.pass()
        return newest
    }
}
