import KymographCore
import Testing

@testable import Kymograph

/// When a lane lets datagrams gather.
@Suite struct ArrivalPaceTests {
    private static let millisecond: Int64 = 1_000_000

    /// What the pace says after batches of `size` datagrams, `gap` nanoseconds apart, for five milliseconds.
    private func rest(
        _ size: Int, each gap: Int64, bytes: Int = 200, longest: Int64 = 100_000, bufferBytes: Int = 4 << 20
    ) -> Int64 {
        var pace = ArrivalPace(longestRest: longest, bufferBytes: bufferBytes)
        for time in stride(from: 0, through: 5 * Self.millisecond, by: Int64.Stride(gap)) {
            pace.note(size, bytes: size * bytes, at: Instant(nanoseconds: time))
        }
        return pace.rest
    }

    @Test(arguments: [
        (1, 5_000, true), (1, 9_900, true), (1, 11_000, false), (64, 200_000, true), (1, 250_000, false),
        (64, 5_000_000, false),
    ])
    func aRestFindsTen(size: Int, gap: Int64, expected: Bool) {
        #expect(rest(size, each: gap) == (expected ? 100_000 : 0))
    }

    @Test func longerRestsFindMore() {
        #expect(rest(1, each: 45_000, longest: 500_000) == 500_000)
        #expect(rest(1, each: 55_000, longest: 500_000) == 0)
        #expect(rest(64, each: 5_000, longest: 0) == 0)
    }

    /// A rest must never be what makes the kernel drop: an eighth of the buffer may fill.
    @Test func aSmallBufferIsNotFilled() {
        #expect(rest(1, each: 5_000, longest: 1_000_000) == 1_000_000)
        let short = rest(1, each: 5_000, longest: 1_000_000, bufferBytes: 1 << 20)
        #expect((400_000...600_000).contains(short), "\(short)")
        #expect(rest(1, each: 5_000, bufferBytes: 64 << 10) == 0)
        #expect(rest(1, each: 5_000, bytes: 60_000, bufferBytes: 2 << 20) == 0)
        #expect(rest(1, each: 5_000, bufferBytes: 0) == 0)
    }

    /// Nobody notices a rest beside the time that Observations wait for their bundle; where they do not, there is none.
    @Test(arguments: [(200_000_000, 1_000_000), (10_000_000, 50_000), (0, 0)] as [(Int64, Int64)])
    func restsAreShorterThanBundlesWait(age: Int64, rest: Int64) {
        var settings = PipelineSettings()
        settings.bundleAge = age
        #expect(settings.longestRest == rest)
    }

    /// A burst after a silence is not taken for a dense stream, however long the silence; nor is one before the clock
    /// was put back.
    @Test func silenceAndClocks() {
        var pace = ArrivalPace(longestRest: 100_000, bufferBytes: 4 << 20)
        for time in stride(from: Int64(0), to: 3 * Self.millisecond, by: 5_000) {
            pace.note(1, bytes: 200, at: Instant(nanoseconds: time))
        }
        #expect(pace.rest > 0)
        for later: Int64 in [3_600_000_000_000, 3_153_600_000_000_000_000] {
            pace.note(64, bytes: 64 * 200, at: Instant(nanoseconds: later))
            #expect(pace.rest == 0)
        }
        pace.note(64, bytes: 64 * 200, at: Instant(nanoseconds: 0))
        #expect(pace.rest == 0)
        for time in stride(from: Int64(0), to: 3 * Self.millisecond, by: 5_000) {
            pace.note(1, bytes: 200, at: Instant(nanoseconds: time))
        }
        #expect(pace.rest > 0)
    }
}
