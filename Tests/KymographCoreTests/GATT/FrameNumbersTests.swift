import KymographTestKit
import Testing

@testable import KymographCore
import TrialSupport

/// Frames that never came, by the numbers of those that did.
@Suite struct FrameNumbersTests {
    /// What is missing after `numbers` of one device.
    private func gap(_ numbers: [UInt64], device: String = "strap-1") -> FrameGap {
        var seen = FrameNumbers()
        for (second, number) in numbers.enumerated() {
            let time = Instant(seconds: Int64(second))
            Array(device.utf8).withByteView { seen.note(number, of: $0, isEscaped: true, at: time) }
        }
        let (hasGaps, gaps, rest) = (seen.hasGaps, seen.takeGaps(), seen.takeGaps())
        #expect(hasGaps == !gaps.isEmpty && gaps.count < 2 && rest.isEmpty)
        return gaps.first ?? FrameGap(device: IdentifierText(device))
    }

    @Test(
        arguments: [
            ([], 0, 0), ([7], 0, 0), ([7, 8, 9], 0, 0), ([7, 9], 1, 0), ([1, 2, 5, 4, 4, 9], 5, 1), ([7, 6, 8], 0, 0),
            ([1, 70, 7, 6], 68, 1), ([1, 200, 137, 136, 137], 198, 1), ([100, 1, 3], 1, 0), ([10, 1, 2, 11], 0, 0),
            ([1, 1_000_001, 1_000_002], 999_999, 0), ([1, 1_000_002, 1_000_004], 1, 0), ([.max - 1, .max, 0, 2], 1, 0),
        ] as [([UInt64], Int, Int)])
    func numbers(_ came: [UInt64], missing: Int, late: Int) {
        #expect(gap(came) == FrameGap(device: "strap-1", missing: missing, late: late), "\(came)")
    }

    /// However frames are lost, doubled and put out of order within reach: what is missing is what never came.
    @Test(arguments: Trials.seeds(60)) func losses(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let kept = (1...400 as ClosedRange<UInt64>).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        let doubled = kept.flatMap { Int.random(in: 0..<5, using: &random) == 0 ? [$0, $0] : [$0] }
        let shuffled = stride(from: 0, to: doubled.count, by: 20).flatMap { start in
            doubled[start..<min(start + 20, doubled.count)].shuffled(using: &random)
        }
        guard let first = shuffled.first, let last = shuffled.max() else { return }
        let found = gap(shuffled)
        let came = Set(kept.filter { $0 >= first }).count
        #expect(found.missing - found.late == Int(last - first) + 1 - came)
    }

    @Test func devicesDoNotDisturbEachOther() {
        var seen = FrameNumbers()
        for round in 0..<3 as Range<UInt64> {
            for device in 0..<300 as Range<UInt64> {
                Array("device \(device)".utf8).withByteView {
                    seen.note(round * (1 + device % 2), of: $0, isEscaped: false, at: .distantPast)
                }
            }
            seen.note(round * 3, of: ByteView(""), isEscaped: false, at: .distantPast)
        }
        let gaps = seen.takeGaps()
        #expect(gaps.count == 151 && gaps.allSatisfy { $0.late == 0 })
        #expect(gaps.first { $0.device == "device 7" }?.missing == 2)
        #expect(gaps.first { $0.device.isEmpty }?.missing == 4)
    }

    @Test func namesAsJSONWritesThem() {
        #expect(gap([1, 3], device: #"Gurt \u00e9 \"1\""#) == FrameGap(device: #"Gurt é "1""#, missing: 1))
    }

    /// A patient goes from bridge to bridge and back; each has counted what it heard.
    @Test func severalBridges() {
        let there = (900...999 as ClosedRange<UInt64>).map { $0 }
        let away = (1...300 as ClosedRange<UInt64>).map { $0 }
        #expect(gap(there + away + [1_000, 1_001] + [301]).missing == 0)
        #expect(gap(there + away + [1_002, 303]).missing == 4)
        #expect(gap(there + away + [5_000, 5_001, 2_000, 2_001, 1_000]).missing == 4_000 + 1_699)
        // More than are kept in mind: the first of them is forgotten, and begins again.
        let bridges = (1...5 as ClosedRange<UInt64>).map { 100_000_000 - 10_000_000 * $0 }
        #expect(gap(bridges.flatMap { [$0, $0 + 1] } + [bridges[0] + 2, bridges[0] + 4]).missing == 1)
    }

    /// A frame that is sent again after long, as dead letters are, and a bridge whose clock is set back.
    @Test func whatIsSentAgain() {
        var seen = FrameNumbers()
        func gap(_ number: UInt64, _ second: Int64) -> FrameGap? {
            seen.note(number, of: ByteView("d"), isEscaped: false, at: Instant(seconds: second))
            return seen.takeGaps().first
        }
        let frames: [(UInt64, Int64)] = [(1_000, 1_000), (5, 5), (6, 6), (1_001, 1_001), (9_000, 900), (1_002, 1_002)]
        #expect(frames.allSatisfy { gap($0.0, $0.1) == nil })
        #expect(gap(1_003, 10) == nil && gap(1_005, 12)?.missing == 1 && gap(1_006, 13) == nil)
        // It has begun again.
        #expect(gap(1, 1_010) == nil && gap(3, 1_011)?.missing == 1)
    }

    /// Beyond the most devices nothing is counted, and nothing of the others lost.
    @Test func mostDevices() {
        var seen = FrameNumbers()
        for number in [1, 3] as [UInt64] {
            for device in 0...FrameNumbers.mostDevices {
                let isMissed = device == 5 || device == FrameNumbers.mostDevices
                Array("\(device)".utf8).withByteView {
                    seen.note(isMissed ? number : 1, of: $0, isEscaped: false, at: .distantPast)
                }
            }
        }
        let gaps = seen.takeGaps()
        #expect(gaps == [FrameGap(device: "5", missing: 1)])
        let long = Array(repeating: UInt8(ascii: "n"), count: FrameNumbers.longestName + 1)
        var unseen = FrameNumbers()
        for number in [1, 3] as [UInt64] {
            long.withByteView { unseen.note(number, of: $0, isEscaped: false, at: .distantPast) }
        }
        let none = unseen.takeGaps()
        #expect(none.isEmpty)
    }
}
