import KymographCore
import KymographTestKit
import Testing

/// What shards say of readings that a lane has counted.
@Suite struct CountedReadingsTests {
    /// Of two readings that cannot both be right, the one that was received first is rejected, whichever comes first:
    /// only who brings the other one hears that it took a place.
    @Test func whichOfTwoIsRejected() throws {
        let store = MemoryShardStore()
        var rehearsal = DurableRehearsal(set: try #require(PipelineRehearsal.reading), store: store)
        rehearsal.begin { _ in }
        func line(_ value: Int) -> [UInt8] {
            let text = """
                {"deviceId":"a-1","patientId":"p-1","type":"bodyTemperature","timestamp":"2026-03-01T08:00:00Z",\
                "value":\(value),"unit":"Cel"}
                """
            return Array(text.utf8)
        }
        for (place, (value, after)) in [(36, 0), (36, 0), (37, -1), (38, 1)].enumerated() {
            #expect(rehearsal.count([line(value)], after: Int64(after)) == place + 1)
            rehearsal.handOver()
        }
        #expect(store.counts.map(\.number) == [1, 2, 3, 4])
        #expect(store.counts.map(\.outcomes.duplicate) == [0, 1, 0, 0])
        #expect(store.counts.map(\.outcomes.rejected) == [0, 0, 1, 0])
        #expect(store.counts.map(\.outcomes.conflict) == [0, 0, 0, 1])
        #expect(store.counts.map(\.outcomes.reasons.all) == [[], [], [.superseded], []])
    }

    /// Each reason is kept once, whatever their order, and so are those of shards that are added together; there is room
    /// for eight.
    @Test func reasons() {
        var (first, second) = (ReadingOutcomes(), ReadingOutcomes())
        #expect(first.reasons.all.isEmpty)
        for reason in [Rejection.sequenceStale, .invalidJSON, .superseded, .invalidJSON] { first.reject(reason) }
        second.reject(.superseded)
        second.note(.unknownRetraction)
        first.add(second)
        #expect(first.rejected == 5 && first.total == 5)
        #expect(first.reasons.all == [.invalidJSON, .superseded, .unknownRetraction, .sequenceStale])
        // What is put together has each reason of either once.
        let none = ReadingOutcomes()
        for (left, right) in [(first, second), (second, first), (first, none), (none, first), (none, none)] {
            var both = left.reasons
            both.formUnion(right.reasons)
            #expect(Set(both.all) == Set(left.reasons.all + right.reasons.all))
            #expect(both.isEmpty == both.all.isEmpty && both.all.count == Set(both.all).count)
        }
        var all = RejectionReasons()
        #expect(all.isEmpty)
        for reason in Rejection.allCases { all.insert(reason) }
        #expect(all.all == Array(Rejection.allCases.prefix(8)))
        var others = RejectionReasons()
        for reason in Rejection.allCases.suffix(8) { others.insert(reason) }
        let before = others
        others.formUnion(all)
        #expect(others == before, "there is no room for more than eight")
    }
}
