import KymographCore

/// A Patient or Device that entries of a row refer to, with nothing but its identifier: it goes with them, to be made
/// unless the server has it.
final class CarriedResource {
    /// The row that it came with.
    let row: Int64
    /// What it is.
    let identifier: ServerIdentifier
    /// What references to it say; nil in batches.
    let fullURL: String?
    /// The whole entry.
    let entry: JSONSlice
    /// Whether its receipt was given, or is not needed.
    var isReceipted: Bool
    /// Answers about it that said: later.
    var rebuffs = Rebuffs()

    init(row: Int64, identifier: ServerIdentifier, fullURL: String?, entry: JSONSlice, isReceipted: Bool = false) {
        self.row = row
        self.identifier = identifier
        self.fullURL = fullURL
        self.entry = entry
        self.isReceipted = isReceipted
    }

    /// Stands for a described Device in bundles that refer to it and do not bring the description: the server makes it
    /// from its identifier unless it has it.
    static func standIn(row: Int64, identifier: ServerIdentifier, fullURL: String?) -> CarriedResource? {
        let system = identifier.system.isEmpty ? "" : "\"system\":\(JSONNode.quoted(identifier.system.text)),"
        let query = identifier.query
        let url = fullURL.map { "\"fullUrl\":\(JSONNode.quoted($0))," } ?? ""
        let text =
            "{\(url)\"resource\":{\"resourceType\":\"\(identifier.type)\",\"identifier\":[{\(system)"
            + "\"value\":\(JSONNode.quoted(identifier.value.text))}]},\"request\":{\"method\":\"POST\","
            + "\"url\":\"\(identifier.type)\",\"ifNoneExist\":\(JSONNode.quoted(query))}}"
        guard let entry = JSONSlice(Array(text.utf8)) else { return nil }
        return CarriedResource(row: row, identifier: identifier, fullURL: fullURL, entry: entry, isReceipted: true)
    }

    /// Its name in receipts.
    var name: String { "\(identifier.type)?identifier=\(identifier.system)|\(identifier.value)" }
}
