package import Kymograph
package import KymographCore
import Synchronization

/// An outbox in memory that remembers what it is told. It never waits for rows.
package final class MemoryOutbox: OutboxQueue {
    private struct State {
        var rows: [OutboxRow] = []
        var through: Int64 = 0
        var receipts: [DeliveryReceipt] = []
        var undeliverable: [UndeliverableEntry] = []
        var told: [String] = []
    }

    private let state = Mutex(State())

    /// An outbox with a row for each of these bundles, with their entries; those through `settledThrough` are done.
    package init(_ bundles: [String] = [], settledThrough: Int64 = 0) {
        state.withLock { $0.through = settledThrough }
        for bundle in bundles { add(bundle) }
    }

    /// Adds a row with the entries of a bundle, which was made at `since`; its number, which leaves gaps.
    @discardableResult
    package func add(_ bundle: String, since: Instant? = nil) -> Int64 { add(Array(bundle.utf8), since: since) }

    /// Adds a row with the entries of a bundle, or with a block of them; its number, which leaves gaps.
    @discardableResult
    package func add(_ bytes: [UInt8], since: Instant? = nil) -> Int64 {
        state.withLock { state in
            let number = (state.rows.last?.number ?? 0) + 3
            state.rows.append(
                OutboxRow(number: number, body: FormerBundle.block(of: bytes) ?? bytes, since: since))
            return number
        }
    }

    /// Keeps what the operator is told.
    package func tell(_ text: String) { state.withLock { $0.told.append(text) } }
    /// What the operator was told.
    package var told: [String] { state.withLock { $0.told } }

    /// Rows after `number`.
    package func rows(after number: Int64, bytes: Int, milliseconds: Int) -> [OutboxRow] {
        state.withLock { state in
            var taken: [OutboxRow] = []
            var size = 0
            for row in state.rows where row.number > number {
                if !taken.isEmpty && size + row.body.count > bytes { break }
                size += row.body.count
                taken.append(row)
            }
            return taken
        }
    }

    /// Keeps what it is told; `number` must not be less than before, nor than the rows of what became of entries.
    package func settle(through number: Int64, receipts: [DeliveryReceipt], undeliverable: [UndeliverableEntry]) {
        state.withLock { state in
            precondition(number >= state.through, "settled backwards")
            precondition(
                receipts.allSatisfy { $0.row <= number } && undeliverable.allSatisfy { $0.row <= number },
                "what became of entries of a row that is not settled")
            state.through = number
            state.receipts += receipts
            state.undeliverable += undeliverable
        }
    }

    /// The last number settled.
    package var settledThrough: Int64 { state.withLock { $0.through } }
    /// The number of the last row.
    package var lastNumber: Int64 { state.withLock { $0.rows.last?.number ?? 0 } }
    /// All receipts.
    package var receipts: [DeliveryReceipt] { state.withLock { $0.receipts } }
    /// All undeliverable entries.
    package var undeliverable: [UndeliverableEntry] { state.withLock { $0.undeliverable } }
    /// Whether every row is done.
    package var isSettled: Bool { settledThrough == lastNumber }
}
