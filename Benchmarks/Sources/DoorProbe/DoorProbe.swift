import Kymograph
import KymographCore
import Readings

/// `DoorProbe STAGE N`: takes N readings, or messages, through the protocol of a door after a warm-up, for the gate to
/// count what that costs beside the readings' own work.
@main
struct DoorProbe {
    private static let warmup = 5_000

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), count > 0, count <= 1_000_000 else {
            return print("usage: DoorProbe http|mllp N (http: a multiple of 1,000)")
        }
        switch arguments[1] {
        case "http": DoorStage.requests().measure(count, warmup: warmup)
        case "mllp": DoorStage.messages().measure(count, warmup: warmup)
        default: print("there is no stage \(arguments[1])")
        }
    }
}
