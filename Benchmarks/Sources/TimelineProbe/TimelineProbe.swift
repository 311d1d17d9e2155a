import Foundation
import Glibc
import Kymograph
import KymographCore
import KymographTestKit

/// `TimelineProbe DATA PATIENT FROM TO BUCKET ROUNDS`: reads the timeline of a patient from a store, and prints
/// milliseconds, the first time and the best of the rounds behind it, and how many readings it shows.
@main
struct TimelineProbe {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let from = TimestampReader.instant(arguments[3]),
            let to = TimestampReader.instant(arguments[4]), let bucket = TimelineBucket(rawValue: arguments[5]),
            let rounds = Int(arguments[6]), rounds > 0
        else {
            print("usage: TimelineProbe DATA PATIENT FROM TO BUCKET ROUNDS")
            exit(64)
        }
        var query = TimelineQuery(
            device: nil, patient: IdentifierText(arguments[2]), from: from, to: to, now: WallClock.now())
        query.bucket = bucket
        var times: [Double] = []
        var accepted = 0
        for _ in 0...rounds {
            let start = ContinuousClock.now
            // As a page has it: the store is opened, and the answer is bytes to send.
            let timeline = try StoreReader(directory: arguments[1]).timeline(query)
            let bytes = timeline.json.count
            let taken = start.duration(to: .now).components
            times.append(Double(taken.seconds) * 1e3 + Double(taken.attoseconds) / 1e15)
            accepted = timeline.series.reduce(0) { $0 + $1.accepted.reduce(0, +) }
            guard bytes > 0 else { exit(70) }
        }
        print("\(accepted) \(times[0]) \(times.dropFirst().min() ?? times[0])")
    }
}
