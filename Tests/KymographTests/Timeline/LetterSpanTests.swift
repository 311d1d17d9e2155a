import GRDB
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// A search by halves finds the dead letters of a span.
@Suite struct LetterSpanTests {
    @Test(arguments: Trials.seeds(20)) func findsThoseOfTheSpan(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let minute: Int64 = 60_000_000_000
        var times: [(number: Int64, at: Int64)] = []
        var (number, time): (Int64, Int64) = (0, 1_800_000_000_000_000_000)
        for _ in 0..<Int.random(in: 0...80, using: &random) {
            number += Int64.random(in: 1...30, using: &random)
            time += Int64.random(in: 0...90, using: &random) * minute
            times.append((number, time + Int64.random(in: -4...4, using: &random) * minute))
        }
        let letters = times
        try store.pool.writeWithoutTransaction { db in
            for letter in letters {
                try db.execute(
                    sql: """
                        INSERT INTO dead (number, at, kind, reason, source, detail, codec, key_id, checksum, body)
                        VALUES (?, ?, 'payload', 'noTemplate', 'stdin', '', 0, 0, 0, x'')
                        """, arguments: [letter.number, letter.at])
            }
        }
        for _ in 0..<20 {
            let from = 1_800_000_000_000_000_000 + Int64.random(in: -100...5_000, using: &random) * minute
            let to = from + Int64.random(in: 0...2_000, using: &random) * minute
            let expected = times.filter { $0.at >= from && $0.at < to }.map(\.number)
            let found = try store.pool.read { try LetterSpan(from: from, to: to).read($0, limit: 1_000) }
            #expect(found.map(\.number) == expected, "seed \(seed)")
            let some = try store.pool.read { try LetterSpan(from: from, to: to).read($0, limit: 3) }
            #expect(some.map(\.number) == Array(expected.prefix(3)), "seed \(seed)")
        }
    }
}
