import Testing

@testable import Kymograph

/// What is missing of readings that are known by the window alone.
@Suite struct SeriesStretchesTests {
    /// Nine windows with a reading every ten, of which one has lost a third: and a tenth window that is not there.
    @Test func wholeWindows() {
        var stretches = SeriesStretches()
        for window in [0, 1, 2, 3, 4, 6, 7, 8, 9] as [Int64] {
            stretches.add(window * 300, window * 300 + 290, window == 7 ? 20 : 30, 0)
        }
        #expect(missing(&stretches, until: .min) == [0: 40])
        #expect(missing(&stretches, until: 3_090) == [0: 49])
    }

    /// What another series of the device has is not missing, and what is missing behind it is its own.
    @Test func twoSeries() {
        var stretches = SeriesStretches()
        for instant in stride(from: 0, to: 1_000, by: 10) as StrideTo<Int64> where !(600..<650).contains(instant) {
            stretches.add(instant, (300..<700).contains(instant) ? SeriesStretches.others : 0)
        }
        #expect(missing(&stretches, until: .min) == [SeriesStretches.others: 5])
        // The first of the two goes on until another one has the device.
        stretches.noteBehind(1_050)
        #expect(missing(&stretches, until: 5_000) == [SeriesStretches.others: 5, 0: 5])
    }

    private func missing(
        _ stretches: inout SeriesStretches, until horizon: Int64
    ) -> [SeriesStretches.Owner: Int64] {
        let rhythms = stretches.settle()
        var missing: [SeriesStretches.Owner: Int64] = [:]
        stretches.forEachGap(rhythms, until: horizon) { missing[$1, default: 0] += $0.count }
        return missing
    }
}
