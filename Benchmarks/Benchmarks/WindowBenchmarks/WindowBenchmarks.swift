import Benchmark
import CLimits
import Readings

private let readings = 8_192

private func add(_ name: String, _ body: @escaping () -> Void) {
    Benchmark(name, configuration: .init(metrics: [.throughput, .wallClock], maxDuration: .seconds(1))) { benchmark in
        for _ in benchmark.scaledIterations { body() }
    }
}

let benchmarks: @Sendable () -> Void = {
    let windows = Repeated(WindowStage())
    add("ours, keeping every reading / updates") { windows.run(readings) }
    // Count, sum, least and greatest in a dense array: what a window costs that forgets its readings.
    let series = (0..<readings).map { UInt32($0 &* 2_654_435_761 % 128) }
    let values = (0..<readings).map { Int64($0 % 97) }
    add("C, dense array of sums / updates") { unsafe blackHole(limits_windows(series, values, readings, 128)) }
}
