import CKymographLinux
import Foundation
import GRDB
import Glibc
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Receipts by a Unix socket: every line reaches a reader that reads it, whatever readers before it did.
@Suite struct ReceiptSocketTests {
    /// A store with a socket that is served.
    private final class Trial {
        let scratch = Scratch()
        let store: Store
        let notes = NoteList()
        private let socket: ReceiptSocket
        let progress: ReceiptProgress

        init() throws {
            store = try Store(path: scratch.path)
            let control = try PipelineControl(notes: notes.take)
            socket = try ReceiptSocket(store, path: scratch.path + "/receipts.sock", control: control)
            progress = try #require(store.receiptProgress.first)
            socket.start()
        }

        /// Has `count` more lines, of about `bytes` each, wait.
        func add(_ count: Int, bytes: Int = 100) throws {
            try store.pool.write { db in
                for _ in 0..<count {
                    try db.execute(
                        sql: "INSERT INTO receipt_line (run, line) VALUES ('r', ?)",
                        arguments: ["{\"text\":\"\(String(repeating: "x", count: bytes))\"}\n".utf8Data])
                }
            }
            socket.wake()
        }

        func end() {
            socket.finish()
            store.close()
            store.directory.unlock()
        }

        func reader() throws -> Reader { try Reader(scratch.path + "/receipts.sock") }

        /// Waits until the store knows that the reader has `count` lines.
        func waitUntil(taken count: Int64) {
            for _ in 0..<1_000 where progress.taken < count { usleep(5_000) }
            #expect(progress.taken == count)
        }
    }

    private final class Reader: @unchecked Sendable {
        private let descriptor: Descriptor
        private var text: [UInt8] = []

        init(_ path: String) throws {
            descriptor = Descriptor(kymo_unix_open(Int32(SOCK_STREAM.rawValue)))
            try #require(unsafe kymo_unix_connect(descriptor.raw, path) >= 0)
        }

        /// Says that it sends nothing more, as most programs do.
        func finishSending() { _ = shutdown(descriptor.raw, Int32(SHUT_WR)) }

        /// Waits until something is there to be read.
        func waitForBytes() {
            _ = kymo_wait_either(descriptor.raw, -1, 10_000)
        }

        /// Reads a line, and not a byte more.
        func firstNumber() -> Int? {
            let line = ControlSocket.readLine(descriptor, onlyLine: true).map { String(decoding: $0, as: UTF8.self) }
            return line.flatMap(Self.number)
        }

        private static func number(_ line: String) -> Int? {
            line.firstMatch(of: /"id":"r-([0-9]+)"/).flatMap { Int($0.1) }
        }

        /// Reads up to `count` lines, and gives their numbers.
        func numbers(_ count: Int) -> [Int] {
            var lines: [String] = []
            while lines.count < count {
                if let end = text.firstIndex(of: 0x0A) {
                    lines.append(String(decoding: text[..<end], as: UTF8.self))
                    text.removeSubrange(...end)
                    continue
                }
                guard kymo_wait_either(descriptor.raw, -1, 10_000) & 1 != 0,
                    let bytes = ControlSocket.receiveNow(descriptor)
                else { break }
                text += bytes
            }
            return lines.compactMap(Self.number)
        }
    }

    @Test(arguments: [(1, 50), (700, 100), (60, 20_000), (3, 400_000)])
    func aReaderGetsEachLineOnce(count: Int, bytes: Int) throws {
        let trial = try Trial()
        try trial.add(count, bytes: bytes)
        let reader = try trial.reader()
        reader.finishSending()
        #expect(reader.numbers(count) == Array(1...count))
        try trial.add(5)
        #expect(reader.numbers(5) == Array(count + 1...count + 5))
        trial.waitUntil(taken: Int64(count + 5))
        trial.end()
        #expect(trial.notes.all.contains { $0.contains("reads them") })
    }

