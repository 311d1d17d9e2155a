import CommandSupport
import Glibc
@testable import Kymograph
import KymographTestKit
import Testing

/// The chain of the audit trail: what is written can be read, and what was changed is found.
@Suite struct AuditTrailTests {
    private typealias Files = CommandSupport.Files

    private let folder = TemporaryFolder()

    private var trail: AuditTrail { AuditTrail(dataDirectory: folder.path) }

    private func file(_ first: Int = 1) -> String { "\(folder.path)/audit/audit-00000000\(first).ndjson" }

    /// Writes `count` deeds, and returns the last record.
    @discardableResult
    private func write(_ count: Int) throws -> AuditHead {
        let trail = trail
        var head = AuditHead.origin
        for number in 1...count {
            head = try #require(try trail.append([AuditDeed(.query, "shows \"\(number)\"\n")]))
        }
        return head
    }

    private func lines() -> [[UInt8]] { Files.read(file()).split(separator: 0x0A).map { Array($0) } }

    private func write(_ lines: [[UInt8]]) {
        Files.write(Array(lines.map { $0 + [0x0A] }.joined()), to: file())
    }

    private func check(_ heads: [AuditHead] = []) throws -> AuditReader.Report {
        var reader = AuditReader(dataDirectory: folder.path)
        return try reader.check(heads: heads)
    }

    @Test func whatIsWrittenIsReadInOrder() throws {
        let head = try write(3)
        try trail.append([AuditDeed(.export, "b"), AuditDeed(.export, "c")])
        var records: [AuditRecord] = []
        var reader = AuditReader(dataDirectory: folder.path)
        let report = try reader.check(heads: [head]) { record, _ in records.append(record) }
        #expect(records.map(\.sequence) == [1, 2, 3, 4, 5] && records[0].previous == AuditRecord.origin)
        #expect(records[0].text == "shows \"1\"\n" && records[4].event == "export")
        #expect(records[0].agent.hasPrefix("process \(getpid()) (user \(geteuid())"), "\(records[0].agent)")
        #expect(report.records == 5 && report.first == 1 && report.head.sequence == 5 && report.files == 1)
        #expect(report.faults.isEmpty && report.torn.isEmpty, "\(report)")
        #expect(Files.mode(file()) == 0o600 && Files.mode("\(folder.path)/audit") == 0o700)
    }

    /// Several writers, as an instance and commands are: each has locks of its own.
    @Test func manyWritersMakeOneChain() async throws {
        await withTaskGroup { group in
            for writer in 0..<4 {
                group.addTask { [path = folder.path] in
                    let trail = AuditTrail(dataDirectory: path)
                    for number in 0..<25 {
                        _ = try? trail.append([AuditDeed(.query, "\(writer) \(number)")])
                    }
                }
            }
        }
        var texts: [String] = []
        var reader = AuditReader(dataDirectory: folder.path)
        let report = try reader.check { record, _ in texts.append(record.text) }
        #expect(report.faults.isEmpty && report.head.sequence == 100, "\(report)")
        #expect(Set(texts).count == 100)
    }

