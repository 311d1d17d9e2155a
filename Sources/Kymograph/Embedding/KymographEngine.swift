import KymographCore
import KymographTemplates
import Synchronization

/// Readings in, FHIR resources out, within a program: everything that `kymo run` does, but for signals.
///
/// ```swift
/// let engine = try KymographEngine(configuration)
/// async let summary = engine.run()
/// let receipt = try await engine.submit(payload)    // returns when it is on the disk
/// engine.stop()
/// print(try await summary.lines)
/// ```
///
/// It receives, maps and writes on threads of its own, none of which are of the cooperative pool. All of its methods
/// may be called from any thread and task. It leaves signals, standard output and the environment to the program.
public final class KymographEngine: Sendable {
    private let pipeline: Pipeline
    private let queues: [IdentifierText: SubmissionQueue]
    private let hasRun = Atomic(false)

    /// Reads and checks `configuration` and its mappings, and opens addresses, files and the store. Sockets have their
    /// addresses from here on, so that who sends before ``run()`` waits, or is kept by the kernel.
    ///
    /// - Throws: ``EngineError`` of kind ``EngineError/Kind/configuration`` with everything that is wrong, by file,
    ///   line and column; or of kind ``EngineError/Kind/unavailable`` when something cannot be opened.
    public init(_ configuration: EngineConfiguration) throws(EngineError) {
        let configuration = configuration.queued
        let loading = try EngineLoading(configuration)
        let observer = EngineObserver(loading.queues, configuration)
        let findings = EngineFindings(configuration.onNote)
        do throws(PipelineError) {
            pipeline = try Pipeline(
                loading.settings, set: loading.set, watch: loading.watch, observer: observer,
                notes: { [note = configuration.onNote] entry in if entry.level <= .info { note(entry.text) } },
                findings: findings.take)
        } catch {
            throw EngineError(error, findings.all)
        }
        findings.beginRun()
        var queues: [IdentifierText: SubmissionQueue] = [:]
        for (source, queue) in zip(loading.settings.sources, loading.queues) {
            guard let address = source.configuration.address as? SubmissionSource else { continue }
            queues[address.label] = queue
        }
        self.queues = queues
    }

    /// Runs until ``stop()``, or until the task is cancelled, which is the same; or until all sources have ended. To be
    /// called once. When it returns, all threads have ended, everything that was received is delivered or in the store,
    /// and every submission has its outcome.
    ///
    /// - Returns: what became of everything.
    /// - Throws: ``EngineError`` of kind ``EngineError/Kind/failed`` or ``EngineError/Kind/cut``, with the summary.
    public func run() async throws(EngineError) -> EngineSummary {
        precondition(!hasRun.exchange(true, ordering: .relaxed), "an engine runs once")
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                WorkerThread.start("kymo-engine") { [self] in continuation.resume(returning: runPipeline()) }
            }
        } onCancel: {
            stop()
        }
        guard outcome.exitCode == ExitStatus.success else { throw EngineError(outcome) }
        return EngineSummary(outcome.summary)
    }

    private func runPipeline() -> Pipeline.Outcome {
        for queue in queues.values { queue.start() }
        let outcome = pipeline.run(signals: nil)
        for queue in queues.values { queue.end() }
        return outcome
    }

    /// Stops receiving; ``run()`` returns when what is there is delivered, or after the time that `drain` allows (30 s
    /// by default). What was submitted before is taken. Does not wait; may be called again, and before ``run()``.
    public func stop() { pipeline.end() }

    /// What became of everything so far.
    public var summary: EngineSummary { EngineSummary(pipeline.summary) }

    /// What the engine listens to, a line for each source, with the ports that the kernel chose.
    public var sources: [String] { pipeline.sourceDescriptions }

    /// Submits one payload, as a datagram has it: a reading, an array of them, or NDJSON. Returns when everything of it
    /// is durable, or, where nothing is kept, handed on; the wait is the back-pressure. Cancelling the task does not
    /// end it.
    ///
    /// - Throws: ``SubmissionError``. Nothing was taken, but for ``SubmissionError/unconfirmed``.
    public func submit(
        _ payload: [UInt8], from source: String = "main"
    ) async throws(SubmissionError) -> SubmissionReceipt {
        try await queue(source).take(payload, waits: true).outcome().get()
    }

    /// Takes one payload without waiting, so that many can be on their way; see ``submit(_:from:)``. Payloads of one
    /// source are mapped in the order in which they were taken.
    ///
    /// - Returns: what can be asked for the receipt.
    /// - Throws: ``SubmissionError/full`` when 4 MiB wait to be mapped, and the other errors of what was not taken.
    public func offer(_ payload: [UInt8], from source: String = "main") throws(SubmissionError) -> Submission {
        Submission(ticket: try queue(source).take(payload, waits: false))
    }

    private func queue(_ source: String) throws(SubmissionError) -> SubmissionQueue {
        guard let queue = queues[IdentifierText(source)] else { throw .unknownSource(source) }
        return queue
    }
}

/// What is wrong with mappings: of those at the start, all of it for the error; of those that are loaded later, notes.
private final class EngineFindings: Sendable {
    private let note: @Sendable (String) -> Void
    private let state = Mutex<(found: [Diagnostic], isRunning: Bool)>(([], false))

    init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

    /// What was found at the start.
    var all: [Diagnostic] { state.withLock { $0.found } }

    func beginRun() { state.withLock { $0.isRunning = true } }

    @Sendable
    func take(_ diagnostics: [Diagnostic]) {
        let isRunning = state.withLock { state in
            if !state.isRunning { state.found += diagnostics }
            return state.isRunning
        }
        if isRunning { diagnostics.forEach { note($0.text) } }
    }
}

/// Tells queues and the program what became of readings.
private final class EngineObserver: ReadingObserver {
    /// By the place of their sources.
    private let queues: [SubmissionQueue?]
    private let onRejection: (@Sendable (RejectedPayload) -> Void)?
    private let onDelivery: (@Sendable ([DeliveryReport]) -> Void)?

    init(_ queues: [SubmissionQueue?], _ configuration: EngineConfiguration) {
        self.queues = queues
        onRejection = configuration.onRejection
        onDelivery = configuration.onDelivery
    }

    func received(_ count: Int, source: Int) { queues[source]?.note(received: count) }

    func rejected(_ reason: Rejection, _ letter: StoredDeadLetter, source: Int?) {
        let reading = RejectedPayload(reason, letter)
        if let source { queues[source]?.note(rejected: reading) }
        onRejection?(reading)
    }

    func settled(_ settlements: [Settlement]) {
        guard let onDelivery else { return }
        let reports = settlements.flatMap(DeliveryReport.all)
        if !reports.isEmpty { onDelivery(reports) }
    }
}
