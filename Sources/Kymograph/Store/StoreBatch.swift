import FoundationEssentials
import GRDB
import KymographCore

/// What could not become a reading, or could not be delivered, as a store keeps it.
struct StoredDeadLetter: Sendable {
    /// What its bytes are. The raw values are in every store.
    enum Kind: String, CaseIterable, Sendable {
        /// What a source received.
        case payload
        /// A normalised measurement, as JSON.
        case measurement
        /// A block with an entry that can be sent again.
        case entry
    }

    var at: Instant
    var kind: Kind
    var reason: String
    var source: String
    var detail: String
    var bytes: [UInt8]
    /// Of an entry, what it is called in receipts, and the row that it came with.
    var resource: String?
    var outbox: Int64?
    /// Of a payload, what its source said of it.
    var context: LetterContext?

    /// Bytes that it takes while it waits, nearly: an array whose elements are all rejected is letters of one byte
    /// each.
    var weight: Int { 200 + bytes.count + detail.utf8.count }
}

/// Whose readings a count is of: the row of a ledger.
struct TallyKey: Hashable, Sendable {
    /// The source's number.
    var source: Int
    /// The store's number of the series, or -1 when the reading had none yet.
    var series: Int
    /// Hours since the epoch: of the receive time, or of the reading's own time where its series is known.
    var hour: Int64
    /// One of ``LedgerOutcome``, or the name of a ``Rejection``. Some end with the identifier of a device.
    var outcome: String

    /// Whether both count the same: an outcome is its bytes, as a device in it is.
    static func == (left: TallyKey, right: TallyKey) -> Bool {
        (left.source, left.series, left.hour) == (right.source, right.series, right.hour)
            && left.outcome.utf8.elementsEqual(right.outcome.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(series)
        hasher.combine(hour)
        for byte in outcome.utf8 { hasher.combine(byte) }
    }
}

/// A series that a store has not seen before.
extension ShardUnit.Series {
    /// Inserts its row.
    func insert(_ db: Database) throws {
        let identity = key.withByteView { SeriesKey.identity($0) }
        func text(_ part: [UInt8]?) -> String? { part.map { String(decoding: $0, as: UTF8.self) } }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO series VALUES (?, ?, ?, ?, ?, ?, NULL)").execute(arguments: [
            number, Data(key), identity.type, text(identity.device) ?? "", text(identity.patient),
            text(identity.encounter),
        ])
    }
}

/// How far a sink has come.
struct Settlement: Sendable {
    var sink: String
    var through: Int64
    var receipts: [DeliveryReceipt] = []
    var undeliverable: [UndeliverableEntry] = []
}

/// What waits to be committed, in the order in which it came.
struct StoreBatch: Sendable {
    var units: [ShardUnit] = []
    var settlements: [Settlement] = []
    var deadLetters: [StoredDeadLetter] = []
    var tallies: [TallyKey: Int] = [:]
    var letterChanges: [LetterChange] = []
    /// Numbers of rows that cannot be read.
    var damaged: [DamagedPlace: [Int64]] = [:]
    /// Payloads to keep as they came.
    var payloads: [PayloadSection] = []
    /// Whether one of those who take receipts has taken some (``ReceiptProgress``).
    var hasTakenReceipts = false
    /// Names of types of which sinks, by name, have taken readings.
    var taken: [String: Set<String>] = [:]
    /// What keys of sealed datagrams have had.
    var sequences: [KeyPrint: SequenceWindow] = [:]
    /// Up to where it has partitions of topics.
    var positions: [TopicPartition: TopicPosition] = [:]
    /// Dead letters that came again.
    var arrivals: [LetterArrival] = []
    /// Whether it has letters that a pause has put aside: they are kept, however many they are.
    var hasPutAside: Bool {
        deadLetters.contains { $0.reason == Rejection.typePaused.name || $0.reason == Rejection.sourcePaused.name }
    }
    /// Bytes of it all, about.
    var byteCount = 0

    /// Adds what came later.
    mutating func append(_ later: StoreBatch) {
        units += later.units
        settlements += later.settlements
        deadLetters += later.deadLetters
        tallies.merge(later.tallies) { $0 + $1 }
        letterChanges += later.letterChanges
        damaged.merge(later.damaged) { $0 + $1 }
        payloads += later.payloads
        hasTakenReceipts = hasTakenReceipts || later.hasTakenReceipts
        taken.merge(later.taken) { $0.union($1) }
        sequences.merge(later.sequences) { $1 }
        positions.merge(later.positions) { $1 }
        arrivals += later.arrivals
        byteCount += later.byteCount
    }

    /// What sinks have settled, and what they could not read: it may make the room that the rest waits for.
    mutating func takeRelief() -> StoreBatch {
        var relief = StoreBatch()
        swap(&relief.settlements, &settlements)
        // What is damaged is kept before it is settled.
        swap(&relief.damaged, &damaged)
        swap(&relief.hasTakenReceipts, &hasTakenReceipts)
        return relief
    }

    /// Takes back what ``takeRelief()`` gave, before what came since.
    mutating func putBack(_ relief: StoreBatch) {
        settlements = relief.settlements + settlements
        damaged.merge(relief.damaged) { $0 + $1 }
        hasTakenReceipts = relief.hasTakenReceipts || hasTakenReceipts
    }

    var isEmpty: Bool {
        units.isEmpty && settlements.isEmpty && deadLetters.isEmpty && tallies.isEmpty && damaged.isEmpty
            && letterChanges.isEmpty && !hasTakenReceipts && taken.isEmpty && payloads.isEmpty && sequences.isEmpty
            && positions.isEmpty && arrivals.isEmpty
    }
}
