import KymographCore
import Synchronization

/// Tells the ledger of a store what the kernel has dropped, as often as it is asked.
final class KernelDropNotes: Sendable {
    /// What a lane reads at one of its places.
    struct Socket {
        var lane: Int
        var place: Int
        /// The source's number in the ledger.
        var number: Int
        /// Datagrams that the kernel has dropped there.
        var total: Int
    }

    private let store: Store
    /// By lane and place.
    private let noted = Mutex<[[Int]: Int]>([:])

    init(_ store: Store) { self.store = store }

    /// Notes what is new.
    func note(_ sockets: [Socket], at now: Instant) {
        noted.withLock { noted in
            for socket in sockets {
                let before = noted[[socket.lane, socket.place], default: 0]
                guard socket.total > before else { continue }
                store.noteKernelDrops(socket.total - before, source: socket.number, at: now)
                noted[[socket.lane, socket.place]] = socket.total
            }
        }
    }
}
