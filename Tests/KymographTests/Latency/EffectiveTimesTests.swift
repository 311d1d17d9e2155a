import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Times are found wherever the output is cut into pieces.
@Suite struct EffectiveTimesTests {
    private static let output = Array(
        """
        {"resourceType":"Observation","effectiveDateTime":"2026-03-01T08:00:00.123456789Z","valueQuantity":{"value":1}}
        {"resourceType":"Observation","effective":"x","effectivePeriod":{"start":"2026-03-01T08:00:00Z",\
        "end":"2026-03-01T08:00:59.5Z"},"component":[{"effectiveDateTime":"2026-03-01T08:00:00+01:00"}]}
        {"entry":[{"resource":{"effectiveDateTime":"1999-12-31T23:59:59Z"}},\
        {"resource":{"effectiveDateTime":"2024-02-29T00:00:00.25Z"}}]}

        """.utf8)
    private static let expected = [
        "2026-03-01T08:00:00.123456789Z", "2026-03-01T08:00:59.500Z", "1999-12-31T23:59:59Z",
        "2024-02-29T00:00:00.250Z",
    ]

    private static func found(pieces: [Int]) -> [String] {
        var times = EffectiveTimes()
        var found: [String] = []
        var rest = output[...]
        for size in pieces {
            times.take(rest.prefix(size)) { time in
                var writer = ByteWriter(capacity: 32)
                TimestampText.append(time, to: &writer)
                found.append(writer.view.string)
            }
            rest = rest.dropFirst(size)
        }
        return found
    }

    @Test func atOnce() {
        #expect(Self.found(pieces: [Self.output.count]) == Self.expected)
    }

    @Test func byteByByte() {
        #expect(Self.found(pieces: Array(repeating: 1, count: Self.output.count)) == Self.expected)
    }

    @Test func cutAnywhere() {
        for cut in 0...Self.output.count {
            #expect(Self.found(pieces: [cut, Self.output.count - cut]) == Self.expected, "cut at \(cut)")
        }
    }

    @Test(arguments: [
        "2026-03-01T08:00:00", "2026-03-01T08:00:00.Z", "2026-03-01 08:00:00Z", "2026-03-01T08:00:0xZ", "Z", "",
        "2026-03-01T08:00:00.0123456789Z",
    ])
    func otherTextsAreNoInstant(text: String) {
        #expect(TimestampText.instant(Array(text.utf8)[...]) == nil)
    }

    /// Reading is writing the other way round.
    @Test func instantsComeBack() {
        var random = SeededGenerator(seed: Trials.seed(5))
        for _ in 0..<2_000 {
            let digits: [Int64] = [1, 1_000, 1_000_000, 1_000_000_000]
            let unit = digits.randomElement(using: &random) ?? 1
            let fraction = Int64.random(in: 0..<1_000_000_000, using: &random) / unit * unit
            let seconds = Int64.random(in: -2_000_000_000...4_000_000_000, using: &random)
            let instant = Instant(seconds: seconds).advanced(by: fraction)
            var writer = ByteWriter(capacity: 32)
            TimestampText.append(instant, to: &writer)
            #expect(TimestampText.instant(writer.view.array[...]) == instant, "\(writer.view.string)")
        }
    }
}