    /// What was sent and not read is not lost with the one who did not read it.
    @Test(arguments: [0, 1, 150]) func whatIsUnreadComesAgain(read: Int) throws {
        let trial = try Trial()
        try trial.add(150)
        do {
            let first = try trial.reader()
            first.waitForBytes()
            // Nothing counts as taken before all is that was under way.
            if read == 1 { #expect(first.firstNumber() == 1) }
            if read == 150 {
                #expect(first.numbers(150) == Array(1...150))
                trial.waitUntil(taken: 150)
            }
        }
        let second = try trial.reader()
        try trial.add(1)
        let start = read == 150 ? 151 : 1
        #expect(second.numbers(152 - start) == Array(start...151))
        trial.waitUntil(taken: 151)
        trial.end()
    }

    /// Lines wait without a reader, and for one that does not read; at the end that holds up little.
    @Test(arguments: [false, true]) func linesWait(hasReader: Bool) throws {
        let trial = try Trial()
        let reader = hasReader ? try trial.reader() : nil
        try trial.add(1_000)
        usleep(100_000)
        #expect(trial.progress.taken == 0)
        let began = ContinuousClock.now
        trial.end()
        #expect(ContinuousClock.now - began < .seconds(10))
        withExtendedLifetime(reader) {}
        let store = try Store(path: trial.scratch.path)
        defer { store.close() }
        #expect(store.receiptLines(after: 0, most: 2_000).count == 1_000)
    }

    /// At the end a reader gets what waits.
    @Test func theRestIsGivenAtTheEnd() throws {
        let trial = try Trial()
        let reader = try trial.reader()
        try trial.add(500)
        let reading = TestThread { reader.numbers(500) }
        trial.end()
        #expect(reading.join() == Array(1...500))
        #expect(trial.progress.taken == 500)
    }

    /// Lines leave when files and the reader have them; neither gets again what it had in an earlier run.
    @Test func filesAndAReader() throws {
        let scratch = Scratch()
        func open() throws -> (store: Store, files: ReceiptProgress, socket: ReceiptProgress) {
            let store = try Store(path: scratch.path)
            return (store, store.beginReceipts(for: .files), store.beginReceipts(for: .socket))
        }
        let (first, files, socket) = try open()
        try first.pool.write { db in
            for _ in 0..<10 { try db.execute(sql: "INSERT INTO receipt_line (run, line) VALUES ('r', x'7b7d0a')") }
        }
        files.take(through: 8)
        socket.take(through: 3)
        first.dropTakenReceipts()
        #expect(first.receiptLines(after: 0, most: 20).map(\.number) == Array(4...10))
        first.close()
        first.directory.unlock()
        let (second, filesAgain, socketAgain) = try open()
        #expect(filesAgain.taken == 8 && socketAgain.taken == 3)
        socketAgain.take(through: 10)
        second.dropTakenReceipts()
        #expect(second.receiptLines(after: 0, most: 20).map(\.number) == [9, 10])
        second.close()
    }

    /// A repair keeps what waits, and how far each has come; numbers go on after it.
    @Test(arguments: [3, 10]) func aRepairWithTwoTakers(taken: Int64) throws {
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        let (files, socket) = (store.beginReceipts(for: .files), store.beginReceipts(for: .socket))
        func add(_ count: Int, to store: Store) throws {
            try store.pool.write { db in
                for _ in 0..<count {
                    try db.execute(sql: "INSERT INTO receipt_line (run, line) VALUES ('r', x'7b7d0a')")
                }
            }
        }
        try add(10, to: store)
        files.take(through: 10)
        socket.take(through: taken)
        store.dropTakenReceipts()
        try store.directory.mark("a test")
        store.close()
        store.directory.unlock()
        let repaired = try Store(path: scratch.path)
        defer { repaired.close() }
        #expect(repaired.receiptLines(after: 0, most: 20).map(\.number) == Array(1...10).filter { $0 > taken })
        let (filesAgain, socketAgain) = (repaired.beginReceipts(for: .files), repaired.beginReceipts(for: .socket))
        #expect(filesAgain.taken == 10 && socketAgain.taken == taken)
        socketAgain.take(through: 10)
        repaired.dropTakenReceipts()
        try add(2, to: repaired)
        #expect(
            repaired.receiptLines(after: 0, most: 20).map(\.number) == [11, 12], "what files have had is not theirs")
    }

    /// A store from before the table of takers gets it when it is opened, and not with each commit.
    @Test func aStoreWithoutTakers() throws {
        let scratch = Scratch()
        func hasTakers(_ store: Store) throws -> Bool { try store.pool.read { try $0.tableExists("receipt_taken") } }
        let first = try Store(path: scratch.path)
        #expect(try hasTakers(first))
        try first.pool.write { try $0.execute(sql: "DROP TABLE receipt_taken") }
        first.close()
        first.directory.unlock()
        let second = try Store(path: scratch.path)
        defer { second.close() }
        #expect(try hasTakers(second))
    }

