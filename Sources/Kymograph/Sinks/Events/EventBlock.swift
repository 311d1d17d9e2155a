import KymographCore

/// A row of the outbox as event hubs and topics get it: each event, or resource, of its block.
final class EventBlock {
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
    func events() -> [EventMessage] {
        withEntries { block in
            var form = block.form
            form.format = .ndjson
            return (0..<block.count).filter { !block[$0].kind.isBare && !block[$0].isUnwritten }.map { number in
                let entry = block[number]
                var body = ByteWriter(capacity: 1_024)
                block.append(resource: entry, as: form, to: &body)
                return EventMessage(self, number, entry, key: block.device(of: entry), body: body.view)
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

/// One event on its way to a hub or a topic.
final class EventMessage {
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
    private let block: EventBlock
    private let number: Int

    fileprivate init(_ block: EventBlock, _ number: Int, _ entry: Entry, key: ByteView, body: ByteView) {
        (self.block, self.number, row) = (block, number, block.row)
        (type, id, self.body) = (entry.type.string, EventMessage.digest(of: body), body.array)
        name = entry.kind == .event ? "Event/\(id)" : "\(type)/\(entry.id.string)"
        self.key = IdentifierText(utf8: key.array)
    }

    /// SHA-256 of `bytes`, in hexadecimal digits.
    static func digest(of bytes: ByteView) -> String {
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
}

extension OutboxConsumer {
    /// Notes that `event` is taken, which was answered by `status`. One receipt for each reading is kept only where
    /// somebody wants them; that of a resource tells which version of it was sent last.
    func finish(_ event: EventMessage, status: Int, keepsReceipt: Bool) {
        event.withEntry { noteTaken($0) }
        guard keepsReceipt || !event.isReading else { return finishWithoutReceipt(row: event.row) }
        var receipt = DeliveryReceipt(
            row: event.row, resource: event.name, status: status, location: "", version: "",
            attempts: event.attempts, subject: keepsReceipt ? event.subject : nil)
        receipt.isSent = true
        keep(receipt)
        finishEntry(of: event.row)
    }

    /// Notes that `event` will never be taken.
    func discard(_ event: EventMessage, _ reason: Rejection, _ detail: String) {
        keep(
            UndeliverableEntry(
                row: event.row, resource: event.name, reason: reason, detail: detail, bytes: event.excerpt,
                attempts: event.attempts))
        finishEntry(of: event.row)
    }
}
