import Benchmark
import CLimits
import Readings

private let events = 1 << 20

private func add(_ name: String, _ body: @escaping () -> Void) {
    Benchmark(name, configuration: .init(metrics: [.throughput, .wallClock], maxDuration: .seconds(1))) { benchmark in
        for _ in benchmark.scaledIterations { body() }
    }
}

let benchmarks: @Sendable () -> Void = {
    let alone = Repeated(RingStage())
    add("ours / 64 B events, one thread") { alone.run(events) }
    add("C11 / 64 B events, one thread") { blackHole(limits_ring_alone(UInt64(events), 8_192)) }
    // Only meaningful on two idle cores.
    add("ours / 64 B events, two threads") { blackHole(RingStage.acrossThreads(events)) }
    add("C11 / 64 B events, two threads") { blackHole(limits_ring(UInt64(events), 8_192)) }
}
