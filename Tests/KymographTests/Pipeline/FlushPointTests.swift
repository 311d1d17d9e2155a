import Testing

@testable import Kymograph
@testable import KymographCore

/// Requests to close windows, of several at a time.
@Suite struct FlushPointTests {
    /// Shards that have not begun work off both, and each asker gets the count of its own.
    @Test func twoAtATime() throws {
        let point = FlushPoint(shards: 2)
        let first = try #require(point.ask(WindowSelection(types: [NamePattern("heartRate")])))
        point.note(1, shard: 0, for: first)
        let second = try #require(point.ask(WindowSelection(types: [NamePattern("steps")])))
        // Shard 1 sees both, shard 0 the second only.
        #expect(point.requests(after: 0).map(\.generation) == [first, second])
        #expect(point.requests(after: 0).map { $0.selection.types.count } == [1, 1])
        #expect(point.requests(after: first).map(\.generation) == [second])
        point.note(2, shard: 0, for: second)
        #expect(point.closed(for: first) == nil && point.closed(for: second) == nil)
        point.note(10, shard: 1, for: first)
        point.note(20, shard: 1, for: second)
        #expect(point.closed(for: first) == 11 && point.closed(for: second) == 22)
    }

    /// Those that are done make room, the oldest first; what is not done is kept, and refuses more.
    @Test func onlySoMany() throws {
        let point = FlushPoint(shards: 1)
        for _ in 0..<FlushPoint.most { _ = try #require(point.ask(WindowSelection())) }
        #expect(point.ask(WindowSelection()) == nil && point.generation == FlushPoint.most)
        point.note(3, shard: 0, for: 2)
        #expect(point.isKnown(2) && point.ask(WindowSelection()) == FlushPoint.most + 1)
        #expect(!point.isKnown(2) && point.isKnown(1) && point.isKnown(FlushPoint.most + 1))
    }
}
