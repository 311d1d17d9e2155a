import KymographCore
import Testing

@testable import Kymograph

/// The balance as people read it.
@Suite struct PipelineSummaryTests {
    private func source(received: Int, kernelDrops: UInt64 = 0) -> PipelineSummary.Source {
        var source = PipelineSummary.Source(name: "udp")
        source.received = received
        source.counts.kernelDrops = kernelDrops
        return source
    }

    @Test func nothing() {
        #expect(
            PipelineSummary().lines == [
                "received 0 = accepted 0 + duplicate 0 + conflict 0 + rejected 0", "kernel-dropped 0",
                "windows 0, observations 0, bundles 0, bytes 0",
            ])
    }

    @Test func everything() {
        var summary = PipelineSummary()
        summary.sources = [source(received: 15, kernelDrops: 4), source(received: 5, kernelDrops: 3)]
        summary.accepted = 10
        summary.duplicate = 3
        summary.conflict = 2
        summary.rejected[Int(Rejection.invalidJSON.rawValue)] = 3
        summary.rejected[Int(Rejection.clockAhead.rawValue)] = 1
        summary.kernelDropsBySource = [("udp 127.0.0.1:5757", 4), ("udp [::1]:5757", 3)]
        summary.windows = 4
        summary.amended = 1
        summary.observations = 5
        summary.condensed = 2
        summary.losses.passedOver = 6
        (summary.losses.unwrittenValues[.contradiction], summary.losses.unwrittenValues[.valueTooLong]) = (7, 1)
        summary.losses.cutTags = 9
        summary.bundles = 2
        summary.bytes = 1_234
        summary.undeliveredBundles = 1
        #expect(summary.rejectedTotal == 4 && summary.inFlight == 1)
        #expect(
            summary.lines == [
                "received 20 = accepted 10 + duplicate 3 + conflict 2 + rejected 4 + in flight 1",
                "rejected: invalidJSON 3, clockAhead 1",
                "kernel-dropped 7 (udp 127.0.0.1:5757 4, udp [::1]:5757 3)",
                "windows 4, observations 5 (1 amended), condensed readings 2, bundles 2, bytes 1234, "
                    + "123.4 bytes per reading",
                "passed over 6: readings without a number among others of their Observation",
                "unwritten 8: values that could not be written, beside others that were "
                    + "(contradiction 7, valueTooLong 1)",
                "cut tags 9: Observations without some tags of their readings, which have too many",
                "undelivered bundles 1",
            ])
        #expect(summary.liveLine == "received 20, rejected 4, kernel-dropped 7, windows 4, observations 5")
    }

    @Test(arguments: [(1_000, 1, "1000.0"), (5, 3, "1.7"), (0, 9, "0.0"), (99, 10, "9.9"), (199, 20, "10.0")])
    func bytesPerReadingAreRounded(bytes: Int, readings: Int, text: String) {
        var summary = PipelineSummary()
        summary.sources = [source(received: readings)]
        (summary.accepted, summary.bytes) = (readings, bytes)
        #expect(summary.lines.last?.hasSuffix(", \(text) bytes per reading") == true)
    }

    /// A ledger counts at the entrance and at the exit, so that a difference shows.
    @Test func ledger() {
        let ledger = PipelineLedger(sources: 2)
        ledger.source(0).add(received: 5)
        ledger.source(1).add(received: 2)
        ledger.source(1).reject(.noDevice)
        var tally = ShardTally()
        tally.accepted = 4
        tally.duplicate = 1
        tally.rejected[Int(Rejection.noDevice.rawValue)] = 1
        ledger.add(tally)
        ledger.addBundle(bytes: 100)
        ledger.addUndelivered()
        var counts = SourceCounts()
        counts.kernelDrops = 3
        let summary = ledger.summary(
            ["a", "b"],
            [
                ReceivedSocket(source: 0, name: "a", counts: SourceCounts()),
                ReceivedSocket(source: 1, name: "b", counts: counts),
            ])
        #expect(summary.received == 7 && summary.accepted == 4 && summary.duplicate == 1 && summary.rejectedTotal == 2)
        #expect(summary.inFlight == 0 && summary.kernelDropped == 3 && summary.bytes == 100 && summary.bundles == 1)
        #expect(summary.undeliveredBundles == 1 && summary.kernelDropsBySource.map(\.source) == ["b"])
    }
}

/// What signals mean.
@Suite struct RunControllerTests {
    private let start = Instant(seconds: 1_000)

    @Test(arguments: [SignalWatcher.Signal.interrupt, .terminate])
    func firstDrainsSecondEnds(signal: SignalWatcher.Signal) {
        var controller = RunController(drainLimit: 5_000_000_000)
        #expect(controller.take(signal, now: start) == .drain)
        #expect(controller.take(.interrupt, now: start) == .endNow(130))
        #expect(controller.take(.terminate, now: start) == .endNow(143))
    }

    @Test func hangupNeverEnds() {
        var controller = RunController(drainLimit: 1)
        #expect(controller.take(.hangup, now: start) == .reload)
        #expect(!controller.isOverdue(at: .distantFuture))
        #expect(controller.take(.terminate, now: start) == .drain)
        #expect(controller.take(.hangup, now: start) == .nothing)
    }

    @Test func limit() {
        var controller = RunController(drainLimit: 5_000_000_000)
        #expect(!controller.isOverdue(at: start.advanced(by: 60_000_000_000)))
        _ = controller.take(.terminate, now: start)
        #expect(!controller.isOverdue(at: start.advanced(by: 5_000_000_000)))
        #expect(controller.isOverdue(at: start.advanced(by: 5_000_000_001)))
    }

    @Test func noLimitAtTheEndOfTime() {
        var controller = RunController(drainLimit: .max)
        _ = controller.take(.terminate, now: start)
        #expect(!controller.isOverdue(at: start.advanced(by: 60_000_000_000)))
    }
}