    /// One that reads little at a time takes some, before it has read all that is under way.
    @Test func aSlowReaderIsNotStuck() throws {
        let trial = try Trial()
        defer { trial.end() }
        try trial.add(150, bytes: 300)
        trial.progress.noteFailure()
        let reader = try trial.reader()
        reader.waitForBytes()
        usleep(50_000)
        #expect(trial.progress.isStuck, "nobody has read what had room in the socket")
        for number in 1...20 { #expect(reader.firstNumber() == number) }
        for _ in 0..<1_000 where trial.progress.isStuck { usleep(5_000) }
        #expect(!trial.progress.isStuck && trial.progress.taken == 0)
    }

    /// What was dropped and is lacked by one that never came back is said at the end.
    @Test func whatWasDroppedIsSaidAtTheEnd() throws {
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let notes = NoteList()
        store.watch.begin(note: notes.take) { notes.add($0.message) }
        let (files, socket) = (store.beginReceipts(for: .files), store.beginReceipts(for: .socket))
        #expect(socket.noteDropped(150) && !socket.noteDropped(7))
        store.tellDroppedReceipts()
        #expect(notes.all.count == 1, "\(notes.all)")
        #expect(notes.all.first?.contains("157 that waited for the reader of their socket were dropped") == true)
        store.tellDroppedReceipts()
        #expect(notes.all.count == 1, "\(notes.all)")
        withExtendedLifetime(files) {}
    }

    /// Of a full store only what a reader lacks that is away goes, and files lose nothing.
    @Test func aReaderThatIsAwayCostsFilesNothing() throws {
        let scratch = Scratch()
        var settings = StoreSettings()
        let store = try Store(path: scratch.path, settings: settings)
        defer { store.close() }
        func used() throws -> Int { try store.pool.read { try StoreRetention.used($0) } }
        let empty = try used()
        let notes = NoteList()
        store.watch.begin(note: notes.take) { notes.add($0.message) }
        let (files, socket) = (store.beginReceipts(for: .files), store.beginReceipts(for: .socket))
        try store.pool.write { db in
            for _ in 0..<200 {
                try db.execute(sql: "INSERT INTO receipt_line (run, line) VALUES ('r', zeroblob(12000))")
            }
        }
        // Full also with no more for the reader than may always wait, but not with what the files lack.
        settings.maxBytes = empty + (try used() - empty) * 103 / 400
        store.follow(settings)
        files.take(through: 150)
        files.note()
        socket.noteFailure()
        var retention = StoreRetention(settings)
        try retention.check(store, adding: 0)
        let left = store.receiptLines(after: 0, most: 300).map(\.number)
        #expect(left == Array(151...200), "\(left)")
        #expect(notes.all.count { $0.contains("receipts that wait for the reader of their socket are dropped") } == 1)
        #expect(!notes.all.contains { $0.contains("their files") })
        socket.take(through: 200)
        socket.note()
        retention.noteCommit()
        for _ in 0..<8 { retention.noteCommit() }
        try retention.check(store, adding: settings.maxBytes)
        #expect(
            notes.all.contains { $0.contains("the reader of the socket takes them again; 150 were dropped") },
            "\(notes.all)")
    }

    /// A store that is far from full keeps an eighth of its size for a reader who is away; what files lack stays.
    @Test(arguments: [nil, 200, 120] as [Int64?]) func aReaderWhoNeverComesCostsLittle(files: Int64?) throws {
        let scratch = Scratch()
        var settings = StoreSettings()
        settings.maxBytes = 8 << 20
        let store = try Store(path: scratch.path, settings: settings)
        defer { store.close() }
        let notes = NoteList()
        store.watch.begin(note: notes.take) { notes.add($0.message) }
        if let files { store.beginReceipts(for: .files).take(through: files) }
        let socket = store.beginReceipts(for: .socket)
        try store.pool.write { db in
            for _ in 0..<200 {
                try db.execute(sql: "INSERT INTO receipt_line (run, line) VALUES ('r', zeroblob(16384))")
            }
        }
        var retention = StoreRetention(settings)
        try retention.check(store, adding: 0)
        #expect(store.receiptLines(after: 0, most: 300).count == 200, "its reader may still come")
        socket.noteFailure()
        try retention.check(store, adding: settings.maxBytes)
        let through = (files ?? 200) - 64
        #expect(store.receiptLines(after: 0, most: 300).map(\.number) == Array(through + 1...200))
        #expect(notes.all.count { $0.contains("receipts that wait for the reader of their socket are dropped") } == 1)
        socket.take(through: 200)
        socket.note()
        try retention.check(store, adding: settings.maxBytes)
        #expect(notes.all.contains { $0.contains("takes them again; \(through) were dropped") }, "\(notes.all)")
    }

    /// At the end all who wait have the time of one, and nobody's turn comes after it.
    @Test func manyWhoDoNotRead() throws {
        let trial = try Trial()
        try trial.add(1_000)
        let readers = try (0..<8).map { _ in try trial.reader() }
        let began = ContinuousClock.now
        trial.end()
        #expect(ContinuousClock.now - began < .seconds(6))
        withExtendedLifetime(readers) {}
        #expect(trial.progress.taken == 0)
    }

    /// `kymo check` looks whether somebody listens, and is no reader.
    @Test func whoOnlyLooksIsNotSpokenOf() throws {
        let trial = try Trial()
        _ = try trial.reader()
        let reader = try trial.reader()
        try trial.add(3)
        #expect(reader.numbers(3) == [1, 2, 3])
        trial.waitUntil(taken: 3)
        trial.end()
        #expect(trial.notes.all.count { $0.contains("reads them") } == 1, "\(trial.notes.all)")
        #expect(!trial.notes.all.contains { $0.contains("has gone") }, "\(trial.notes.all)")
        withExtendedLifetime(reader) {}
    }

    @Test func aSocketThatIsInUse() throws {
        let trial = try Trial()
        let control = try PipelineControl(notes: trial.notes.take)
        let error = #expect(throws: PipelineError.self) {
            _ = try ReceiptSocket(trial.store, path: trial.scratch.path + "/receipts.sock", control: control)
        }
        #expect(error?.message.hasPrefix("receiptSocket: cannot listen to") == true && error?.exitCode == 71)
        trial.end()
        #expect(!Files.exists(trial.scratch.file("receipts.sock")), "the file is gone")
    }
}

extension String {
    fileprivate var utf8Data: Data { Data(utf8) }
}
