import KymographCore
import Synchronization

/// Brings the records of the audit trail to a FHIR server, as AuditEvents: those of this process and of commands, in
/// their order, by a thread of its own.
///
/// A record stays in the trail whatever becomes of its event. What the server has is noted after it has it
/// (``AuditCursor``), so that it may get some twice after a crash: under the same ids.
final class AuditDelivery: Sendable {
    /// Milliseconds between two looks at the trail.
    private static let interval: Int32 = 1_000
    /// What is left at the end may take so long.
    private static let patience = Duration.seconds(2)
    /// Events after which it is noted how far the server has come.
    private static let eventsOfNote = 50

    private struct State {
        var facts = AuditDeliveryFacts()
        /// What kind of trouble it is that nothing is taken; nil while something is.
        var trouble: String?
        /// Why the trail, or how far it was sent, cannot be read; nil while both can.
        var fileTrouble: String?
        /// Why it cannot be noted how far it was sent; nil while it can.
        var cursorTrouble: String?
    }

    private let dataDirectory: String
    private let base: String
    private let timeout: Int
    private let transport: CurlTransport
    private let authorizer: any RequestAuthorizer
    private let notes: LogTaker
    private let bell: Doorbell
    private let state = Mutex(State())
    private let isEnding = Atomic(false)
    private let endsAt = Mutex<ContinuousClock.Instant?>(nil)
    private let hasEnded = Atomic(false)

    /// From the trail in `dataDirectory` to `server`. Files are looked at here.
    ///
    /// - Throws: ``PipelineError`` when a file of the access cannot be used.
    init(_ server: ServerSettings, dataDirectory: String, notes: @escaping LogTaker) throws(PipelineError) {
        if let obstacle = server.obstacles(name: "audit").first {
            throw PipelineError(message: obstacle.message, exitCode: obstacle.exitCode)
        }
        let access = server.access
        (self.dataDirectory, base, timeout) = (dataDirectory, server.base, access.requestTimeout)
        transport = access.makeTransport()
        self.notes = notes
        do throws(ServerAccess.Fault) {
            authorizer = try access.makeAuthorizer(transport)
        } catch {
            throw PipelineError(message: "audit: \(error.description)", exitCode: ExitStatus.config)
        }
        do throws(SystemError) { bell = try Doorbell() } catch { throw PipelineError(error) }
    }

    /// Asks `server` whether it is one that AuditEvents can be sent to; what there is to say if so. Waits for its
    /// answer.
    ///
    /// - Throws: ``PipelineError`` when it is none, or does not answer.
    static func asked(_ server: ServerSettings) throws(PipelineError) -> String {
        let access = server.access
        let transport = access.makeTransport()
        defer { transport.close() }
        let authorizer: any RequestAuthorizer
        do throws(ServerAccess.Fault) {
            authorizer = try access.makeAuthorizer(transport)
        } catch {
            throw PipelineError(message: error.description, exitCode: ExitStatus.config)
        }
        let asked = AuditServer(base: server.base, timeout: access.requestTimeout, transport, authorizer)
        guard let failure = asked.ask() else { return "\(server.base) answers, for AuditEvents" }
        throw PipelineError(message: failure.message, exitCode: ExitStatus.unavailable)
    }

    /// What was sent so far.
    var facts: AuditDeliveryFacts { state.withLock { $0.facts } }

    /// Starts the thread.
    func start() {
        WorkerThread.start("kymo-audit-sink") { [self] in
            run()
            hasEnded.store(true, ordering: .releasing)
        }
    }

    /// Begins to end: sends what the trail has by now, if the server takes it; the next start sends the rest.
    func finish() {
        endsAt.withLock { $0 = .now + Self.patience }
        isEnding.store(true, ordering: .releasing)
        bell.ring()
    }

    /// Whether it has ended, or has had two seconds for it.
    var isDone: Bool {
        hasEnded.load(ordering: .acquiring) || endsAt.withLock { $0.map { $0 < .now } ?? false }
    }

    /// Fails what is under way.
    func close() { WorkerThread.start("kymo-audit-end") { [transport] in transport.close() } }

    // MARK: The thread

    /// What the thread goes by.
    private struct Progress {
        var sender: AuditSender
        var tail: AuditTail
        /// How far the server has come; nil until that is read.
        var cursor: AuditCursor?
        /// Failures since something was sent.
        var failures = 0
        /// Records since it was noted how far the server has come.
        var unnoted = 0
    }

