import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// How many devices of a peer are remembered.
@Suite struct DeviceRatesTests {
    private func take(_ name: String, _ rates: DeviceRates) -> Bool {
        Array(name.utf8).withByteView { rates.take($0) }
    }

    /// A name for which there is no place costs no look at all others, which are let in again once some have rested.
    @Test func newNamesAreRefusedQuickly() {
        let rates = DeviceRates(.init(perSecond: 1, burst: 4))
        // None has rested before four seconds, in which a look at all of them for each name would go on.
        for number in 0..<4 * 65_536 where !take("device-\(number / 4)", rates) { Issue.record("\(number)") }
        let clock = ContinuousClock()
        let spent = clock.measure {
            for number in 0..<20_000 { _ = take("other-\(number)", rates) }
        }
        #expect(spent < .seconds(2), "\(spent)")
        usleep(5_200_000)
        #expect(take("last", rates), "all have rested")
    }
}
