import KymographCore

/// A row of the outbox as an event hub gets it: each event, or resource, of its block.
final class HubBlock {
    /// Number of the row.
    let row: Int64
    private let bytes: [UInt8]
    private var index = EntryIndex()

    /// The events of `row`; nil when it has none that can be read.
    init?(_ row: OutboxRow) {
        (self.row, bytes) = (row.number, row.body)
        guard bytes.withByteView({ index.read($0) != nil }) else { return nil }
    }

    fileprivate func withEntries<Result>(_ body: (EntryBlock) -> Result) -> Result {
        bytes.withByteView { body(index.again($0)) }
    }

    /// All of them, in their order. Patients and Devices that are there to be referred to are none.
    func events() -> [HubEvent] {
        withEntries { block in
            var form = block.form
            form.format = .ndjson
            return (0..<block.count).filter { !block[$0].kind.isBare && !block[$0].isUnwritten }.map { number in
                let entry = block[number]
                var body = ByteWriter(capacity: 1_024)
                block.append(resource: entry, as: form, to: &body)
                return HubEvent(self, number, entry, key: block.device(of: entry), body: body.view)
            }
        }
    }

    /// What a receipt says of entry `number`.
    fileprivate func subject(_ number: Int) -> ReceiptSubject { withEntries { ReceiptSubject(number, of: $0) } }

    /// Entry `number` with what it refers to, as a block that can be sent again.
    func excerpt(_ number: Int) -> [UInt8] { withEntries { $0.excerpt(number) } }
}

extension EntryBlock {
    /// The identifier of the device that `entry` is of, in full; without a device the patient's, or its own.
    fileprivate func device(of entry: Entry) -> ByteView {
        guard entry.kind != .event else { return entry.value }
        let party = (entry.device ?? entry.patient).map { self[$0] } ?? entry
        return party.whole.count > 0 ? party.whole : party.value
    }
}

/// One event on its way to a hub.
final class HubEvent {
    /// Bytes that surround an event in its request, about: names of members and its id.
    private static let frame = 160
    /// Most characters of a partition key (Azure Event Hubs quotas).
    private static let longestKey = 128

    /// The row that it came with.
    let row: Int64
    /// What it is called in dead letters and receipts: type and id of its resource, or `Event` and ``id``.
    let name: String
    /// The type of the measurement, or of the resource.
    let type: String
    /// SHA-256 of the body: what is sent again has the same.
    let id: String
    /// Events of one key stay in their order.
    let key: IdentifierText
    /// Text of the event.
    let body: [UInt8]
    /// How often it was sent.
    var attempts = 0
    private let block: HubBlock
    private let number: Int

    fileprivate init(_ block: HubBlock, _ number: Int, _ entry: Entry, key: ByteView, body: ByteView) {
        (self.block, self.number, row) = (block, number, block.row)
        (type, id, self.body) = (entry.type.string, HubEvent.digest(of: body), body.array)
        name = entry.kind == .event ? "Event/\(id)" : "\(type)/\(entry.id.string)"
        let text = IdentifierText(utf8: key.array)
        self.key = key.count <= HubEvent.longestKey ? text : IdentifierText(HubEvent.digest(of: key))
    }

    private static func digest(of bytes: ByteView) -> String {
        var writer = ByteWriter(capacity: 64)
        writer.appendHex(Digest256.openSSL.of(bytes))
        return writer.view.string
    }

    /// What a receipt says of it.
    var subject: ReceiptSubject { block.subject(number) }

    /// Lends the entry.
    func withEntry(_ body: (Entry) -> Void) { block.withEntries { body($0[number]) } }

    /// Whether it is a reading, not a resource.
    var isReading: Bool { name.hasPrefix("Event/") }

    /// It with what it refers to, as a block that can be sent again.
    var excerpt: [UInt8] { block.excerpt(number) }

    /// Bytes that it adds to a request, at most: quotes and control characters are longer there.
    var size: Int {
        HubEvent.frame + 2 * key.utf8.count + type.utf8.count + name.utf8.count
            + body.reduce(0) { $0 + ($1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 2 : $1 < 0x20 ? 6 : 1) }
    }

    /// Appends its element of a batch (Azure, "Send batch events"): `{"Body":"…","UserProperties":{…}}`, with the
    /// partition key if `hasKey`, since headers are not looked at in a batch.
    func append(hasKey: Bool, to writer: inout ByteWriter) {
        writer.append("{\"Body\":\"")
        writer.appendJSON(body)
        writer.append("\"")
        if hasKey {
            writer.append(",\"BrokerProperties\":{\"PartitionKey\":\"")
            writer.appendJSON(Array(key.utf8))
            writer.append("\"}")
        }
        writer.append(",\"UserProperties\":{\"id\":\"")
        writer.append(Array(id.utf8))
        writer.append(isReading ? "\",\"type\":\"" : "\",\"resource\":\"")
        writer.appendJSON(isReading ? type : name)
        writer.append("\"}}")
    }
}
