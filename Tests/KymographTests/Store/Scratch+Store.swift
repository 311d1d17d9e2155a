@testable import Kymograph
import KymographTestKit
import Testing

extension Scratch {
    /// The store of this folder, as long as `body` runs.
    func open<Result>(_ body: (Store) throws -> Result) throws -> Result {
        let store = try Store(path: path)
        defer {
            store.close()
            store.directory.unlock()
        }
        return try body(store)
    }
}

extension Store {
    /// Commits what waits, as its thread would do.
    func commitWaiting() throws {
        var commit = StoreCommit(self, MappingExchange(try #require(PipelineRehearsal.reading)))
        let (batch, submitted) = queue.take()
        #expect(!batch.isEmpty)
        try commit.commit(batch, now: WallClock.now())
        queue.commit(batch, through: submitted)
    }
}
