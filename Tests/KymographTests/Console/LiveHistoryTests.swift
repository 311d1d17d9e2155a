import Foundation
import KymographCore
import Testing

@testable import Kymograph

/// The totals that a page begins with.
@Suite struct LiveHistoryTests {
    private func samples(_ count: Int) -> [LiveSample] {
        (0..<count).map { second in
            // Seconds that are some milliseconds longer, and a clock that is set back once.
            let time = 1_780_000_000_250 + Int64(second) * 1_001 - (second > 20 ? 3_600_000 : 0)
            var sample = LiveSample(17 + second, PipelineSummary(), at: Instant(nanoseconds: time * 1_000_000))
            sample.received = second * second * 1_000_003
            sample.accepted = sample.received - second
            sample.rejected = second / 2
            sample.late = second == 5 ? 1 : second > 5 ? 2 : 0
            return sample
        }
    }

    private func told(_ samples: [LiveSample]) throws -> [String: [Int]] {
        let json = LiveHistory(samples: samples[...]).json
        return try JSONDecoder().decode([String: [Int]].self, from: Data(json)).mapValues { added in
            var total = 0
            return added.map { one in
                total += one
                return total
            }
        }
    }

    /// Each of the totals is what it was, whatever it did.
    @Test(arguments: [0, 1, 2, 300])
    func eachTotalComesBack(count: Int) throws {
        let samples = samples(count)
        let told = try told(samples)
        #expect(told.count == 6 && told["id"] == samples.map(\.id))
        #expect(told["milliseconds"]?.map { Double($0) / 1_000 } == samples.map(\.time))
        #expect(told["received"] == samples.map(\.received) && told["accepted"] == samples.map(\.accepted))
        #expect(told["rejected"] == samples.map(\.rejected) && told["late"] == samples.map(\.late))
    }

    /// Catches: names or totals that are written once for each second.
    @Test func fiveMinutesAreShort() {
        var samples = samples(300)
        for second in samples.indices {
            samples[second].received = 4_000_000_000 + second * 1_000
            samples[second].accepted = samples[second].received
        }
        #expect(LiveHistory(samples: samples[...]).json.count < 7_000)
    }
}
