import CLimits
import KymographCore
import Readings

/// `StageProbe STAGE N`: takes N readings through one stage after a warm-up, for the gate to count what that costs.
///
/// Prints the number of allocations in between (-1 when nobody counts them), and for people how long one reading took.
@main
struct StageProbe {
    /// Readings before counting starts: enough for windows to have been closed and their memory used again.
    private static let warmup = 20_000
    /// An Observation stands for many readings.
    private static let warmupObservations = 2_000
    /// Devices of the stage that has many, and readings after which each has closed a window.
    private static let manyDevices = 1_000
    private static let manyWarmup = manyDevices * 26
    private static let longest = 1_000_000

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), count > 0, count + warmup <= longest else {
            print(
                "usage: StageProbe decode|map|general|arrays|ring|window|fhir|twin|ndjson|endtoend|templates|template"
                    + "|jmespath|jsonpath|compatible|packets|lines|few|many|short|long N (arrays: a multiple of ten; "
                    + "ndjson: of a hundred)")
            return
        }
        switch arguments[1] {
        case "decode": measure(DecodeStage(.workload(count: 4_096), names: DecodeStage.workloadNames), count)
        case "map": measure(MapStage(.workload(count: 4_096), Workload.mappings()), count)
        case "general":
            measure(MapStage(.workload(count: 4_096), Workload.mappings(), usesFastPath: false), count)
        case "arrays":
            measure(MapStage(arrays: .workloadArrays(count: 4_000, each: 10), of: 10, Workload.mappings()), count)
        case "ring": measure(RingStage(), count)
        case "window": measure(WindowStage(), count)
        case "fhir": measure(FHIRStage(), count, warmup: warmupObservations)
        case "twin":
            guard BundleTwin.agrees() else { fatalError("the twin in C writes other bytes") }
            measure(BundleTwin(), count, warmup: warmupObservations)
        case "ndjson": measure(LinesStage(), count, warmup: warmupObservations)
        case "endtoend": measure(EndToEndStage(.workload(count: warmup + count)), count)
        case "templates": measure(MappingComparisons.allTemplates(), count)
        case "template": measure(MappingComparisons.oneTemplate(), count)
        case "jmespath": measure(MappingComparisons.calculated(in: .jmesPath), count)
        case "jsonpath": measure(MappingComparisons.calculated(in: .jsonPath), count)
        case "compatible": measure(MappingComparisons.compatible(), count)
        case "packets": measure(MappingComparisons.packets(), count)
        case "lines": measure(MappingComparisons.packetsAsLines(), count)
        case "few": measure(EndToEndStage(.turns(count: warmup + count, devices: 10)), count)
        case "many":
            let lines = LinePool.turns(count: manyWarmup + count, devices: manyDevices)
            measure(EndToEndStage(lines), count, warmup: manyWarmup)
        case "short": measure(WindowStage(devices: 2, period: "1m"), count)
        case "long": measure(WindowStage(devices: 2, period: "24h"), count)
        default: print("there is no stage \(arguments[1])")
        }
    }

    private static func measure(_ stage: consuming some Stage & ~Copyable, _ count: Int, warmup: Int = warmup) {
        stage.run(warmup)
        let start = ContinuousClock.now
        let before = kymograph_allocations()
        counted { stage.run(count) }
        let after = kymograph_allocations()
        let taken = ContinuousClock.now - start
        print("allocations \(before < 0 ? -1 : after - before)")
        print("nanoseconds \(Int64(taken / .nanoseconds(1)) / Int64(count))")
    }

    /// Runs `body` inside the function between whose entry and exit callgrind counts.
    private static func counted(_ body: () -> Void) {
        withoutActuallyEscaping(body) { escaping in
            var closure = escaping
            // Safe: the closure outlives the call, which does not keep the pointer.
            unsafe withUnsafeMutablePointer(to: &closure) { pointer in
                unsafe kymograph_measured(
                    { context in unsafe context?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
            }
        }
    }
}
