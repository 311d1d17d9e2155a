@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing

/// A run that was killed, and a start with room for fewer devices than its journal has.
@Suite struct FewerDevicesTests {
    private let scratch = Scratch(inMemory: true)
    private static let start = 1_772_352_000

    private func run(devices: Int, at second: Int64, _ body: (ReconfiguredRun) throws -> Void) throws {
        let store = try Store(path: scratch.path)
        let variant = MappingVariant(kinds: [.level])
        let set = try #require(MappingLoader.load([variant.named], stored: try store.formerTypes()).set)
        try body(
            ReconfiguredRun(
                store, set, variant, lanes: 1, shards: 1, lateness: 0, now: Instant(seconds: second),
                limits: WindowLimits(maxDevices: devices)))
    }

    private func payload(_ device: String, _ second: Int, _ value: Int) -> [UInt8] {
        SentReading(
            kind: .level, device: device, second: Self.start + second, value: value, received: Instant(seconds: 0)
        ).payload
    }

    /// Catches: a reading that the archive has, and that is rejected as `tooManyDevices` besides, so that the ledger
    /// has one more than was received.
    @Test func whatIsArchivedIsNotRejected() throws {
        let now = Instant(seconds: 1_900_000_000)
        try run(devices: 10, at: 1_900_000_000) { run in
            run.take(payload("a", 0, 1), lane: 0, received: now)
            run.take(payload("b", 1, 1), lane: 0, received: now)
            run.take(payload("b", 900, 2), lane: 0, received: now.advanced(by: 1))
            // The first window of b closes, and the others stay open.
            try run.settle()
        }
        try run(devices: 1, at: 1_900_000_010) { try $0.end() }
        let reader = try StoreReader(directory: scratch.path)
        #expect(try reader.verifyLedger(isRunning: false) { _ in }.differences == [])
        let balance = try reader.ledger(ArchiveFilter(), isRunning: false).balance
        #expect(balance.received == 3 && balance.accepted == 2, "\(balance.text)")
        #expect(balance.rejected == ["tooManyDevices": 1])
    }
}