    /// Any change of bytes, and any record that is removed, copied or put elsewhere, is found by who has noted the
    /// last record.
    @Test(arguments: 0..<200 as Range<UInt64>) func changesAreFound(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...8, using: &random)
        let head = try write(count)
        var lines = lines()
        let place = Int.random(in: 0..<count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let byte = Int.random(in: 0..<lines[place].count, using: &random)
            lines[place][byte] ^= UInt8.random(in: 1...127, using: &random)
        case 1: lines.remove(at: place)
        case 2: lines.insert(lines[place], at: Int.random(in: 0...count, using: &random))
        case 3: lines.swapAt(place, (place + 1) % count)
        default: lines[place].removeLast(Int.random(in: 1...lines[place].count, using: &random))
        }
        write(lines)
        let report = try check([head])
        #expect(!report.faults.isEmpty, "\(Files.text(file()))")
    }

    /// A record that was changed and given a new digest does not carry the next one.
    @Test func aForgedRecordBreaksTheChain() throws {
        try write(3)
        var lines = lines()
        var forged = try #require(AuditRecord.read(lines[1])).record
        forged.text = "shows nothing"
        lines[1] = forged.line.bytes
        write(lines)
        let report = try check()
        #expect(
            report.faults == [
                "audit-000000001.ndjson:3: record 3 does not follow record 2: records are missing or were changed"
            ])
    }

    /// The end can be cut off unseen, but not by who knows how far it went.
    @Test func aTrailThatWasCutLacksWhatWasNoted() throws {
        let head = try write(3)
        write(Array(lines().prefix(2)))
        #expect(try check().faults.isEmpty)
        #expect(try check([head]).faults == ["the trail has no record \(head.text), which was noted"])
    }

    /// A trail that was made from scratch can say that it goes on from older files, but not from what was noted.
    @Test func aTrailFromScratchLacksWhatWasNoted() throws {
        let noted = try write(3)
        Files.move(file(), to: folder.file("away.ndjson"))
        let before = AuditHead(sequence: 3, digest: String(repeating: "5", count: 64))
        let forged = AuditRecord(AuditDeed(.query, "shows nothing"), after: before).line.bytes
        Files.write(forged + [0x0A], to: file(4))
        #expect(try check().faults.isEmpty)
        #expect(
            try check([noted]).faults == [
                "the trail has no record \(noted.text), which was noted; it begins with record 4"
            ])
        #expect(try check([before]).faults.isEmpty)
        let earlier = AuditHead(sequence: 2, digest: before.digest)
        #expect(try check([earlier]).faults.count == 1)
    }

    /// Root appends to trails in directories of other users, which could have put anything there: what links lead to
    /// is neither written nor given away.
    @Test func linksAreNotFollowed() throws {
        let outside = TemporaryFolder()
        let (audit, target) = ("\(folder.path)/audit", outside.file("target"))
        func refused(_ reason: String, at line: Int = #line) {
            let error = #expect(throws: AuditError.self) { try trail.append([AuditDeed(.query, "a")]) }
            #expect(error?.message.contains(reason) ?? false, "\(line): \(error?.message ?? "")")
        }
        #expect(unsafe symlink(outside.path, audit) == 0)
        refused("links are not followed")
        #expect(throws: AuditError.self) { try check() }
        #expect(Files.names(outside.path).isEmpty)
        unsafe unlink(audit)
        try write(1)
        let whole = Files.read(file())
        Files.move(file(), to: target)
        #expect(unsafe symlink(target, file()) == 0)
        refused("links are not followed")
        #expect(throws: AuditError.self) { try check() }
        unsafe unlink(file())
        // One that leads nowhere is not a file to be made.
        #expect(unsafe symlink(outside.file("nothing"), file()) == 0)
        refused("links are not followed")
        unsafe unlink(file())
        #expect(unsafe link(target, file()) == 0)
        refused("hard links")
        // A backup may be made of them.
        #expect(try check().records == 1)
        unsafe unlink(file())
        #expect(unsafe mkfifo(file(), 0o600) == 0)
        refused("is no regular file")
        #expect(throws: AuditError.self) { try check() }
        unsafe unlink(file())
        #expect(Files.read(target) == whole && Files.names(outside.path) == ["target"])
        Files.move(target, to: file())
        try write(1)
        #expect(try check().records == 2)
    }

    /// Crashes within writes leave parts of lines: they stay, and the chain goes on behind them.
    @Test(arguments: [1, 20, 200]) func crashesLeaveParts(_ bytes: Int) throws {
        try write(2)
        let whole = Files.read(file())
        let line = lines()[1]
        Files.write(whole + line.prefix(bytes), to: file())
        #expect(try check().torn == ["audit-000000001.ndjson:3"])
        let head = try write(1)
        let report = try check([head])
        #expect(report.torn == ["audit-000000001.ndjson:3"] && report.faults.isEmpty, "\(report)")
        #expect(report.records == 3 && head.sequence == 3)
        Files.write(Files.read(file()) + line.prefix(bytes) + [0x0A] + line.prefix(bytes), to: file())
        let last = try write(1)
        let again = try check([head, last])
        #expect(again.torn.count == 3 && again.faults.isEmpty && again.records == 4, "\(again)")
    }

    /// A changed record is no part of one, though the chain goes on behind it as behind a crash.
    @Test func aChangedLastRecordStaysAFault() throws {
        try write(3)
        var lines = lines()
        lines[2][20] ^= 1
        write(lines)
        #expect(try check().faults == ["audit-000000001.ndjson:3: the record was changed"])
        try write(2)
        #expect(try check().faults == ["audit-000000001.ndjson:3: the record was changed"])
    }

    /// A full file is followed by another; older ones may be taken away.
    @Test func filesFollowEachOther() throws {
        let small = AuditFolder(dataDirectory: folder.path, largestFile: 1_000)
        var head = AuditHead.origin
        for number in 1...24 {
            head = try small.append { former in
                let record = AuditRecord(AuditDeed(.query, "\(number)"), after: former)
                let (line, digest) = record.line
                return (line + [0x0A], AuditHead(sequence: record.sequence, digest: digest))
            }
        }
        #expect(try check([head]).faults.isEmpty)
        let names = try #require(try small.opened()).names()
        #expect(names.count >= 4)
        let moved = try lines().map { try #require(AuditRecord.read($0)) }
        let heads = moved.map { AuditHead(sequence: $0.record.sequence, digest: $0.digest) }
        Files.move(file(), to: folder.file("archived.ndjson"))
        // The first record that is left has the digest of the last one that is not.
        let report = try check([head, try #require(heads.last)])
        #expect(report.faults.isEmpty && report.first == names[1].first, "\(report)")
        #expect(report.records == 24 - report.first + 1)
        #expect(
            try check([heads[0]]).faults == [
                "the trail has no record \(heads[0].text), which was noted; it begins with record \(report.first)"
            ])
        // One from the middle is missed.
        Files.move("\(small.path)/\(names[2].name)", to: folder.file("taken.ndjson"))
        #expect(try !check().faults.isEmpty)
    }

    /// Files are larger than what is read of other files.
    @Test func largeFilesAreRead() throws {
        let text = String(repeating: "x", count: 4_000)
        let trail = trail
        for _ in 0..<12 {
            try trail.append((0..<150).map { _ in AuditDeed(.query, text) })
        }
        let report = try check()
        #expect(report.records == 1_800 && report.faults.isEmpty && report.files == 1)
        #expect(Files.read(file()).count > 6 << 20)
    }

    /// What senders could repeat without end is folded, and written when somebody has time for it.
    @Test func refusalsAreFoldedAndWrittenLater() throws {
        let trail = trail
        var refusal = LogEntry.deed(.peerRefused, by: "peer ward-3", "udp: the peer ward-3 is refused")
        refusal.isFolded = true
        for _ in 0..<1_000 { #expect(try trail.note(refusal) == nil) }
        #expect(Files.names(folder.path).isEmpty)
        try trail.append([])
        #expect(try check().records == 1)
        trail.collect(isLast: true)
        try trail.append([])
        var texts: [String] = []
        var reader = AuditReader(dataDirectory: folder.path)
        _ = try reader.check { record, _ in texts.append(record.text) }
        #expect(texts.count == 2 && texts[1].contains("999 more like this"), "\(texts)")
        #expect(try trail.note(.warning("something else")) == nil)
    }

    /// A trail that cannot be written is told of once, and again when it can be; nothing that waits is lost.
    @Test func troubleIsToldOnce() throws {
        let blocked = folder.file("data")
        Files.write([], to: blocked)
        let notes = NoteList()
        let log = AuditedLog(AuditTrail(dataDirectory: blocked)) { notes.add($0.text) }
        for _ in 0..<3 { log.take(.deed(.consoleReveal, by: "session 1", "has revealed")) }
        var refusal = LogEntry.deed(.peerRefused, by: "", "refused")
        refusal.isFolded = true
        log.take(refusal)
        var login = LogEntry.deed(.consoleLogin, by: "session 1", "has logged in")
        login.isDeferred = true
        log.take(login)
        log.finish()
        #expect(notes.all.count == 6 && notes.all[0].contains("audit"), "\(notes.all)")
        Files.move(blocked, to: folder.file("away"))
        #expect(FileSystem.createDirectory(blocked, mode: 0o700) == 0)
        log.settle()
        try Waiting.until("it is told") {
            notes.all.last?.hasPrefix("the audit trail is written again; before: ") == true
        }
        var events: [String] = []
        var reader = AuditReader(dataDirectory: blocked)
        _ = try reader.check { record, _ in events.append(record.event) }
        #expect(events == ["console.reveal", "console.reveal", "console.reveal", "peer.refused", "console.login"])
    }

    /// What threads note that have outlived the end is written, too, though nobody looks after it any more.
    @Test func entriesBehindTheEndAreWritten() throws {
        let notes = NoteList()
        let log = AuditedLog(trail) { notes.add($0.text) }
        log.finish()
        #expect(Files.names(folder.path).isEmpty)
        var login = LogEntry.deed(.consoleLogin, by: "session 1", "has logged in")
        login.isDeferred = true
        log.take(login)
        #expect(try check().records == 1)
        var refusal = LogEntry.deed(.peerRefused, by: "", "refused")
        refusal.isFolded = true
        for _ in 0..<3 { log.take(refusal) }
        #expect(try check().records == 4 && notes.all.count == 4, "\(notes.all)")
    }

    /// Of more deeds than can wait, the trail says how many there were.
    @Test func whatCannotWaitIsCounted() throws {
        let blocked = folder.file("data")
        Files.write([], to: blocked)
        let trail = AuditTrail(dataDirectory: blocked)
        for _ in 0..<50 {
            #expect(throws: AuditError.self) {
                try trail.append((0..<100).map { AuditDeed(.query, "\($0)") })
            }
        }
        Files.move(blocked, to: folder.file("away"))
        #expect(FileSystem.createDirectory(blocked, mode: 0o700) == 0)
        try trail.append([AuditDeed(.query, "last")])
        var texts: [String] = []
        var reader = AuditReader(dataDirectory: blocked)
        #expect(try reader.check { record, _ in texts.append(record.text) }.faults.isEmpty)
        #expect(texts.count == 4_096 + 2 && texts[4_096] == "904 deeds are not here, but in the log alone")
    }

    @Test func notedRecordsAreRead() {
        let digest = String(repeating: "a1", count: 32)
        #expect(AuditHead("12:\(digest)") == AuditHead(sequence: 12, digest: digest))
        #expect(AuditHead("12:\(digest.uppercased())") == AuditHead(sequence: 12, digest: digest))
        for text in ["", "12", "12:", "x:\(digest)", "-1:\(digest)", "12:\(digest)0", "12:\(digest):1"] {
            #expect(AuditHead(text) == nil, "\(text)")
        }
    }

    /// Longer texts than a record may have are cut between characters.
    @Test func longTextsAreCut() throws {
        let deed = AuditDeed(.query, String(repeating: "\u{1}é", count: 3_000))
        let record = AuditRecord(deed, after: .origin)
        #expect(record.text.utf8.count <= 4_096 + 3 && record.text.hasSuffix("…"))
        #expect(record.line.bytes.count < AuditRecord.longestLine)
        try trail.append([deed, deed])
        #expect(try check().records == 2)
    }
}
