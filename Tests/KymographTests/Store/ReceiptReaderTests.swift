import CommandSupport
@testable import Kymograph
import KymographCore
import Testing

/// Files of receipts are read as a whole, and each receipt once.
@Suite struct ReceiptReaderTests {
    private let folder = TemporaryFolder()

    private func line(_ id: String) -> String {
        #"{"id":"\#(id)","at":"2026-03-01T08:00:00Z","sink":"s","outcome":"created"}"#
    }

    private func read() throws -> (ids: [String], unread: Int) {
        var ids: [String] = []
        let unread = try ReceiptReader.forEach(in: folder.path) { receipt, _ in ids.append(receipt.id ?? "") }
        return (ids, unread)
    }

    /// Files are larger than what is read at once, and were begun by a clock that was set back.
    @Test func manyAndOutOfOrder() throws {
        let count = 80_000
        func file(_ name: String, _ numbers: some Sequence<Int>) {
            folder.write("kymo-\(name).ndjson", numbers.map { line("a1-\($0)") + "\n" }.joined())
        }
        file("20260301T080000-000001", count / 2..<count)
        file("20260301T090000-000001", 0..<count / 2 + 10)
        let found = try read()
        #expect(found.unread == 0 && found.ids.count == count && Set(found.ids).count == count)
    }

    /// Runs number their receipts anew.
    @Test func severalRuns() throws {
        folder.write(
            "kymo-1-1.ndjson", [line("a-1"), line("b-1"), line("a-1"), "{", line("b-2")].joined(separator: "\n"))
        let found = try read()
        #expect(found.ids == ["a-1", "b-1", "b-2"] && found.unread == 1)
    }

    /// The last line of a file that grows may be the half of one.
    @Test func aFileThatGrows() throws {
        folder.write("kymo-1-1.ndjson.open", line("a-1") + "\n" + line("a-2").dropLast(9))
        let found = try read()
        #expect(found.ids == ["a-1"] && found.unread == 0)
    }
}
