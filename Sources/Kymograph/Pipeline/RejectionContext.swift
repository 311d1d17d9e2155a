import KymographCore

/// What a lane knows around the payload that it handles, for the details of dead letters: who sent it, what was tried,
/// and which rule or limit stood in the way.
struct RejectionContext {
    /// Describes rejections by what the lane maps with.
    private var templates: NearestTemplates
    private var types: [String]
    /// The number of the type whose reading was last refused for it.
    var limitedType = -1
    /// The rule that has not let the last reading through, and why.
    var rule: String?
    /// Who sends what the lane reads now.
    var sender: Peer?
    /// What the list of peers calls the sender.
    private(set) var peer: String?
    /// Whose the readings of that peer are.
    private var patient = FixedPatient.unknown
    /// The device that its client's certificate names.
    private var device: CertifiedDevice?
    /// The one mapping that the sender's request has chosen.
    private var mapping: IdentifierText?

    init(_ set: MappingSet) {
        templates = NearestTemplates(set)
        types = set.types.map(\.name)
    }

    /// The lane maps `inputs`, by the numbers of their sources, with `set` from here on.
    mutating func adopt(_ set: MappingSet, _ inputs: [LaneInput]) {
        templates.adopt(set, templates: inputs.map(\.templates))
        types = set.types.map(\.name)
        limitedType = -1
    }

    /// The sender is one of the list of peers, or nil, and has chosen `mapping` alone.
    mutating func admit(_ admission: PeerAdmission?, mapping: IdentifierText?) {
        (peer, patient) = (admission?.name, admission?.fixedPatient ?? .unknown)
        (device, self.mapping) = (admission?.device, mapping)
    }

    /// What is known of a rejection: the rule, or the limit that no rule knows, and who sent the payload.
    mutating func text(
        _ detail: RejectionDetail, _ reason: Rejection, _ bytes: ByteView, source: Int, received: Instant
    ) -> String {
        var text = templates.text(detail, reason, bytes: bytes, source: source, received: received)
        let isTooLong = [.lineTooLong, .frameTooLong, .truncatedDatagram].contains(reason)
        if text.isEmpty, isTooLong { text = reason.explanation }
        if reason == .rejectedByRule || reason == .ruleFailed, let rule { text = join("rule \(rule)", text) }
        if [.typeNotAllowed, .afterStopDate, .typePaused].contains(reason) {
            text = join("type \(types.indices.contains(limitedType) ? types[limitedType] : "")", text)
        }
        guard let origin else { return text }
        return text.isEmpty ? origin : "\(text); \(origin)"
    }

    private func join(_ first: String, _ rest: String) -> String { rest.isEmpty ? first : "\(first), \(rest)" }

    /// Who sent the payload, and what is said of it; nil when that is nothing.
    private var origin: String? {
        // What is replayed comes by no connection.
        let isKnown = peer != nil || mapping != nil
        guard let sender = sender?.text ?? (isKnown ? "it came again" : nil) else { return nil }
        return sender + (mapping.map { "\(Peer.mappingText)\($0)" } ?? "")
            + (peer.map { "\(Peer.listedText)\($0)\(patient.text)\(device?.text ?? "")" } ?? "")
    }
}
