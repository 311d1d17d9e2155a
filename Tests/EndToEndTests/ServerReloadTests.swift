import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A FHIR server that moves, or wants other credentials, while `kymo run` works.
@Suite(.serialized, .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct ServerReloadTests {
    private let folder = TemporaryFolder()

    private func configure(_ sinks: String, drain: Int) {
        folder.write(
            "kymo.yaml",
            """
            window: 1h
            idle: 0s
            data: data
            drain: \(drain)s
            sources: [{unix: \(folder.file("a.sock"))}]
            \(sinks)

            """)
    }

    private func reload(_ run: ChildProcess, drain: Int) throws {
        run.signal(SIGHUP)
        try run.waitForError("→ \(drain)s")
    }

    private func send(_ device: String, _ address: String, total: Int) throws {
        try Sending.send(lines: Readings.heartRates(20, device: device), to: address)
        try Waiting.until("\(total) readings") {
            try Kymo.run(["status", "--data", folder.file("data")]).text.contains("received \(total) ")
        }
    }

    private func flush() throws { _ = try Kymo.run(["flush", "--wait", "1s", "--data", folder.file("data")]) }

    private func wait(_ server: FHIRServer, for count: Int) async throws {
        for _ in 0..<400 {
            if try await self.count(server) == count { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("\(try await self.count(server)) Observations in place of \(count)")
    }

    private func count(_ server: FHIRServer) async throws -> Int {
        let (body, _) = try await server.get("/Observation?_count=10")
        return try JSONTree(parsing: Array(body))["entry"]?.elements?.count ?? 0
    }

    /// What waited for the server where it was goes to where it is, once; what it had stays there.
    @Test func theServerMoves() async throws {
        let (former, next) = (try FHIRServer(), try FHIRServer())
        try await former.waitUntilReady()
        try await next.waitUntilReady()
        func sink(_ base: String) -> String { "sinks: [{server: '\(base)', identity: create, name: ward}]" }
        configure(sink(former.base), drain: 30)
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        let address = try run.addresses()[0]
        try send("w-1", address, total: 20)
        try flush()
        try await wait(former, for: 1)
        // It has an answer for nothing any more.
        try await former.makeFaults(["500": 1])
        try send("w-2", address, total: 40)
        try flush()
        configure(sink(next.base), drain: 31)
        try reload(run, drain: 31)
        #expect(run.errorText.contains("sinks[0] server \(former.base) → server \(next.base) (kymo.yaml:6:"))
        try await wait(next, for: 1)
        try send("w-3", address, total: 60)
        try flush()
        try await wait(next, for: 2)
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
        #expect(!done.error.contains("given up") && done.error.contains("ward: delivered"), "\(done.error)")
        #expect(try Kymo.run(["ledger", "--verify", "--data", folder.file("data")]).end == .exit(0))
    }

    /// Other settings of the only server, which has no name of its own, are taken over; its address is not.
    @Test func theOnlyServer() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        func settings(_ base: String, _ more: String) -> String {
            "output: {to: none}\nserver: {url: '\(base)', identity: create\(more)}"
        }
        configure(settings(server.base, ""), drain: 30)
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        let address = try run.addresses()[0]
        configure(settings(server.base, ", connections: 2, timeout: 5s"), drain: 31)
        try reload(run, drain: 31)
        #expect(run.errorText.contains("took over server.timeout 30s → 5s (kymo.yaml:7:"), "\(run.errorText)")
        try send("w-1", address, total: 20)
        try flush()
        try await wait(server, for: 1)
        configure(settings("http://127.0.0.1:9/fhir", ""), drain: 32)
        run.signal(SIGHUP)
        try run.waitForError("cannot change while it runs: server.url \(server.base) → http://127.0.0.1:9/fhir")
        #expect(try run.terminate().end == .exit(0))
    }
}
