import KymographCore

/// What is asked of each payload of one sender, besides whose readings it may bring: see docs/peers.md.
struct PayloadBounds {
    /// The one mapping that its request has chosen; nil for none.
    let mapping: IdentifierText?
    private let admission: PeerAdmission?
    /// Whether nothing is asked.
    let isNone: Bool
    /// Whether something is asked of each payload, and not only which mappings all of them are for.
    let asksOfEach: Bool
    /// Whose its readings are, where that is fixed.
    let owner: PayloadOwner?
    /// The source whose templates are chosen already.
    private var narrowed = -1

    /// Of a sender with `admission`, nil for anybody, and with `mapping` alone of those of the source.
    init(_ admission: PeerAdmission? = nil, mapping: IdentifierText? = nil) {
        (self.admission, self.mapping) = (admission, mapping)
        let grant = admission?.grant
        isNone = mapping == nil && !(grant?.boundsPayloads ?? false)
        asksOfEach = grant?.asksOfEach ?? false
        owner = grant?.rule.patient.map { PayloadOwner(device: nil, patient: $0) }
    }

    /// Whether a payload of `count` bytes may come now.
    func take(_ count: Int) -> Bool { admission?.take(bytes: count) ?? true }

    /// Whether the templates of `source` are still to be chosen; they are then.
    @inline(__always)
    mutating func isToBeNarrowed(_ source: Int) -> Bool {
        guard !isNone, narrowed != source else { return false }
        narrowed = source
        return true
    }

    /// The templates are others: they are to be chosen again.
    mutating func forgetTemplates() { narrowed = -1 }

    /// Those of `all`, the mappings of a source, that it may use; nil for all of them.
    func mappings(of all: [String]) -> [String]? {
        let allowed = admission?.grant?.allowed(all) ?? all
        let chosen = mapping.map { name in allowed.filter { IdentifierText($0) == name } } ?? allowed
        return chosen.count == all.count ? nil : chosen
    }
}
