import CommandSupport
import Glibc
@testable import Kymograph
import KymographTestKit
import Testing
import TrialSupport

/// Reading a trail on while it grows, is cut into files, moved away, or made from scratch.
@Suite struct AuditTailTests {
    private typealias Files = CommandSupport.Files

    /// Appends `count` records, in files of about `largest` bytes.
    private func append(_ count: Int, to folder: TemporaryFolder, largest: Int = 8 << 20) throws {
        for number in 0..<count {
            let files = AuditFolder(dataDirectory: folder.path, largestFile: largest)
            _ = try files.append { head in
                let record = AuditRecord(AuditDeed(.query, "shows \(number)"), after: head)
                let (line, digest) = record.line
                return (line + [0x0A], AuditHead(sequence: record.sequence, digest: digest))
            }
        }
    }

    /// All that `tail` gives behind `head`.
    private func rest(_ tail: inout AuditTail, after head: AuditHead) throws -> [AuditHead] {
        var (heads, last) = ([AuditHead](), head)
        while case let items = try tail.records(after: last), let next = items.last {
            heads += items.map(\.head)
            last = next.head
        }
        return heads
    }

    private func all(_ folder: TemporaryFolder) throws -> [AuditHead] {
        var heads: [AuditHead] = []
        var reader = AuditReader(dataDirectory: folder.path)
        _ = try reader.check { record, line in
            guard let (_, digest) = AuditRecord.read(line) else { return }
            heads.append(AuditHead(sequence: record.sequence, digest: digest))
        }
        return heads
    }

    /// Whatever is done to the trail, a reader that goes on from where it was gets each record once, in order.
    @Test func eachRecordOnce() throws {
        for seed in Trials.seeds(tenthOf: 100) {
            var random = SeededGenerator(seed: seed)
            let folder = TemporaryFolder()
            var tail = AuditTail(dataDirectory: folder.path, most: Int.random(in: 1...2_000, using: &random))
            var (given, last) = ([AuditHead](), AuditHead.origin)
            for _ in 0..<12 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: tear(folder, &random)
                case 1: tail = AuditTail(dataDirectory: folder.path, most: Int.random(in: 1...2_000, using: &random))
                case 2:
                    // What was given may be asked for again, where it was not taken.
                    let items = try tail.records(after: last)
                    let taken = items.prefix(Int.random(in: 0...items.count, using: &random))
                    given += taken.map(\.head)
                    last = given.last ?? last
                default: try append(Int.random(in: 1...4, using: &random), to: folder, largest: 600)
                }
            }
            given += try rest(&tail, after: last)
            #expect(given == (try all(folder)), "seed \(seed)")
        }
    }

    /// Leaves what a crash does: a part of a line, or zeros.
    private func tear(_ folder: TemporaryFolder, _ random: inout SeededGenerator) {
        guard let name = Files.names("\(folder.path)/audit").last else { return }
        let path = "\(folder.path)/audit/\(name)"
        let size = Int.random(in: 1...3_000, using: &random)
        Files.write(
            Files.read(path) + (Bool.random(using: &random) ? Array("{\"sequence\":".utf8) : [])
                + Array(repeating: 0, count: size) + (Bool.random(using: &random) ? [0x0A] : []), to: path)
    }

    /// A trail that was made from scratch is read from its first record, though it looks as the former one did.
    @Test func aTrailMadeFromScratch() throws {
        let folder = TemporaryFolder()
        try append(3, to: folder)
        var tail = AuditTail(dataDirectory: folder.path)
        let former = try rest(&tail, after: .origin)
        Files.move("\(folder.path)/audit", to: folder.file("former"))
        try append(5, to: folder)
        let new = try all(folder)
        #expect(try rest(&tail, after: try #require(former.last)) == new && new.count == 5)
        // So it is by who starts then.
        var other = AuditTail(dataDirectory: folder.path)
        #expect(try rest(&other, after: try #require(former.last)) == new)
    }

    /// Files that were moved away after they were read are no matter; those before are passed over.
    @Test func filesThatWereMovedAway() throws {
        let folder = TemporaryFolder()
        try append(20, to: folder, largest: 600)
        var tail = AuditTail(dataDirectory: folder.path)
        let heads = try all(folder)
        let items = try tail.records(after: .origin)
        let middle = try #require(items.last?.head)
        let names = Files.names("\(folder.path)/audit")
        #expect(names.count > 4)
        for name in names.prefix(3) { Files.move("\(folder.path)/audit/\(name)", to: folder.file(name)) }
        let left = try all(folder)
        let rest = try rest(&tail, after: middle)
        #expect(rest == left.filter { $0.sequence > middle.sequence } && rest.last == heads.last)
    }

    /// A line longer than what is read at a time.
    @Test func longLines() throws {
        let folder = TemporaryFolder()
        try append(4, to: folder)
        var tail = AuditTail(dataDirectory: folder.path, most: 1)
        #expect(try rest(&tail, after: .origin) == (try all(folder)))
    }

    /// The last record of a file, or of what is read at a time, does not come alone while there are others behind it.
    @Test(arguments: [1, 1 << 20]) func oneDoesNotComeAlone(most: Int) throws {
        let folder = TemporaryFolder()
        try append(20, to: folder, largest: 600)
        #expect(Files.names("\(folder.path)/audit").count > 4)
        let heads = try all(folder)
        for (place, head) in ([.origin] + heads).enumerated() {
            var tail = AuditTail(dataDirectory: folder.path, most: most)
            let found = try tail.records(after: head).map(\.head)
            #expect(found.count >= min(AuditTail.least, 20 - place), "behind \(place)")
            #expect(found == Array(heads[place...].prefix(found.count)))
        }
    }
}
