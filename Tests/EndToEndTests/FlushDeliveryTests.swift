import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo flush` and the last success by type, with a server.
@Suite(.serialized, .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct FlushDeliveryTests {
    private let folder = TemporaryFolder()

    private func start(_ server: String, _ more: [String] = []) throws -> (run: ChildProcess, address: String) {
        let run = try Kymo.start(
            [
                "run", "--unix", folder.file("a.sock"), "--data", folder.file("data"), "--out", "none", "--server",
                server, "--server-identity", "create", "--window", "1h", "--idle", "0s",
            ] + more)
        return (run, try run.addresses()[0])
    }

    private func command(_ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(arguments + ["--data", folder.file("data")])
    }

    private func send(_ lines: [String], to address: String, total: Int) throws {
        try Sending.send(lines: lines, to: address)
        try Waiting.until("\(total) readings") {
            try command("status").text.contains("received \(total) ")
        }
    }

    /// Names of the types of which the sink has taken something.
    private func types() throws -> [String] {
        let status = try JSONTree(parsing: try command("status", "--format", "json").output)
        return status["store"]?["successes"]?.elements?.compactMap { row in
            row["sink"]?.text?.hasPrefix("server ") == true ? row["type"]?.text : nil
        } ?? []
    }

    private let mass = Readings.heartRate(second: 5).replacing("heartRate", with: "bodyMass")
        .replacing("\"/min\"", with: "\"kg\"")

    /// The server has what was closed when the command says so; the next flush amends the same Observation.
    @Test func theServerHasItWhenItIsSaid() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let (run, address) = try start(server.base)
        try send(Readings.heartRates(60), to: address, total: 60)
        #expect(try types().isEmpty)
        for (count, status) in [(60, "final"), (61, "amended")] {
            if count > 60 { try send([Readings.heartRate(second: 70)], to: address, total: 61) }
            let done = try command("flush")
            #expect(
                done.end == .exit(0) && done.text == "closed 1 window; every sink has what they show\n", "\(done.text)")
            let (body, _) = try await server.get("/Observation?_count=10")
            let entries = try JSONTree(parsing: Array(body))["entry"]?.elements ?? []
            #expect(entries.count == 1 && entries.first?["resource"]?["status"]?.text == status)
        }
        #expect(try types() == ["heartRate"])
        try send([mass], to: address, total: 62)
        #expect(try command("flush", "--type", "bodyMass").end == .exit(0))
        #expect(try types() == ["bodyMass", "heartRate"])
        let text = try command("status").text
        #expect(text.contains(/taken last by server \S+: .*heartRate 20[0-9-]+T[0-9:]+Z/), "\(text)")
        let metrics = try command("status", "--format", "prometheus").text
        #expect(
            metrics.contains(
                /kymo_sink_type_last_success_timestamp_seconds\{sink="server [^"]*",type="bodyMass"\} 1[0-9.e+]+/))
        run.signal(SIGKILL)
        _ = try run.wait()
        // It is remembered.
        #expect(try types() == ["bodyMass", "heartRate"])
    }

    /// What a server never gets is not what a sink has: it does not know the device.
    @Test func aServerThatNeverGetsIt() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let (run, address) = try start(server.base, ["--server-identity", "lookup"])
        try send(Readings.heartRates(5), to: address, total: 5)
        let done = try command("flush")
        #expect(
            done.end == .exit(65) && done.text.hasPrefix("closed 1 window; server ")
                && done.text.contains(" will not have 1 resource: see 'kymo dead list'"), "\(done.text) \(done.error)")
        // It is of that flush, and of no later one.
        #expect(try command("flush").end == .exit(0))
        #expect(try run.terminate().end == .exit(0))
    }

    /// With a server that is away, the command says what waits, and that delivery is not done.
    @Test func aServerThatIsAway() throws {
        let (run, address) = try start("http://127.0.0.1:9/r4")
        try send(Readings.heartRates(5), to: address, total: 5)
        let done = try command("flush", "--wait", "300ms")
        #expect(
            done.end == .exit(65)
                && done.text.contains("closed 1 window, which are on disk; there wait 1 bundle for server "))
        #expect(try command("flush", "--wait", "0s").end == .exit(0))
        #expect(try types().isEmpty)
        #expect(try run.terminate().end == .exit(0))
    }
}
