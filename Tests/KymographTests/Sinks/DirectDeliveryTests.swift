@testable import Kymograph
@testable import KymographCore
import Synchronization
import Testing

@Suite struct DirectDeliveryTests {
    /// A shard that waits for its own windows is not held up by what other shards submit meanwhile.
    @Test func waitingEndsThoughMoreIsSubmitted() throws {
        let control = try PipelineControl { _ in }
        let output = OutputStage(sink: IdleSink(), ledger: PipelineLedger(sources: 0), control: control)
        let (chain, isOver) = (Chain(), AtomicFlag())
        // Every unit that is delivered brings the next one, as busy shards do: there is always one more.
        let delivery = try DirectDelivery(output: output, control: control) { _ in
            if !isOver.isSet { chain.next() }
        }
        chain.submit = { delivery.submit(ShardUnit(shard: 0)) }
        let runner = TestThread { delivery.run() }
        chain.next()
        let (before, hasWaited) = (chain.count, AtomicFlag())
        let waiter = TestThread {
            delivery.waitUntilDelivered()
            hasWaited.set()
        }
        #expect(Patience.until(seconds: 10) { hasWaited.isSet })
        #expect(chain.count > before)
        isOver.set()
        delivery.finish()
        runner.join()
        waiter.join()
    }
}

/// Takes whatever comes.
private final class IdleSink: BlockSink {
    func write(_ block: ByteView) -> Int? { block.count }
    func flush() {}
    func synchronise() {}
    func tick(_ now: Instant) {}
    func close() {}
}

/// Submits one unit after the other.
private final class Chain: Sendable {
    private struct State {
        var submit: @Sendable () -> Void = {}
        var count = 0
    }

    private let state = Mutex(State())

    var submit: @Sendable () -> Void {
        get { state.withLock { $0.submit } }
        set { state.withLock { $0.submit = newValue } }
    }

    /// Units so far.
    var count: Int { state.withLock { $0.count } }

    func next() {
        let submit = state.withLock { state in
            state.count += 1
            return state.submit
        }
        submit()
    }
}
