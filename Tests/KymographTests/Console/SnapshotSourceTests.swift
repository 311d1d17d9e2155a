import KymographCore
import Synchronization
import Testing

@testable import Kymograph

/// The sources of the console's page of what is going on.
@Suite struct SnapshotSourceTests {
    /// Catches: rates that are another source's, and a last source that is missing, once a reload has removed one.
    @Test func eachSourceHasItsOwnRates() {
        var run = PipelineSummary()
        run.sources = ["gone", "first", "last"].map { PipelineSummary.Source(name: $0) }
        run.sources[0].removedAt = WallClock.now()
        // Each look finds more readings of the last source.
        let looks = Mutex(0)
        let view = InstanceView(
            facts: { [run] in
                var facts = InstanceFacts()
                facts.run = run
                facts.run.sources[2].received = looks.withLock { count in
                    count += 5_000
                    return count
                }
                return facts
            }, stored: { nil }, disks: { [] })
        var maker = SnapshotMaker(
            ConsoleSubject(
                directory: "/nowhere", present: { PipelineSettings() }, started: WallClock.now(), view: view,
                seen: { InstanceWatch.Seen() }, actions: ConsoleActions(), notes: { _ in }))
        _ = maker.look()
        let sources = maker.look().snapshot().sources
        #expect(sources.map(\.name) == ["first", "last"])
        #expect(sources.map(\.received) == [0, 10_000])
        #expect(sources[0].readings == 0 && sources.last?.readings ?? 0 > 0)
    }
}
