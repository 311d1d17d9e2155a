import KymographCore
import KymographTemplates

/// A row of the outbox as a database gets it: the resources of its block, which stay where they are.
final class PostgresBlock {
    /// Number of the row.
    let row: Int64
    private let bytes: [UInt8]
    private var index = EntryIndex()

    /// The resources of `row`; nil when it has none that can be read, as what waited for a sink of events.
    init?(_ row: OutboxRow) {
        (self.row, bytes) = (row.number, row.body)
        guard bytes.withByteView({ index.read($0) != nil }) else { return nil }
        let hasEvents = withEntries { block in (0..<block.count).contains { block[$0].kind == .event } }
        if hasEvents { return nil }
    }

    /// Lends the entries.
    fileprivate func withEntries<Result>(_ body: (EntryBlock) -> Result) -> Result {
        bytes.withByteView { body(index.again($0)) }
    }

    /// All of them, in their order. Patients and Devices that are there to be referred to are none.
    func entries() -> [PostgresEntry] {
        withEntries { block in
            (0..<block.count).filter { !block[$0].kind.isBare && !block[$0].isUnwritten }
                .map { PostgresEntry(self, $0, block) }
        }
    }
}

/// One resource on its way to a database.
final class PostgresEntry {
    /// Why a resource cannot be stored.
    struct Unfit: Error {
        /// In words, without anything of it.
        var detail: String
    }

    private let block: PostgresBlock
    private let number: Int
    /// What it is called in dead letters and receipts.
    let name: String
    /// What tells it from others in the tables: type, system and identifier in full.
    let key: IdentifierText
    /// Bytes of its resource, about.
    let size: Int
    /// How often it was sent.
    var attempts = 0

    fileprivate init(_ block: PostgresBlock, _ number: Int, _ entries: EntryBlock) {
        (self.block, self.number) = (block, number)
        let entry = entries[number]
        let identifier = entry.whole.count > 0 ? entry.whole : entry.value
        key = IdentifierText(utf8: entry.type.array + [0] + entry.system.array + [0] + identifier.array)
        let isNamed = entry.id.count > 0
        name = "\(entry.type.string)/\((isNamed ? entry.id : identifier).string)"
        size = entry.body.count
    }

    /// The row that it came with.
    var row: Int64 { block.row }

    /// What orders it among all entries of its store: one row may have several versions, the last of which counts.
    var sequence: Int64 { OutboxRow.sequence(of: number, in: row) }

    /// Lends the entry.
    func withEntry(_ body: (Entry) -> Void) { block.withEntries { body($0[number]) } }

    /// What a receipt says of it.
    var subject: ReceiptSubject { block.withEntries { ReceiptSubject(number, of: $0) } }

    /// It with what it refers to, as a block that can be sent again.
    var excerpt: [UInt8] { block.withEntries { $0.excerpt(number) } }

    /// Adds its row to `entries`, at `place` of a batch, and those of its values to `values`. Whether it is an
    /// Observation.
    ///
    /// - Throws: ``Unfit``, with rows that are not whole.
    func addRows(
        at place: Int, to entries: inout CopyWriter, _ values: inout CopyWriter
    ) throws(Unfit) -> Bool {
        let (json, type, name, encounter) = block.withEntries { block in
            let entry = block[number]
            var form = block.form
            form.format = .ndjson
            var json = ByteWriter(capacity: 1_024)
            block.append(resource: entry, as: form, to: &json)
            let encounter = entry.encounter.map { IdentifierText(utf8: $0.value.array) }
            return (json.view.array, entry.type.string, ReadingTypes.name(of: entry), encounter)
        }
        guard !PostgresEntry.hasNUL(json) else { throw PostgresEntry.withNUL }
        guard let node = JSONNode.answer(json) else { throw Unfit(detail: "the resource is no JSON that can be read") }
        let isObservation = type == "Observation"
        let (about, found) = (subject, ObservationValues(node))
        entries.add(Int64(place))
        entries.add(type)
        entries.add(about.system)
        entries.add(about.value)
        entries.add(about.id.isEmpty ? nil : about.id)
        entries.add(name)
        entries.add(found.code.system)
        entries.add(found.code.code)
        entries.add(about.device)
        entries.add(about.patient)
        entries.add(encounter)
        entries.add(found.start)
        entries.add(found.end)
        entries.add(found.status)
        entries.add(sequence)
        json.withByteView { entries.add($0) }
        entries.endRow()
        guard !isObservation || found.addRows(of: place, to: &values) else {
            throw Unfit(detail: "a value is not as FHIR defines it")
        }
        guard !entries.hasNUL, !values.hasNUL else { throw PostgresEntry.withNUL }
        return isObservation
    }

    private static let withNUL = Unfit(
        detail: "a text has the character U+0000, which PostgreSQL cannot store: mend what sends it")

    /// Whether JSON has an escape of U+0000.
    private static func hasNUL(_ json: [UInt8]) -> Bool {
        json.withByteView { json in
            var place = json.firstIndex(of: UInt8(ascii: "\\"), from: 0)
            while let found = place {
                if found + 6 <= json.count, json[found + 1..<found + 6].equals(ByteView("u0000")) { return true }
                // What is escaped may be a backslash itself.
                place = found + 2 < json.count ? json.firstIndex(of: UInt8(ascii: "\\"), from: found + 2) : nil
            }
            return false
        }
    }
}
