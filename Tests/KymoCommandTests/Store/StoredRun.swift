import CSQLiteChecksums
import CommandSupport
import Foundation
import GRDB
import KymographCore
import KymographTestKit

/// A data directory that `kymo run` has filled from standard input.
struct StoredRun {
    var folder = TemporaryFolder()

    var data: String { folder.file("data") }
    var output: String { folder.file("out") }

    /// Runs `lines` through a pipeline that keeps its data and writes Observations to a folder.
    @discardableResult
    func run(_ lines: [String], _ arguments: [String] = []) throws -> Kymo.Finished {
        try Kymo.run(
            ["run", "--stdin", "--data", data, "--out", output, "--format", "ndjson", "--window", "1m"] + arguments,
            input: .bytes(Readings.ndjson(lines)))
    }

    /// A command on the data directory.
    @discardableResult
    func command(_ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(arguments + ["--data", data])
    }

    /// The JSON that a command prints.
    func json(_ arguments: String...) throws -> JSONTree {
        try JSONTree(parsing: try Kymo.run(arguments + ["--data", data]).output)
    }

    /// What is kept of letters that are gone.
    static let strayContexts = "SELECT count(*) FROM letter_context WHERE letter NOT IN (SELECT number FROM dead)"

    /// The sink of ``refusedEntry``, which has taken nothing of what comes.
    static let refusingSink = "INSERT INTO sink VALUES ('server', 0)"

    /// Adds a letter with an Observation of row 7, whose identifier is 1.
    static let refusedEntry: String = {
        var entry = EntryDraft(.observation)
        entry.body = Array(#"{"resourceType":"Observation","identifier":[{"value":"1"}]}"#.utf8)
        (entry.type, entry.id, entry.value) = (Array("Observation".utf8), Array("1".utf8), Array("1".utf8))
        return letter(EntryDraft.block(of: [entry], form: BundleForm()), resource: "Observation/1")
    }()

    /// Adds a letter of the server with `body`, which came with row 7.
    static func letter(_ body: [UInt8], resource: String) -> String {
        """
        INSERT INTO dead (at, kind, reason, source, detail, resource, outbox, codec, key_id, checksum, body)
        VALUES (1, 'entry', 'serverRefused', 'server', 'Observation/1: 422', '\(resource)', 7, 0, 0,
            \(checksum(body)), \(literal(body)))
        """
    }

    /// The columns of a stored body that is not compressed, for UPDATE.
    static func plainBody(_ body: [UInt8]) -> String {
        "codec = 0, key_id = 0, checksum = \(checksum(body)), body = \(literal(body))"
    }

    private static func literal(_ bytes: [UInt8]) -> String {
        "X'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }

    /// CRC-32C, as the store has it of each body.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0x82F6_3B78 : sum >> 1 }
        }
        return ~sum
    }

    /// Changes the database as a forger would who knows its format: the pages keep their checksums.
    func change(_ sql: String) throws {
        let queue = try opened()
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Does `body` while nobody else can write to the database.
    func locked(_ body: () throws -> Void) throws {
        let queue = try opened()
        defer { try? queue.close() }
        try queue.inTransaction(.immediate) { _ in
            try body()
            return .rollback
        }
    }

    /// The number of the page that the table `name` begins with, from 1 on.
    func rootPage(of name: String) throws -> Int {
        let queue = try opened()
        defer { try? queue.close() }
        let page = try queue.read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [name])
        }
        guard let page else { throw WaitError(description: "there is no table \(name)") }
        return page
    }

    /// Changes the database in pages without checksums, as other programs do unless they are told, in a process of its
    /// own: within one, all databases are opened in the same way.
    func changeFromOutside(_ sql: String) throws {
        let code =
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()"
        let end = try ChildProcess(SharedMaterial.python, ["-c", code, "\(data)/kymo.sqlite", sql]).wait()
        guard end == .exit(0) else { throw WaitError(description: "the change failed") }
    }

    /// The database, as kymo opens it: who closes it brings the log of a killed run into its pages, which must have
    /// checksums.
    private func opened() throws -> DatabaseQueue {
        guard kymo_pages_register() == 0 else { throw WaitError(description: "no checksums of pages") }
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: "\(data)/kymo.sqlite", configuration: configuration)
    }

    /// The number that a query of the database gives.
    func value(_ sql: String) throws -> Int? {
        let queue = try opened()
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: sql) }
    }

    /// The bytes that a query of the database gives.
    func bytes(_ sql: String) throws -> [UInt8]? {
        let queue = try opened()
        defer { try? queue.close() }
        return try queue.read { try Data.fetchOne($0, sql: sql) }.map { [UInt8]($0) }
    }

    /// All lines that were written as output, sorted.
    var written: [String] {
        Files.names(output).filter { $0.hasSuffix(".ndjson") }.flatMap { name in
            Files.text("\(output)/\(name)").split(separator: "\n").map(String.init)
        }.sorted()
    }
}

extension JSONTree {
    /// The whole number that this is, or nil.
    var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }

    /// Whether this is `true`.
    var isTrue: Bool { self == .bool(true) }
}
