import KymographCore

/// An entry of a row that is delivered for its own sake: an Observation, another resource of readings, or what
/// describes a Device.
final class RowEntry {
    /// The row that it came with.
    let row: Int64
    /// Whether the row is a transaction.
    let isTransaction: Bool
    /// The whole entry.
    let entry: JSONSlice
    /// The resource in it.
    let resource: JSONSlice
    /// Type of the resource.
    let type: String
    /// How it is to be stored.
    let method: String
    let url: String
    let ifNoneExist: String?
    /// Its name in receipts.
    let name: String
    /// The first identifier of the resource.
    let identifier: ServerIdentifier?
    /// The Patient or Device that this is, where the server finds it by its identifier: others may refer to it.
    let described: ServerIdentifier?
    /// The Patients, Devices and Encounters that it refers to, in the order of its References.
    let references: [EntryReference]
    /// What those of them need that are made for it.
    let carried: [CarriedResource]
    /// Who it is about.
    let patient: ServerIdentifier?
    /// What took its reading; not the gateway.
    let device: ServerIdentifier?
    let gateway: ServerIdentifier?
    let encounter: ServerIdentifier?
    /// The members that it has, if it is a panel.
    let members: [PanelMember]
    /// How often it was sent.
    var attempts = 0
    /// Answers about it that said: later.
    var rebuffs = Rebuffs()
    /// The ids that the server has, where they are asked for.
    var identity: ResolvedIdentity?
    /// When they were asked for.
    var mark: LookupMark?
    /// Whether the server may have it, from an attempt that it has not answered.
    var mayBeStored = false

    init(
        row: OutboxRow, isTransaction: Bool, content: RowContent, references: [EntryReference],
        carried: [CarriedResource], members: [PanelMember], systems: ReferenceSystems
    ) {
        self.row = row.number
        self.isTransaction = isTransaction
        entry = content.entry
        resource = content.resource
        type = content.type
        method = content.request.method
        url = content.request.url
        ifNoneExist = content.request.ifNoneExist
        let search = ifNoneExist ?? url.split(separator: "?").dropFirst().first.map(String.init)
        name = resource["id"]?.string.map { "\(content.type)/\($0)" } ?? "\(content.type)?\(search ?? "")"
        identifier = content.identifier
        described = content.findable
        self.references = references
        self.carried = carried
        self.members = members
        target = content.request.target
        let targets = references.map(\.target)
        patient = targets.first { $0.type == "Patient" }
        device = targets.first { $0.type == "Device" && !systems.isGateway($0) }
        gateway = targets.first { systems.isGateway($0) }
        encounter = targets.first { $0.type == "Encounter" }
    }

    /// What the server is asked to change: two entries of one target must not be in one bundle.
    let target: IdentifierText

    /// Entries with the same lane are delivered in order.
    var lane: ServerIdentifier {
        described ?? device ?? patient ?? gateway
            ?? ServerIdentifier(type: "", system: "", value: target)
    }

    /// The whole identifier of the resource, where the server searches for what stands for a long one; else empty.
    var wholeIdentifier: IdentifierText {
        guard identifier?.value.text.hasPrefix("sha256:") == true else { return "" }
        let all = resource["identifier"]?.elements ?? []
        let whole = all.first { $0["system"]?.string == "urn:kymograph:full-identifier" }
        return IdentifierText(whole?["value"]?.string ?? "")
    }

    /// The Patients and Devices that it brings or describes, to be made unless the server has them.
    var brought: [ServerIdentifier] { carried.map(\.identifier) + [described].compactMap { $0 } }

    /// Bytes that it adds to a bundle, without the entries that it refers to.
    var size: Int { entry.range.count + 1 }

    /// A bundle of this entry and what it refers to, as the row has them, in one line.
    var ownBundle: [UInt8] {
        var bundle = Array(
            #"{"resourceType":"Bundle","type":"\#(isTransaction ? "transaction" : "batch")","entry":["#.utf8)
        for resource in carried {
            bundle += resource.entry.bytes
            bundle += ",".utf8
        }
        // Its members are not in this bundle.
        var form = EntryForm(namesMembers: members.contains { !$0.isByID })
        form.version = resource["related"] == nil ? .r4 : .stu3
        form.write(self, into: &bundle)
        bundle += "]}\n".utf8
        return bundle
    }
}
