@testable import Kymograph
import KymographCore

/// A store that does not say which series earlier runs had.
final class ForgetfulStore: ShardStore {
    private let store: Store

    init(_ store: Store) { self.store = store }

    func number(of key: [UInt8]) -> (number: Int, isNew: Bool) { store.number(of: key) }
    func series(ofDevice device: [UInt8]) -> [[UInt8]] { [] }
    func nextBlock() -> Int64 { store.nextBlock() }
    var lastBlockAtStart: Int64 { store.lastBlockAtStart }
    var upcomingBlock: Int64 { store.upcomingBlock }
    func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        store.load(series: series, windowStart: windowStart, into: &writer)
    }
    func archivedThrough(series: Int, windowStart: Instant) -> JournalPlace? {
        store.archivedThrough(series: series, windowStart: windowStart)
    }
    var latestAtStart: Instant { store.latestAtStart }
    func droppedThrough(series: Int) -> Instant? { store.droppedThrough(series: series) }
    func instant(ofReading id: [UInt8], series: Int) -> Instant? { store.instant(ofReading: id, series: series) }
    func waitUntilCommitted() { store.waitUntilCommitted() }
    func submit(_ unit: ShardUnit) { store.submit(unit) }
}
