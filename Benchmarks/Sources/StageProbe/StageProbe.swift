import KymographCore
import Readings

/// `StageProbe STAGE N`: takes N readings through one stage after a warm-up, for the gate to count what that costs.
///
/// Prints the number of allocations in between (-1 when nobody counts them), and for people how long one reading took.
@main
struct StageProbe {
    private static let warmup = StageWarmup.readings
    /// An Observation stands for many readings.
    private static let warmupObservations = 2_000
    private static let warmupMessages = 6_000
    /// Devices of the stage that has many, and readings after which each has closed a window.
    private static let manyDevices = 1_000
    private static let manyWarmup = manyDevices * 26
    private static let longest = 1_000_000

    /// A rule about one device, which is none of those that send.
    private static var spareDevice: ReadingRule {
        var rule = ReadingRule(name: "spare")
        rule.action = .drop
        rule.devices = [NamePattern("spare-device")]
        return rule
    }

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), count > 0, count + warmup <= longest else {
            print(
                "usage: StageProbe decode|map|general|arrays|ring|window|fhir|twin|ndjson|endtoend|templates|template"
                    + "|jmespath|jsonpath|compatible|packets|lines|hl7|few|ruled|many|short|long N (arrays: a multiple of "
                    + "ten; ndjson: of a hundred; hl7: of six)")
            return
        }
        switch arguments[1] {
        case "decode": DecodeStage(.workload(count: 4_096), names: DecodeStage.workloadNames).measure(count)
        case "map": MapStage(.workload(count: 4_096), Workload.mappings()).measure(count)
        case "general":
            MapStage(.workload(count: 4_096), Workload.mappings(), usesFastPath: false).measure(count)
        case "arrays":
            MapStage(arrays: .workloadArrays(count: 4_000, each: 10), of: 10, Workload.mappings()).measure(count)
        case "ring": RingStage().measure(count)
        case "window": WindowStage().measure(count)
        case "fhir": FHIRStage().measure(count, warmup: warmupObservations)
        case "twin":
            guard BundleTwin.agrees() else { fatalError("the twin in C writes other bytes") }
            BundleTwin().measure(count, warmup: warmupObservations)
        case "ndjson": LinesStage().measure(count, warmup: warmupObservations)
        case "endtoend": EndToEndStage(.workload(count: warmup + count)).measure(count)
        case "templates": MappingComparisons.allTemplates().measure(count)
        case "template": MappingComparisons.oneTemplate().measure(count)
        case "jmespath": MappingComparisons.calculated(in: .jmesPath).measure(count)
        case "jsonpath": MappingComparisons.calculated(in: .jsonPath).measure(count)
        case "compatible": MappingComparisons.compatible().measure(count)
        case "packets": MappingComparisons.packets().measure(count)
        case "lines": MappingComparisons.packetsAsLines().measure(count)
        case "hl7": MappingComparisons.monitorMessages().measure(count, warmup: warmupMessages)
        case "few": EndToEndStage(.turns(count: warmup + count, devices: 10)).measure(count)
        case "ruled":
            EndToEndStage(.turns(count: warmup + count, devices: 10), rules: [spareDevice]).measure(count)
        case "many":
            let lines = LinePool.turns(count: manyWarmup + count, devices: manyDevices)
            EndToEndStage(lines).measure(count, warmup: manyWarmup)
        case "short": WindowStage(devices: 2, period: "1m").measure(count)
        case "long": WindowStage(devices: 2, period: "24h").measure(count)
        default: print("there is no stage \(arguments[1])")
        }
    }
}
