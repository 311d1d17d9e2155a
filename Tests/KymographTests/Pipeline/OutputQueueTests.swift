@testable import Kymograph
@testable import KymographCore
import Synchronization
import Testing

@Suite struct OutputQueueTests {
    private let sink = ThreadNotingSink()
    private let ledger = PipelineLedger(sources: 0)
    private let control: PipelineControl
    private let queue: OutputQueue

    init() throws {
        control = try PipelineControl { _ in }
        queue = try OutputQueue(
            stage: OutputStage(sink: BundleWriter(sink), ledger: ledger, control: control), control: control)
    }

    /// Writes a block whose one line is `text`.
    private func write(_ text: String) {
        var entry = EntryDraft(.resource)
        entry.body = Array(text.utf8)
        EntryDraft.block(of: [entry], form: BundleForm(format: .ndjson)).withByteView {
            queue.write($0, since: WallClock.now())
        }
    }

    @Test func bundlesArriveInOrderAndOnTheThreadOfTheQueue() {
        queue.start("kymo-output-7")
        let bundles = (0..<500).map { String(repeating: "x", count: $0 % 97) + "\($0)" }
        for bundle in bundles { write(bundle) }
        queue.tick(Instant(nanoseconds: 5))
        queue.finish()
        #expect(sink.taken == bundles)
        #expect(sink.ticks.last == Instant(nanoseconds: 5))
        #expect(sink.threads == ["kymo-output-7"])
        #expect(ledger.summary([], []).bundles == 500)
    }

    /// A sink that does not take more holds shards up, and loses nothing.
    @Test func shardsWaitForASlowSink() {
        sink.isHeld = true
        queue.start("kymo-output-0")
        let large = String(repeating: "y", count: 1 << 20)
        let hasWritten = AtomicFlag()
        let shard = TestThread {
            for number in 0..<12 { write("\(number)" + large) }
            hasWritten.set()
        }
        #expect(Patience.until { sink.isWaiting })
        #expect(!hasWritten.isSet)
        for _ in 0..<12 { sink.gate.open() }
        shard.join()
        queue.finish()
        #expect(sink.taken.map { $0.prefix { $0 != "y" } } == (0..<12).map { Substring("\($0)") })
    }

    /// A block that was just made and is none ends the run, and is counted.
    @Test func whatCannotBeReadEndsTheRun() {
        queue.start("kymo-output-0")
        write("first")
        "no block".utf8.map { $0 }.withByteView { queue.write($0, since: WallClock.now()) }
        queue.finish()
        #expect(sink.taken == ["first"])
        #expect(queue.stage.deliveryTimes.buckets.reduce(0, +) == 1)
        #expect(ledger.summary([], []).undeliveredBundles == 1 && ledger.summary([], []).bundles == 1)
        #expect(control.currentFailure?.exitCode == ExitStatus.software)
    }

    /// What an end by force cuts is counted, each bundle once.
    @Test func forcedEndCountsWhatIsNotWritten() {
        sink.isHeld = true
        queue.start("kymo-output-0")
        write("first")
        #expect(Patience.until { sink.isWaiting })
        for number in 0..<9 { write("\(number)") }
        control.force()
        sink.gate.open()
        #expect(Patience.until { ledger.summary([], []).undeliveredBundles == 9 })
        write("late")
        #expect(ledger.summary([], []).undeliveredBundles == 10)
        #expect(sink.taken == ["first"])
        queue.finish()
    }
}

/// Keeps what it takes, and the names of the threads that bring it.
private final class ThreadNotingSink: BundleSink {
    private struct State {
        var taken: [String] = []
        var threads: Set<String> = []
        var ticks: [Instant] = []
        var isHeld = false
        var isWaiting = false
    }

    private let state = Mutex(State())
    /// Lets a bundle in, when ``isHeld``.
    let gate = Gate()

    var taken: [String] { state.withLock { $0.taken } }
    var threads: Set<String> { state.withLock { $0.threads } }
    var ticks: [Instant] { state.withLock { $0.ticks } }
    /// Whether a thread waits at the gate, or has waited there.
    var isWaiting: Bool { state.withLock { $0.isWaiting } }
    var isHeld: Bool {
        get { state.withLock { $0.isHeld } }
        set { state.withLock { $0.isHeld = newValue } }
    }

    func write(_ bytes: ByteView) {
        if isHeld {
            state.withLock { $0.isWaiting = true }
            gate.wait()
        }
        let name = Files.text("/proc/thread-self/comm")
        state.withLock { state in
            state.taken.append(String(bytes.string.dropLast()))
            state.threads.insert(String(name.dropLast()))
        }
    }

    func tick(_ now: Instant) { state.withLock { $0.ticks.append(now) } }
    func flush() {}
    func synchronise() {}
    func close() {}
}
