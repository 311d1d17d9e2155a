package import KymographCore

/// Entries that wait for sinks.
package struct OutboxRow: Sendable {
    /// Its number: later rows have greater ones, with gaps.
    package var number: Int64
    /// A block of entries, as ``EntryWriter`` makes it.
    package var body: [UInt8]
    /// Names of the sinks that it is for, each in a line; nil for all.
    package var sinks: String?
    /// When the oldest of its entries was made, or the row after a while; nil when that is not known.
    package var since: Instant?

    /// A row.
    package init(number: Int64, body: [UInt8], sinks: String? = nil, since: Instant? = nil) {
        self.since = since
        self.number = number
        self.body = body
        self.sinks = sinks
    }
}

extension OutboxRow {
    /// Bits of a sequence for the place in the row.
    private static let placeBits: Int64 = 20

    /// What orders the entries of all rows: that of entry `place` of row `number`.
    package static func sequence(of place: Int, in number: Int64) -> Int64 { number << placeBits | Int64(place) }

    /// The greatest sequence of rows up to `number`.
    package static func lastSequence(through number: Int64) -> Int64 { sequence(of: 0, in: number + 1) - 1 }
}

/// What a server made of one entry.
package struct DeliveryReceipt: Hashable, Sendable {
    /// The row that the entry came with.
    package var row: Int64
    /// Resource type and id of the entry, such as `Observation/0a1b…`.
    package var resource: String
    /// HTTP status of the entry.
    package var status: Int
    /// `Location` of the entry, empty when the server gave none.
    package var location: String
    /// Version (`ETag`) of the entry, empty when the server gave none.
    package var version: String
    /// How often the entry was sent.
    package var attempts: Int
    /// Whether the server has kept other content that it had, and not taken that of the entry.
    package var isLacking: Bool
    /// The whole identifier of the entry's resource where ``resource`` has what stands for a long one; else empty.
    package var wholeIdentifier: IdentifierText
    /// What the entry is about, where files of receipts are kept.
    package var subject: ReceiptSubject?
    /// Whether an event hub or a database has it, which does not say what it was before.
    package var isSent = false
    /// Whether the server was to delete the resource, and does not have it any more; of ``status`` 404 it had none.
    package var isDeleted = false

    /// A receipt.
    package init(
        row: Int64, resource: String, status: Int, location: String, version: String, attempts: Int,
        isLacking: Bool = false, wholeIdentifier: IdentifierText = "", subject: ReceiptSubject? = nil
    ) {
        self.subject = subject
        self.isLacking = isLacking
        self.wholeIdentifier = wholeIdentifier
        self.row = row
        self.resource = resource
        self.status = status
        self.location = location
        self.version = version
        self.attempts = attempts
    }
}

/// An entry that a server will not take, whatever is done.
package struct UndeliverableEntry: Sendable {
    /// The row that the entry came with.
    package var row: Int64
    /// Resource type and id of the entry, such as `Observation/0a1b…`.
    package var resource: String
    /// Why.
    package var reason: Rejection
    /// What the server said: status and OperationOutcome, or the reason of the identity's failure.
    package var detail: String
    /// The entry with what it refers to: a block that can be sent again.
    package var bytes: [UInt8]
    /// How often the entry was sent.
    package var attempts: Int

    /// An entry.
    package init(row: Int64, resource: String, reason: Rejection, detail: String, bytes: [UInt8], attempts: Int) {
        self.row = row
        self.resource = resource
        self.reason = reason
        self.detail = detail
        self.bytes = bytes
        self.attempts = attempts
    }
}

/// Where one sink takes entries from, in order, and says what became of them. For any thread.
package protocol OutboxQueue: AnyObject, Sendable {
    /// Rows after `number`, oldest first, up to about `bytes` bytes but at least one if there is any. Waits up to
    /// `milliseconds` for one.
    func rows(after number: Int64, bytes: Int, milliseconds: Int) -> [OutboxRow]

    /// Keeps receipts and undeliverable entries, which are of rows through `number`, and notes that everything through
    /// it is done, together. After a restart, rows after the last number given are handed out again.
    func settle(through number: Int64, receipts: [DeliveryReceipt], undeliverable: [UndeliverableEntry])

    /// Notes that the sink has taken readings of these types, by name.
    func note(taken types: Set<String>)

    /// Tells the operator of something that a sink has given up doing. Default: ignored.
    func tell(_ text: String)

    /// The last number settled, before this run too; 0 at first.
    var settledThrough: Int64 { get }

    /// What tells the store of these rows from others, in hexadecimal digits: numbers of rows are compared within one
    /// of them; nil while that cannot be told. Default: `0`.
    var lineage: String? { get }

    /// Has ``lineage`` be another one from here on, since rows were numbered anew, and gives that; nil when it has
    /// stayed as it was. Default: nil.
    func renewLineage() -> String?

    /// The greatest sequence (``OutboxRow/sequence(of:in:)``) that ``note(sentThrough:)`` was given, before this run
    /// too; at first, that of all rows that there have been. Nil while that cannot be told. Default: more than any is.
    var sentThrough: Int64? { get }

    /// Notes, durably, that entries up to `sequence` may be sent from here on; false when that failed. Default:
    /// ignored.
    func note(sentThrough sequence: Int64) -> Bool
}

extension OutboxQueue {
    /// Default: ignored.
    package func note(taken types: Set<String>) {}

    /// Default: ignored.
    package func tell(_ text: String) {}

    /// That of no store.
    package var lineage: String? { "0" }

    /// Never.
    package func renewLineage() -> String? { nil }

    /// More than any is.
    package var sentThrough: Int64? { .max }

    /// Ignored.
    package func note(sentThrough sequence: Int64) -> Bool { true }
}
