/// The audit trail of a pipeline; none without a store.
struct PipelineAudit: Sendable {
    /// Where `notes` write what is for the audit.
    let log: AuditedLog?
    /// What brings the trail to a server; nil without one.
    let delivery: AuditDelivery?
    /// Takes messages for the operator, and what is for the audit with them.
    let notes: LogTaker

    /// The trail in `store`; `notes` take what is for the operator.
    init(_ settings: PipelineSettings, _ store: Store?, _ notes: @escaping LogTaker) throws(PipelineError) {
        log = store.map { AuditedLog(AuditTrail(dataDirectory: $0.directory.path), notes: notes) }
        self.notes = log.map { $0.take } ?? notes
        delivery = try PipelineOpening.auditDelivery(settings, store, self.notes)
    }
}
