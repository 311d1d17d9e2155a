import KymographCore

/// What a run that ended badly has received and has nowhere: for the message to the operator.
struct LossAtEnd {
    /// The balance at the end.
    let summary: PipelineSummary
    /// Readings of this run that a commit has made durable; nil without a store.
    let kept: Int?
    /// Whether everything that was received has been delivered.
    let isDrained: Bool
    /// Directory of the store.
    let directory: String?

    /// Readings that are lost unless their senders send them again. Without a store it may be fewer: a sink may have
    /// taken some.
    private var count: Int { isDrained ? 0 : max(0, summary.received - (kept ?? summary.rejectedTotal)) }

    /// Readings that sources have dropped; a store counts them as kept.
    private var dropped: Int { summary.shards.rejected[Int(Rejection.bufferFull.rawValue)] }

    /// How many readings are lost, and where the others are; empty when nothing was received.
    var text: String {
        guard summary.received > 0 else { return "" }
        let readings = CountText.of(count, "reading")
        guard let directory else {
            let rest = "of which the sink may have taken some"
            return count == 0 ? "" : "up to \(readings) lost, \(rest); send all of them again"
        }
        let rest = "what is in the store in \(directory) is delivered at the next start"
        guard count == 0 else { return "\(readings) lost; send them again; \(rest)" }
        return dropped == 0 ? "no reading is lost: \(rest)" : "none but the \(dropped) dropped ones is lost: \(rest)"
    }
}
