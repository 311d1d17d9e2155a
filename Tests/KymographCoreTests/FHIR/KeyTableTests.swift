import Testing

@testable import KymographCore

/// The keys that a block holds already.
@Suite struct KeyTableTests {
    @Test func findsWhatWasAddedUntilItIsForgotten() {
        var table = KeyTable()
        // Up to four words and what is left of one.
        let keys = (0..<300).map { number in [UInt8](repeating: UInt8(number % 7), count: number / 7) }
        for (number, key) in keys.enumerated() {
            let isNew = key.withByteView { table.add($0, hash: KeyTable.hash($0), number: UInt32(number)) }
            // The empty key comes seven times.
            #expect(isNew == (number == 0 || number >= 7))
        }
        for (number, key) in keys.enumerated() where number >= 7 {
            #expect(key.withByteView { table.find($0, hash: KeyTable.hash($0)) } == UInt32(number))
        }
        table.removeAll()
        #expect(
            table.count == 0
                && keys.allSatisfy { key in key.withByteView { table.find($0, hash: KeyTable.hash($0)) == nil } })
    }

    /// When such keys share a bucket this takes minutes.
    @Test(arguments: 0..<15) func keysThatDifferInTwoBytesTakeLinearTime(_ place: Int) {
        var table = KeyTable()
        for number in 0..<40_000 {
            var key = [UInt8](repeating: 0x30, count: 16)
            key[place] = UInt8(number % 256)
            key[place + 1] = UInt8(number / 256)
            _ = key.withByteView { table.add($0, hash: KeyTable.hash($0), number: UInt32(number)) }
        }
        #expect(table.count == 40_000)
    }
}
