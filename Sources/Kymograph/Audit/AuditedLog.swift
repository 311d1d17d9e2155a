import Synchronization

/// Writes entries of the log that are for the audit to the audit trail first.
final class AuditedLog: Sendable {
    private let trail: AuditTrail
    private let notes: LogTaker
    /// What keeps the trail from being written; nil while nothing does.
    private let trouble = Mutex<String?>(nil)

    init(_ trail: AuditTrail, notes: @escaping LogTaker) { (self.trail, self.notes) = (trail, notes) }

    /// Hands `entry` on. With the number and digest of its record, so that whoever collects the log can tell when the
    /// trail was changed.
    @Sendable func take(_ entry: LogEntry) {
        guard entry.isAudit else { return notes(entry) }
        var entry = entry
        tried { () throws(AuditError) in
            if let head = try trail.note(entry) { entry.fields.append(("audit", .text(head.text))) }
        }
        notes(entry)
    }

    /// Writes to the trail what waits. To be called about every second.
    func settle(isLast: Bool = false) {
        tried { () throws(AuditError) in try trail.settle(isLast: isLast) }
    }

    private func tried(_ body: () throws(AuditError) -> Void) {
        do throws(AuditError) {
            try body()
            if let former = trouble.withLock({ take(&$0) }) {
                notes(.info("the audit trail is written again; before: \(former)"))
            }
        } catch {
            let isNew = trouble.withLock { known in
                defer { known = error.message }
                return known != error.message
            }
            guard isNew else { return }
            notes(.error("\(error.message); what is done meanwhile is in the log alone"))
        }
    }

    private func take(_ text: inout String?) -> String? {
        defer { text = nil }
        return text
    }
}
