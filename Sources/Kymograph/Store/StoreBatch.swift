import KymographCore

/// What could not become a reading, or could not be delivered, as a store keeps it.
struct StoredDeadLetter: Sendable {
    var at: Instant
    /// `payload` (bytes of a source), `measurement` (normalised), or `entry` (a bundle of one Observation).
    var kind: String
    var reason: String
    var source: String
    var detail: String
    var bytes: [UInt8]
}

/// Whose readings a count is of: the row of a ledger.
struct TallyKey: Hashable, Sendable {
    /// The source's number.
    var source: Int
    /// The store's number of the series, or -1 when the reading had none yet.
    var series: Int
    /// Hours since the epoch, of the receive time.
    var hour: Int64
    /// `received`, or the name of a ``Rejection``.
    var outcome: String
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
    /// Numbers of rows that cannot be read.
    var damaged: [DamagedPlace: [Int64]] = [:]
    /// Bytes of it all, about.
    var byteCount = 0

    var isEmpty: Bool {
        units.isEmpty && settlements.isEmpty && deadLetters.isEmpty && tallies.isEmpty && damaged.isEmpty
    }
}
