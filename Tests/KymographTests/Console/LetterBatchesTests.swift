import GRDB
import KymographCore
import Testing

@testable import Kymograph

/// Letters are read in batches, so that few are in memory of the process that takes readings.
@Suite struct LetterBatchesTests {
    private let scratch = Scratch()

    /// Letters 1 to 5 with 100 bytes each.
    init() throws {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let content = BodyCompressor.plain([UInt8](repeating: 0x61, count: 100))
        for number in 1...5 {
            try store.pool.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO dead (number, at, kind, reason, source, detail, codec, key_id, checksum, body)
                        VALUES (?, 0, 'payload', 'invalidJSON', 'udp', '', ?, ?, ?, ?)
                        """,
                    arguments: [
                        number, content.codec.rawValue, content.key, Int64(content.checksum), content.bytes,
                    ])
            }
        }
    }

    private func batches(_ numbers: [Int64], _ bytes: Int) throws -> [[Int64]] {
        var found: [[Int64]] = []
        let reader = try StoreReader(directory: scratch.path)
        try reader.letters(numbers, inBatchesOf: bytes) { found.append($0.map(\.number)) }
        return found
    }

    @Test func aBatchEndsWhenItHasEnoughBytes() throws {
        let (two, one) = (try batches([1, 2, 3, 4, 5], 200), try batches([1, 2, 3, 4, 5], 1))
        #expect(two == [[1, 2], [3, 4], [5]])
        #expect(one == [[1], [2], [3], [4], [5]])
        let (some, none) = (try batches([9, 5, 1, 8], 1_000), try batches([], 1))
        #expect(some == [[5, 1]] && none == [])
    }

    @Test func onlyThoseArePresentThatAreThere() throws {
        let present = try StoreReader(directory: scratch.path).present([9, 5, 1, 8])
        #expect(present == [5, 1])
    }
}
