import Benchmark
import CLimits
import Readings

private let observations = 1_024

private func add(_ name: String, _ body: @escaping () -> Void) {
    Benchmark(name, configuration: .init(metrics: [.throughput, .wallClock], maxDuration: .seconds(1))) { benchmark in
        for _ in benchmark.scaledIterations { body() }
    }
}

let benchmarks: @Sendable () -> Void = {
    let stage = Repeated(FHIRStage())
    add("ours, 21 readings each / bundled Observations") { stage.run(observations) }
    var sampler = FHIRStage()
    let sample = sampler.sample()
    add("C, memcpy of the same bytes / bundled Observations") {
        unsafe blackHole(limits_copy(sample, sample.count, UInt64(observations)))
    }
}
