/// An Observation of a row that a panel of the same row refers to.
struct PanelMember {
    /// How it is found on any server.
    var identifier: ServerIdentifier
    /// ``EntryRequest/target`` of its entry.
    var target: IdentifierText
    /// Whether it is named by the id that it is put under, not by the `fullUrl` of its entry.
    var isByID: Bool

    /// The members of `panel`; none unless all are entries of the row, which has these `contents`.
    static func members(of panel: RowContent, among contents: [RowContent]) -> [PanelMember] {
        guard let list = panel.resource["hasMember"] ?? panel.resource["related"] else { return [] }
        let references = list.elements ?? []
        let members = references.compactMap { PanelMember($0, contents) }
        return members.count == references.count ? members : []
    }

    private init?(_ reference: JSONSlice, _ contents: [RowContent]) {
        guard let url = (reference["target"] ?? reference)["reference"]?.string,
            let member = contents.first(where: { $0.entry["fullUrl"]?.string == url || $0.request.url == url }),
            let identifier = member.identifier
        else { return nil }
        self.identifier = identifier
        target = member.request.target
        isByID = member.request.url == url
    }
}
