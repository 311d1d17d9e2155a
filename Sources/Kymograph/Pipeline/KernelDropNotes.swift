import KymographCore
import Synchronization

/// Tells the ledger of a store what the kernel has dropped, as often as it is asked.
final class KernelDropNotes: Sendable {
    private let store: Store
    private let numbers: [Int]
    private let noted: Mutex<[Int]>

    /// `numbers` are those of the sources in the ledger, by lane and source.
    init(_ store: Store, numbers: [Int]) {
        self.store = store
        self.numbers = numbers
        noted = Mutex(Array(repeating: 0, count: numbers.count))
    }

    /// Notes what is new in `totals`, in the order of the numbers.
    func note(_ totals: [Int], at now: Instant) {
        noted.withLock { noted in
            for (index, total) in totals.enumerated() where total > noted[index] {
                store.noteKernelDrops(total - noted[index], source: numbers[index], at: now)
                noted[index] = total
            }
        }
    }
}
