import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A data directory whose readings go to a database.
struct PostgresRun {
    let server: PostgresServer
    let folder = TemporaryFolder()
    /// Settings of the sink, each as in YAML.
    var settings: [String] = []

    /// What tells where the readings go to.
    func configuration(_ more: String = "") -> String {
        let sink = (["postgres: \"\(url ?? server.url())\""] + settings).joined(separator: ", ")
        return folder.write(
            "kymo.yaml",
            """
            sinks: [{name: pg, \(sink)}\(more)]
            log: {format: text}
            """)
    }

    /// The URL; nil for the socket.
    var url: String?

    var data: String { folder.file("data") }

    func arguments(_ more: String = "") -> [String] {
        ["run", "--config", configuration(more), "--data", data, "--window", "1m"]
    }

    /// Runs `lines` through, and waits until they are stored.
    @discardableResult
    func run(_ lines: [String], _ more: [String] = []) throws -> Kymo.Finished {
        try Kymo.run(arguments() + ["--stdin"] + more, input: .bytes(Readings.ndjson(lines)))
    }

    /// Starts one that lasts, at the socket of ``send(_:)``.
    func start(
        _ more: String = "", _ arguments: [String] = [], _ environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let run = try Kymo.start(
            self.arguments(more) + ["--unix", folder.file("k.sock")] + arguments, environment: environment)
        _ = try run.addresses()
        return run
    }

    func send(_ lines: [String]) throws {
        let client = try AckClient(folder.file("k.sock"))
        client.send(Readings.ndjson(lines))
        try Waiting.until("acknowledgements") {
            client.receive()
            return client.acknowledged == lines.count
        }
    }

    /// A file with `password` that nobody else can read.
    func passwordFile(_ password: String, name: String = "password") -> String {
        let file = folder.write(name, password)
        // Safe: Swift lends the path for the call.
        unsafe chmod(file, 0o600)
        return file
    }

    /// What `kymo status` says of the sink's trouble.
    func trouble() throws -> String? { try delivery()?["trouble"]?["cause"]?.text }

    /// What `kymo status` says of the sink.
    func delivery() throws -> JSONTree? {
        let done = try Kymo.run(["status", "--data", data, "--format", "json"])
        let sinks = try JSONTree(parsing: done.output)["sinks"]?.elements ?? []
        return sinks.first { $0["name"]?.text == "pg" }?["delivery"]
    }

    /// The last Observations of the archive, as `kymo export` has them.
    func exported(_ more: [String] = []) throws -> String {
        let done = try Kymo.run(["export", "--data", data] + more)
        #expect(done.end == .exit(0), "\(done.error)")
        return done.text
    }
}
