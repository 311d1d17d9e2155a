import Benchmark
import CLimits
import CSimdjson
import KymographCore
import Readings

private let readings = 8_192

/// Calls `scan` with each line; `scan` gives 0 when all was well.
private func forEachLine(_ pool: LinePool, _ scan: (UnsafePointer<UInt8>, Int) -> Int32) {
    for line in unsafe pool.lines {
        let bytes = unsafe line.unsafeBuffer.assumingMemoryBound(to: UInt8.self)
        guard let start = bytes.baseAddress else { continue }
        precondition(unsafe scan(start, bytes.count) == 0)
    }
}

private func add(_ name: String, _ body: @escaping () -> Void) {
    Benchmark(name, configuration: .init(metrics: [.throughput, .wallClock], maxDuration: .seconds(1))) { benchmark in
        for _ in benchmark.scaledIterations { body() }
    }
}

let benchmarks: @Sendable () -> Void = {
    let health = LinePool.healthReadings(count: readings)
    let lines = LinePool.workload(count: readings)
    let healthScan = Repeated(DecodeStage(health, names: DecodeStage.healthNames))
    add("ours, validating / 200 B readings") { healthScan.run(readings) }
    let healthMap = Repeated(MapStage(health, Workload.healthMappings()))
    add("ours, to measurements / 200 B readings") { healthMap.run(readings) }
    add("C, not validating / 200 B readings") {
        var reading = unsafe limits_reading()
        unsafe forEachLine(health) { unsafe limits_scan($0, $1, &reading) }
    }
    let lineScan = Repeated(DecodeStage(lines, names: DecodeStage.workloadNames))
    add("ours, validating / workload lines") { lineScan.run(readings) }
    let lineMap = Repeated(MapStage(lines, Workload.mappings()))
    add("ours, to measurements / workload lines") { lineMap.run(readings) }
    guard let parser = unsafe rival_create() else {
        print("simdjson \(unsafe String(cString: rival_kernel()))")
        return
    }
    print("simdjson kernel: \(unsafe String(cString: rival_kernel()))")
    nonisolated(unsafe) let rival = unsafe parser
    add("simdjson on demand / 200 B readings") {
        var sum = 0.0
        unsafe forEachLine(health) { unsafe rival_scan(rival, $0, $1, &sum) }
    }
    add("simdjson on demand / workload lines") {
        var sum: Int64 = 0
        unsafe forEachLine(lines) { unsafe rival_line(rival, $0, $1, &sum) }
    }
}
