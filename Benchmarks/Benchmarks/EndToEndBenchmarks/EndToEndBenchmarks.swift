import Benchmark
import CLimits
import KymographCore
import Readings

private let readings = 100_000

let benchmarks: @Sendable () -> Void = {
    let configuration = Benchmark.Configuration(metrics: [.throughput, .wallClock], maxDuration: .seconds(3))
    let lines = LinePool.workload(count: readings)
    Benchmark("ours, line to bundle / workload lines", configuration: configuration) { benchmark in
        var stage = EndToEndStage(lines)
        benchmark.startMeasurement()
        stage.run(readings)
        blackHole(stage.finish().bytes)
        benchmark.stopMeasurement()
    }
    let line = unsafe lines.lines[0].array
    Benchmark("C, memcpy of the lines / workload lines", configuration: configuration) { benchmark in
        for _ in benchmark.scaledIterations {
            unsafe blackHole(limits_copy(line, line.count, UInt64(readings)))
        }
    }
}
