import Benchmark
import KymographCore
import Readings

private let readings = 8_192

private func add(_ name: String, _ body: @escaping () -> Void) {
    Benchmark(name, configuration: .init(metrics: [.throughput, .wallClock], maxDuration: .seconds(1))) { benchmark in
        for _ in benchmark.scaledIterations { body() }
    }
}

let benchmarks: @Sendable () -> Void = {
    let lines = LinePool.workload(count: readings)
    let map = Repeated(MapStage(lines, Workload.mappings()))
    add("ours, line to measurement / workload lines") { map.run(readings) }
    // What mapping costs beyond scanning: the ratio to this is the price of the template language.
    let scan = Repeated(DecodeStage(lines, names: DecodeStage.workloadNames))
    add("scan alone / workload lines") { scan.run(readings) }
    let all = Repeated(MappingComparisons.allTemplates())
    add("ours, all templates of healthkit-on-fhir / heart-rate messages") { all.run(readings) }
    let one = Repeated(MappingComparisons.oneTemplate())
    add("ours, the one that matches / heart-rate messages") { one.run(readings) }
    for language in ExpressionLanguage.allCases {
        let calculated = Repeated(MappingComparisons.calculated(in: language))
        add("ours, a template in \(language.rawValue) / heart-rate messages") { calculated.run(readings) }
    }
}
