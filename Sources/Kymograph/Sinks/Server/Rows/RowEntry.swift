/// A Patient or Device entry that comes with the Observations of a row, to be made unless the server has it.
final class CarriedResource {
    /// The row that it came with.
    let row: Int64
    /// What it is.
    let identifier: ServerIdentifier
    /// What references to it say; nil in batches.
    let fullURL: String?
    /// The whole entry.
    let entry: JSONSlice
    /// Whether its receipt was given.
    var isReceipted = false

    init(row: Int64, identifier: ServerIdentifier, fullURL: String?, entry: JSONSlice) {
        self.row = row
        self.identifier = identifier
        self.fullURL = fullURL
        self.entry = entry
    }

    /// Its name in receipts.
    var name: String { "\(identifier.type)?identifier=\(identifier.system)|\(identifier.value)" }
}

/// An entry of a row that is delivered for its own sake: an Observation.
final class RowEntry {
    /// The row that it came with.
    let row: Int64
    /// Whether the row is a transaction.
    let isTransaction: Bool
    /// The whole entry.
    let entry: JSONSlice
    /// The resource in it.
    let resource: JSONSlice
    /// How it is to be stored.
    let method: String
    let url: String
    let ifNoneExist: String?
    /// Its name in receipts.
    let name: String
    /// Whom and what it refers to.
    let subject: ServerIdentifier?
    let device: ServerIdentifier?
    let encounter: ServerIdentifier?
    /// The entries of its row that it refers to.
    let carried: [CarriedResource]
    /// The members that it has, if it is a panel.
    let members: [EntryReferences.Member]
    /// How often it was sent.
    var attempts = 0
    /// The ids that the server has, where they are asked for.
    var identity: ResolvedIdentity?

    init(
        row: OutboxRow, isTransaction: Bool, request: EntryRequest, entry: JSONSlice, resource: JSONSlice,
        references: EntryReferences
    ) {
        self.row = row.number
        self.isTransaction = isTransaction
        self.entry = entry
        self.resource = resource
        method = request.method
        url = request.url
        ifNoneExist = request.ifNoneExist
        let type = resource["resourceType"]?.string ?? "Resource"
        let search = request.ifNoneExist ?? request.url.split(separator: "?").dropFirst().first.map(String.init)
        name = resource["id"]?.string.map { "\(type)/\($0)" } ?? "\(type)?\(search ?? "")"
        subject = references.subject
        device = references.device
        encounter = references.encounter
        carried = references.carried
        members = references.members
        target = request.target
    }

    /// What the server is asked to change: two entries of one target must not be in one bundle.
    let target: String

    /// Entries with the same lane are delivered in order.
    var lane: ServerIdentifier { device ?? subject ?? ServerIdentifier(type: "", system: "", value: target) }

    /// Bytes that it adds to a bundle, without the entries that it refers to.
    var size: Int { entry.range.count + 1 }
}

/// The `request` of an entry.
struct EntryRequest {
    var method: String
    var url: String
    var ifNoneExist: String?

    init?(_ request: JSONSlice?) {
        guard let members = request?.members else { return nil }
        func text(_ name: String) -> String? { members.first { $0.name == name }?.value.string }
        guard let method = text("method"), let url = text("url") else { return nil }
        self.method = method
        self.url = url
        ifNoneExist = text("ifNoneExist")
    }

    /// What the server is asked to change.
    var target: String { ifNoneExist.map { "\(url)?\($0)" } ?? url }
}

/// Whom and what an Observation refers to.
struct EntryReferences {
    /// An Observation of the same row that a panel refers to.
    struct Member {
        var identifier: ServerIdentifier
        /// ``EntryRequest/target`` of its entry.
        var target: String
        /// Whether it is named by the id that it is put under, not by the `fullUrl` of its entry.
        var isByID: Bool
    }

    var subject: ServerIdentifier?
    var device: ServerIdentifier?
    var encounter: ServerIdentifier?
    var carried: [CarriedResource] = []
    var members: [Member] = []
}
