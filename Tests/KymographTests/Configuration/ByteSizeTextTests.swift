import Kymograph
import KymographTestKit
import Testing

/// Sizes as people write them.
@Suite struct ByteSizeTextTests {
    @Test(arguments: [
        ("0", 0), ("1000", 1_000), ("64KiB", 65_536), ("4MiB", 4 << 20), ("1GiB", 1 << 30), ("0KiB", 0),
        ("8589934591GiB", 8_589_934_591 << 30),
    ])
    func reads(text: String, bytes: Int) {
        #expect(ByteSizeText.parse(text) == bytes)
    }

    @Test(arguments: [
        "", "KiB", "-1", "+1", "1.5MiB", "1 KiB", " 1", "1 ", "64kib", "64KB", "64k", "1TiB", "1KiB1", "0x10",
        "9223372036854775808", "8589934592GiB", "١",
    ])
    func refuses(text: String) {
        #expect(ByteSizeText.parse(text) == nil)
    }

    @Test func readsWhatItWrites() {
        let seed: UInt64 = 20
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            let bytes = Int.random(in: 0..<1 << 20, using: &generator) << Int.random(in: 0..<40, using: &generator)
            #expect(ByteSizeText.parse(ByteSizeText.text(bytes)) == bytes, "seed \(seed), \(bytes) bytes")
        }
    }
}
