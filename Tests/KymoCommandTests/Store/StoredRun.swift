import CommandSupport
import GRDB
import KymographTestKit

/// A data directory that `kymo run` has filled from standard input.
struct StoredRun {
    let folder = TemporaryFolder()

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
    func command(_ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(arguments + ["--data", data])
    }

    /// The JSON that a command prints.
    func json(_ arguments: String...) throws -> JSONTree {
        try JSONTree(parsing: try Kymo.run(arguments + ["--data", data]).output)
    }

    /// Changes the database as only a fault, or a forger, would.
    func change(_ sql: String) throws {
        let queue = try DatabaseQueue(path: "\(data)/kymo.sqlite")
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// The number that a query of the database gives.
    func value(_ sql: String) throws -> Int? {
        let queue = try DatabaseQueue(path: "\(data)/kymo.sqlite")
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: sql) }
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
