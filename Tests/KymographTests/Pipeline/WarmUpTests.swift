import Testing

@testable import Kymograph

@Suite struct WarmUpTests {
    @Test func itEndsOnceAfterSoManyReadings() {
        var warmUp = WarmUp()
        let ends = (0..<100).map { _ in warmUp.ends(with: 4_096) }
        #expect(ends.firstIndex(of: true) == 63)
        #expect(ends.count { $0 } == 1)
    }

    @Test func itDoesNotEndWhileNothingComes() {
        var warmUp = WarmUp()
        for _ in 0..<1_000_000 where warmUp.ends(with: 0) { Issue.record("nothing was taken") }
    }
}
