import KymographCore

/// What became of the entries of rows.
struct RowOutcome {
    var receipts: [DeliveryReceipt] = []
    var undeliverable: [UndeliverableEntry] = []

    var isEmpty: Bool { receipts.isEmpty && undeliverable.isEmpty }

    /// Bytes in memory, about.
    var size: Int { receipts.reduce(0) { $0 + $1.size } + undeliverable.reduce(0) { $0 + $1.size } }
}

extension DeliveryReceipt {
    /// Bytes in memory, about.
    var size: Int {
        96 + resource.utf8.count + location.utf8.count + version.utf8.count + (subject == nil ? 0 : 512)
    }
}

extension UndeliverableEntry {
    /// Bytes in memory, about.
    var size: Int { 128 + resource.utf8.count + detail.utf8.count + bytes.count }
}
