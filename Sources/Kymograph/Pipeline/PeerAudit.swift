import KymographCore

/// Entries of the log about what is refused of peers: whatever its level is, and folded by peer and reason.
enum PeerAudit {
    private static let reasons: [Rejection] = [.deviceNotAllowed, .patientNotAllowed, .rateLimited, .unknownPeer]

    /// Of datagrams with numbers of before: a network delivers twice, too, and late. They are counted alone.
    private static let ofTheNetwork: [Rejection] = [.sequenceRepeated, .sequenceStale]

    /// Notes that something of the peer called `name` was refused at `source`, if `reason` is one of peers; nil for a
    /// sender that is none of the list, or has shown no key.
    static func note(_ reason: Rejection, of name: String?, source: String, to control: PipelineControl) {
        let isOfPeers = reasons.contains(reason) && (name != nil || reason == .unknownPeer)
        guard isOfPeers || reason.isUnproven, !ofTheNetwork.contains(reason) else { return }
        let stranger =
            reason.isUnproven ? "a sender that has shown no key" : "a sender that is none of the list of peers"
        let who = name.map { "the peer \($0)" } ?? stranger
        var entry = LogEntry.deed(
            .peerRefused, by: name.map { "peer \($0)" } ?? "", "\(source): \(who) is refused: \(reason.name)",
            fields: [("source", .text(source)), ("peer", .text(name ?? "")), ("reason", .text(reason.name))])
        (entry.kind, entry.isFolded) = ("peer.refused \(source) \(reason.name) \(name ?? "")", true)
        control.note(entry)
    }

    /// Says that a client of `source` has not shown who it is; `reason` is a name of a fixed list.
    static func refusal(of reason: String, source: String) -> LogEntry {
        var entry = LogEntry.deed(
            .clientRefused, by: "", "\(source): a client that has not shown who it is was refused: \(reason)",
            fields: [("source", .text(source)), ("reason", .text(reason))])
        (entry.kind, entry.isFolded) = ("client.refused \(source) \(reason)", true)
        return entry
    }
}
