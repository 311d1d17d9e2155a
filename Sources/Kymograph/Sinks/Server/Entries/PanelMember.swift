import KymographCore

/// An Observation of a block that a panel of the same block refers to.
struct PanelMember {
    /// How it is found on any server.
    var identifier: ServerIdentifier
    /// ``DeliveryEntry/target`` of its entry.
    var target: IdentifierText
    /// Whether it is named by the id that it is put under, not by the `fullUrl` of its entry.
    var isByID: Bool

    /// The members of `panel`; none unless all are entries of the block that bundles have.
    static func members(of panel: Entry, _ block: EntryBlock) -> [PanelMember] {
        guard block.form.memberReferences != .byIdentifier else { return [] }
        let references = (0..<panel.referenceCount).map { panel.reference($0) }.filter { $0.role == .member }
        let entries = references.map { block[$0.target] }
        guard entries.allSatisfy({ !$0.isUnwritten }) else { return [] }
        return entries.map { entry in
            PanelMember(
                identifier: ServerIdentifier(entry), target: DeliveryEntry.target(of: entry, block.form),
                isByID: block.form.memberReferences == .byID)
        }
    }
}
