import Synchronization

/// Writes entries of the log that are for the audit to the audit trail first.
final class AuditedLog: Sendable {
    private let trail: AuditTrail
    private let notes: LogTaker
    /// What keeps the trail from being written; nil while nothing does.
    private let trouble = Mutex<String?>(nil)
    /// Whether a thread writes what waits.
    private let isWriting = Atomic(false)
    /// Whether ``finish()`` was called: from then on nobody calls ``settle()``.
    private let isFinished = Atomic(false)

    init(_ trail: AuditTrail, notes: @escaping LogTaker) { (self.trail, self.notes) = (trail, notes) }

    /// Hands `entry` on. With the number and digest of its record, so that whoever collects the log can tell when the
    /// trail was changed.
    @Sendable func take(_ entry: LogEntry) {
        guard entry.deed != nil else { return notes(entry) }
        var entry = entry
        let head = tried { () throws(AuditError) in try trail.note(entry) }
        if let head { entry.fields.append(("audit", .text(head.text))) }
        notes(entry)
        // A thread that has outlived the rest may wait for the disk: what it notes would never be written.
        if isFinished.load(ordering: .acquiring) { finish() }
    }

    /// Writes to the trail alone what this process does: of what each start does, the log has its own lines.
    func record(_ deeds: [AuditDeed]) {
        _ = tried { () throws(AuditError) in try trail.append(deeds) }
    }

    /// Lets a thread write to the trail what waits. To be called now and then; waits for no disk.
    func settle() {
        trail.collect()
        guard trail.isWaitedFor, !isWriting.exchange(true, ordering: .acquiring) else { return }
        WorkerThread.start("kymo-audit") { [self] in
            write()
            isWriting.store(false, ordering: .releasing)
        }
    }

    /// Writes what waits, at the end; and from then on each entry as it comes.
    func finish() {
        isFinished.store(true, ordering: .releasing)
        trail.collect(isLast: true)
        write()
    }

    private func write() { _ = tried { () throws(AuditError) in try trail.append([]) } }

    /// What `body` has written, nil for nothing; says when that has begun to fail, and when it has not any more.
    private func tried(_ body: () throws(AuditError) -> AuditHead?) -> AuditHead? {
        do throws(AuditError) {
            guard let head = try body() else { return nil }
            if let former = trouble.withLock({ $0.take() }) {
                notes(.info("the audit trail is written again; before: \(former)"))
            }
            return head
        } catch {
            let isNew = trouble.withLock { known in
                defer { known = error.message }
                return known != error.message
            }
            if isNew { notes(.error("\(error.message); what is done meanwhile waits to be written")) }
            return nil
        }
    }
}