    private func run() {
        var progress = Progress(
            sender: AuditSender(AuditServer(base: base, timeout: timeout, transport, authorizer)),
            tail: AuditTail(dataDirectory: dataDirectory))
        while true {
            // Before the look: what is noted until it is set is seen then.
            let isLast = isEnding.load(ordering: .acquiring)
            if isLast, isDone { return }
            switch round(&progress) {
            case .nothing:
                if isLast { return }
                rest(milliseconds: Self.interval)
            case .sent: break
            case .failed(let wait):
                // The next start goes on from here.
                if isLast { return }
                let own = Int64(1_000) << Int64(min(progress.failures, 6))
                rest(milliseconds: Int32(clamping: max(own, wait)))
                progress.failures += 1
            }
        }
    }

    private func rest(milliseconds: Int32) {
        bell.sleep(milliseconds: milliseconds) { isEnding.load(ordering: .acquiring) }
    }

    /// What came of a look at the trail.
    private enum Outcome {
        case nothing, sent
        /// For how many milliseconds the server asks to be left alone.
        case failed(wait: Int64)
    }

    private func round(_ progress: inout Progress) -> Outcome {
        guard let items = read(&progress) else { return .failed(wait: 0) }
        guard !items.isEmpty else { return .nothing }
        defer { note(&progress) }
        var sender = progress.sender
        defer { progress.sender = sender }
        let stop = sender.send(items) {
            isEnding.load(ordering: .acquiring) && isDone
        } done: { item, fate in
            settle(item, fate, &progress)
        }
        switch stop {
        case .failed(let failure): return fail(failure)
        case .ended: return .failed(wait: 0)
        case nil: return .sent
        }
    }

    /// A record need not be sent any more.
    private func settle(_ item: AuditTail.Item, _ fate: AuditSender.Fate, _ progress: inout Progress) {
        switch fate {
        case .stored: noteSent()
        case .leftOut(let reason): noteRefused(item, reason)
        }
        progress.failures = 0
        progress.cursor?.head = item.head
        progress.unnoted += 1
        if progress.unnoted >= Self.eventsOfNote { note(&progress) }
    }

    /// The next records; nil when files cannot be read.
    private func read(_ progress: inout Progress) -> [AuditTail.Item]? {
        let message: String
        do {
            let cursor = try progress.cursor ?? AuditCursor.read(in: dataDirectory, for: base)
            progress.cursor = cursor
            let items = try progress.tail.records(after: cursor.head)
            state.withLock { $0.fileTrouble = nil }
            return items
        } catch let error as AuditError {
            message = error.message
        } catch {
            message = (error as? SystemError)?.message ?? "\(error)"
        }
        let isNew = state.withLock { state in
            defer { state.fileTrouble = message }
            return state.fileTrouble != message
        }
        if isNew { notes(.error("\(message); AuditEvents are sent when it can be read")) }
        return nil
    }

    /// Notes how far the server has come.
    private func note(_ progress: inout Progress) {
        guard progress.unnoted > 0, let cursor = progress.cursor else { return }
        progress.unnoted = 0
        var message: String?
        do throws(SystemError) { try cursor.write(in: dataDirectory) } catch { message = error.message }
        let isNew = state.withLock { state in
            defer { state.cursorTrouble = message }
            return state.cursorTrouble != message
        }
        guard isNew, let message else { return }
        notes(.warning("\(message); AuditEvents of this run may be sent again by the next one"))
    }

    private func noteSent() {
        let former = state.withLock { state in
            state.facts.sent += 1
            state.facts.isUp = true
            return state.trouble.take()
        }
        guard former != nil else { return }
        notes(.change(.info, "audit.again", ("server", base), "\(base) takes AuditEvents again"))
    }

    private func noteRefused(_ item: AuditTail.Item, _ reason: String) {
        state.withLock { $0.facts.refused += 1 }
        notes(
            .error(
                "\(base) refuses the AuditEvent of record \(item.record.sequence) of the audit trail (\(reason)): it "
                    + "is in the trail alone"))
    }

    private func fail(_ failure: AuditServer.Failure) -> Outcome {
        let isNew = state.withLock { state in
            defer { (state.trouble, state.facts.isUp) = (failure.kind, false) }
            return state.trouble != failure.kind
        }
        if isNew, !isEnding.load(ordering: .acquiring) {
            notes(
                .change(
                    .error, "audit.away", ("server", base),
                    "\(failure.message); AuditEvents wait in the audit trail, and are sent when they are taken"))
        }
        return .failed(wait: (failure.wait ?? 0) / 1_000_000)
    }
}
