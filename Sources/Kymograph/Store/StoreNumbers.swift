import KymographCore
import Synchronization

/// The numbers that a store gives to series and blocks, behind those of earlier runs. For any thread.
final class StoreNumbers: Sendable {
    private let blocks: Atomic<Int64>
    private let series: Atomic<Int>

    /// Goes on behind what earlier runs have left, as `facts` say.
    init(_ facts: StoreFacts) {
        blocks = Atomic(facts.lastBlock + 1)
        series = Atomic(facts.lastSeries + 1)
    }

    /// The number for the next series.
    func nextSeries() -> Int { series.add(1, ordering: .relaxed).oldValue }

    /// The number for the next block of the journal.
    func nextBlock() -> Int64 { blocks.add(1, ordering: .relaxed).oldValue }

    /// The number that ``nextBlock()`` gives next, or a lower one.
    var upcomingBlock: Int64 { blocks.load(ordering: .relaxed) }
}
