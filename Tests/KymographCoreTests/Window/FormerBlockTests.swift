import Testing

@testable import KymographCore
import TrialSupport

/// Blocks of the archive as they were written before version 3.
@Suite struct FormerBlockTests {
    /// Receive times that count from one time, and readings of heart rate every 1.7 s.
    private static let fromBase = [
        "0202000000800202040008000000", "0000faed51728618cefaffffffffffffa3eac95c2362ea18",
        "00006e0500000000a406a7045c040900a406e203c1d2d001a4061f036e976905a4065102d2957105a4069201b8ae5607a406c8008dddee0aa4",
        "0600001e7ff00a19ecfea8",
    ].joined()
    private static let fromBaseReceived: [Int64] = [
        1_795_355_305_480_678_051, 1_795_355_305_481_268_991, 1_795_355_305_511_140_708, 1_795_355_305_571_484_177,
        1_795_355_305_572_008_053, 1_795_355_305_603_799_387, 1_795_355_305_664_104_496, 1_795_355_305_664_211_393,
    ]
    private static let fromBaseValues: [Int64] = [60, -139, -336, -531, -737, -928, -1_130, -1_330]

    /// Receive times that count from the readings' instants.
    private static let fromInstant = [
        "0202000000800201030106000000c05524e12962ea1864000000000000004f7b0f0000000000",
        "000000000000490401a6fd34480402ee1b77530403d91311490404c4f54248040591f583a05fe768",
    ].joined()
    private static let fromInstantTimes: [(Int64, Int64)] = [
        (1_795_355_333_471_000_000, 1_795_355_333_472_014_607), (1_795_355_334_568_000_000, 1_795_355_334_572_487_413),
        (1_795_355_335_664_000_000, 1_795_355_335_672_820_541), (1_795_355_336_771_000_000, 1_795_355_336_773_133_800),
        (1_795_355_337_868_000_000, 1_795_355_337_873_402_899), (1_795_355_338_964_000_000, 1_795_355_338_973_662_688),
    ]

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func reading(_ instant: Int64, _ received: Int64, _ value: Int64) -> String {
        var payload = ByteWriter()
        let reading = TestReading(instant: instant, received: received, values: [0: .number(value, 0)])
        return WindowBlockTests.text((reading.measurement(&payload), []))
    }

    @Test func theReadingsOfVersionTwoAreRead() {
        let expected = FormerBlockTests.fromBaseReceived.indices.map { index in
            FormerBlockTests.reading(
                1_767_225_600_000_000_000 + Int64(index) * 1_700_000_000, FormerBlockTests.fromBaseReceived[index],
                FormerBlockTests.fromBaseValues[index])
        }
        let decoded = WindowBlockTests.decode(FormerBlockTests.bytes(FormerBlockTests.fromBase))
        #expect(decoded?.map(WindowBlockTests.text) == expected)
    }

    @Test func receiveTimesOfVersionTwoThatCountFromInstantsAreRead() {
        let expected = FormerBlockTests.fromInstantTimes.enumerated().map { index, times in
            FormerBlockTests.reading(times.0, times.1, 100 + Int64(index))
        }
        let decoded = WindowBlockTests.decode(FormerBlockTests.bytes(FormerBlockTests.fromInstant))
        #expect(decoded?.map(WindowBlockTests.text) == expected)
    }

    /// Damage behind a right checksum: any answer will do, as long as there is one.
    @Test func nothingInABlockOfVersionTwoCanTrap() {
        for seed in Trials.seeds(2_000) {
            var random = WindowRandom(seed: seed)
            let block = random.once(in: 2) ? FormerBlockTests.fromBase : FormerBlockTests.fromInstant
            var content = Array(FormerBlockTests.bytes(block).dropLast(4))
            for _ in 0...random.int(0...3) {
                let last = random.once(in: 2) ? 38 : content.count
                content[random.int(1...last - 1)] = UInt8(random.once(in: 3) ? 0 : random.int(0...255))
            }
            WindowBlockTests.openShortened(content, &random)
        }
    }
}
