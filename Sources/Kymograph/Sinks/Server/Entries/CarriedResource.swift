import KymographCore
import KymographTemplates

/// A Patient or Device that entries of a block refer to, with nothing but its identifier: it goes with them, to be made
/// unless the server has it.
///
/// Of a described Device, it stands in bundles that refer to it and do not bring the description: the server makes the
/// Device from its identifier unless it has it.
final class CarriedResource {
    private let block: DeliveryBlock
    private let number: Int
    /// What it is.
    let identifier: ServerIdentifier
    /// What references to it say; nil in batches.
    let fullURL: String?
    /// Whether it stands for a described Device.
    private let isStandIn: Bool
    /// Bytes that it adds to a bundle.
    let size: Int
    /// Whether its receipt was given, or is not needed.
    var isReceipted: Bool
    /// Answers about it that said: later.
    var rebuffs = Rebuffs()

    /// Entry `number` of `entries`, which are those of `block`.
    init(_ block: DeliveryBlock, _ number: Int, _ entries: EntryBlock) {
        self.block = block
        self.number = number
        let entry = entries[number]
        identifier = ServerIdentifier(entry)
        fullURL = block.form.refersToEntries ? entry.fullURL.string : nil
        isStandIn = !entry.kind.isBare
        isReceipted = isStandIn
        var text = ByteWriter(capacity: 512)
        CarriedResource.write(entry, entries, identifier, fullURL, isStandIn: isStandIn, into: &text)
        size = text.count + 1
    }

    /// The row that it came with.
    var row: Int64 { block.row }

    /// Its name in receipts.
    var name: String { "\(identifier.type)?identifier=\(identifier.system)|\(identifier.value)" }

    /// Writes it as an entry of a bundle, with its `fullUrl` if it has one and `isReferred`.
    func write(isReferred: Bool, into output: inout ByteWriter) {
        let url = isReferred ? fullURL : nil
        block.withEntries { entries in
            let entry = entries[number]
            if url == nil, fullURL != nil, !isStandIn {
                output.append("{\"resource\":")
                entries.append(resource: entry, as: block.form, to: &output)
                output.append(",\"request\":")
                output.appendRequest(of: entry, as: block.form)
                output.append("}")
            } else {
                CarriedResource.write(entry, entries, identifier, url, isStandIn: isStandIn, into: &output)
            }
        }
    }

    private static func write(
        _ entry: Entry, _ entries: EntryBlock, _ identifier: ServerIdentifier, _ fullURL: String?, isStandIn: Bool,
        into output: inout ByteWriter
    ) {
        guard isStandIn else { return entries.append(entry, as: entries.form, to: &output) }
        let system = identifier.system.isEmpty ? "" : "\"system\":\(JSONText.quoted(identifier.system.text)),"
        let url = fullURL.map { "\"fullUrl\":\(JSONText.quoted($0))," } ?? ""
        let text =
            "{\(url)\"resource\":{\"resourceType\":\"\(identifier.type)\",\"identifier\":[{\(system)"
            + "\"value\":\(JSONText.quoted(identifier.value.text))}]},\"request\":{\"method\":\"POST\","
            + "\"url\":\"\(identifier.type)\",\"ifNoneExist\":\(JSONText.quoted(identifier.query))}}"
        output.append(Array(text.utf8))
    }

    /// It and nothing else, as a block.
    var excerpt: [UInt8] { block.excerpt(number) }
}
