import CommandSupport
import Glibc
import Kymograph
import KymographTestKit
import Testing

/// A FHIR server whose settings change while `kymo run` works: what it was sent before comes before what it is sent
/// then, and counts are those of the run.
@Suite(.serialized) struct ServerHandoverTests {
    private let folder = TemporaryFolder()
    private var patients: String? { Files.exists(folder.file("patients.csv")) ? folder.file("patients.csv") : nil }

    /// With these settings of the server; without it where there are none.
    private func configure(_ base: String, timeout: Int?, name: String = "ward") {
        let server = timeout.map { "{server: '\(base)', identity: create, name: \(name), timeout: \($0)s}, " }
        folder.write(
            "kymo.yaml",
            """
            window: 1h
            idle: 0s
            drain: 10m
            data: data
            sources: [{unix: \(folder.file("a.sock"))}]
            sinks: [\(server ?? ""){to: \(folder.file("out")), name: files}]
            \(patients.map { "patients: \($0)" } ?? "")

            """)
    }

    private func start() throws -> (run: ChildProcess, address: String) {
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        return (run, try run.addresses()[0])
    }

    private func status(_ more: String...) throws -> String {
        try Kymo.run(["status", "--data", folder.file("data")] + more).text
    }

    /// Has `lines` taken and the windows that they are in closed; waits `wait` for the server.
    private func send(_ lines: [String], _ address: String, total: Int, wait: String) throws {
        try Sending.send(lines: lines, to: address)
        try Waiting.until("\(total) readings") { try status().contains("received \(total) ") }
        _ = try Kymo.run(["flush", "--wait", wait, "--data", folder.file("data")])
    }

    private func get(_ server: TestServer, _ path: String) async throws -> JSONTree {
        try await CurlTransport().send(HTTPRequest("GET", server.url(path))).get().json
    }

    private func wait(_ what: String, until isSo: () async throws -> Bool) async throws {
        for _ in 0..<1_000 {
            if try await isSo() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw WaitError(description: what)
    }

    /// The status of the only Observation.
    private func observation(_ server: TestServer) async throws -> String? {
        guard case .object(let all) = try await get(server, "/_all") else { return nil }
        return all.first { $0.key.hasPrefix("Observation/") }?.value["status"]?.text
    }

    /// Has another version made while `server` has the first one under way, and looks how they come.
    private func checkNothingOvertakes(_ server: TestServer, _ run: ChildProcess, _ address: String) async throws {
        try send([Readings.heartRate(second: 30)], address, total: 21, wait: "0s")
        // The other sink has it by then, and so could the server.
        let out = folder.file("out")
        try Waiting.until("the later version in a file: \(run.errorText)") {
            Files.names(out).contains { Files.text("\(out)/\($0)").contains("amended") }
        }
        #expect(try await get(server, "/_begun") == .number("1"))
        #expect(try await observation(server) == nil)
        _ = try await get(server, "/_release")
        try await wait("the later version: \(run.errorText)") { try await observation(server) == "amended" }
        let writes = (try await get(server, "/_writes").elements ?? []).compactMap(\.text)
        #expect(writes.count { $0.hasPrefix("PUT Observation/") } == 2, "\(writes)")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
        #expect(!done.error.contains("given up"), "\(done.error)")
        #expect(try await observation(server) == "amended")
        #expect(try Kymo.run(["ledger", "--verify", "--data", folder.file("data")]).end == .exit(0))
    }

    /// A server goes on with what it has after the connection is gone: a former version would replace the latest.
    @Test func whatIsUnderWayIsAwaited() async throws {
        let (server, run, address) = try await hanging()
        try run.waitForError("sinks[0].timeout 10m → 10m1s")
        try await checkNothingOvertakes(server, run, address)
    }

    /// An instance of which the server has taken a bundle, and answers nothing; it has other settings since.
    private func hanging() async throws -> (server: TestServer, run: ChildProcess, address: String) {
        let server = try TestServer("fhir_store.py", ["--hold"])
        folder.write("patients.csv", "device,patient\nwatch-1,p-1\nbed-8,p-8\n")
        configure(server.url("/fhir"), timeout: 600)
        let (run, address) = try start()
        try send(Readings.heartRates(20), address, total: 20, wait: "0s")
        try await wait("the first bundle") { try await get(server, "/_held") == .bool(true) }
        configure(server.url("/fhir"), timeout: 601)
        run.signal(SIGHUP)
        try run.waitForError("ward: waits for answers to what it was sent")
        return (server, run, address)
    }

    /// Meanwhile other files are read, and the process ends as if the server was away; the next run goes on.
    @Test func aServerThatHangsHoldsUpNothing() async throws {
        let (server, run, address) = try await hanging()
        folder.write("patients.csv", "device,patient\nwatch-1,p-1\nbed-8,p-8\nbed-9,p-9\n")
        try run.waitForError("was read again: periods 3, devices 3")
        try send([Readings.heartRate(second: 30)], address, total: 21, wait: "0s")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
        #expect(done.error.contains("for the next start"), "\(done.error)")
        #expect(try await observation(server) == nil)
        _ = try await get(server, "/_release")
        try await wait("the first version") { try await observation(server) != nil }
        let next = try start().run
        try await wait("the later version") { try await observation(server) == "amended" }
        #expect(try next.terminate().end == .exit(0))
        #expect(try Kymo.run(["ledger", "--verify", "--data", folder.file("data")]).end == .exit(0))
    }

    /// What is sent by the third settings, or by those of a sink that goes and comes back, or under another name, waits
    /// for what was sent by the first.
    @Test(arguments: [["ward"], ["", "ward"], ["ward", "", "ward"], ["other"], ["", "other"]])
    func nothingOvertakesWhatIsUnderWay(_ names: [String]) async throws {
        let (server, run, address) = try await hanging()
        var former = "ward"
        for name in names {
            configure(server.url("/fhir"), timeout: name.isEmpty ? nil : 602, name: name)
            run.signal(SIGHUP)
            let change = name == former ? "sinks[0].timeout 10m1s → 10m2s" : "sinks[0] unset → server"
            try run.waitForError(name.isEmpty ? "/fhir → unset" : change)
            former = name
        }
        try await checkNothingOvertakes(server, run, address)
    }

    /// A server that is away, and stays so, has not recovered by other settings, nor when the sink goes and comes back.
    @Test func aServerThatIsAwayHasNotRecovered() async throws {
        configure("http://127.0.0.1:9/fhir", timeout: 600)
        let (run, _) = try start()
        try run.waitForError("http://127.0.0.1:9 cannot be reached")
        /// A reload by which the server is asked again, and fails again.
        func reload(_ timeout: Int?, _ words: String) throws {
            configure("http://127.0.0.1:9/fhir", timeout: timeout)
            run.signal(SIGHUP)
            try run.waitForError(words)
            guard timeout != nil else { return }
            let before = try retries()
            try Waiting.until("further attempts") { try retries() > before + 1 }
        }
        try reload(601, "sinks[0].timeout 10m → 10m1s")
        try reload(nil, "/fhir → unset")
        try reload(602, "sinks[0] unset → server")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && !done.error.contains("recovered"), "\(done.error)")
    }

    private func retries() throws -> Int {
        let metrics = try status("--format", "prometheus")
        let count = metrics.firstMatch(of: /kymo_sink_retries_total\{sink="ward"\} (\d+)/)?.1
        return count.flatMap { Int($0) } ?? 0
    }

    /// Also when the sink goes, and comes back.
    @Test func countsAreOfTheRun() async throws {
        let server = try TestServer("fhir_store.py")
        configure(server.url("/fhir"), timeout: 600)
        let (run, address) = try start()
        func deliver(_ device: Int) throws {
            try send(Readings.heartRates(20, device: "w-\(device)"), address, total: device * 20, wait: "20s")
            let metrics = try status("--format", "prometheus")
            // Patient, Device and Observation.
            #expect(metrics.contains("{sink=\"ward\",result=\"delivered\"} \(device * 3)\n"), "\(metrics)")
        }
        try deliver(1)
        configure(server.url("/fhir"), timeout: 601)
        run.signal(SIGHUP)
        try run.waitForError("sinks[0].timeout 10m → 10m1s")
        try deliver(2)
        configure(server.url("/fhir"), timeout: nil)
        run.signal(SIGHUP)
        try run.waitForError("/fhir → unset")
        configure(server.url("/fhir"), timeout: 601)
        run.signal(SIGHUP)
        try run.waitForError("sinks[0] unset → server")
        try deliver(3)
        let done = try run.terminate()
        // Each time what the server can do, two searches and a bundle.
        #expect(done.error.contains("ward: delivered 9 entries, undeliverable 0, requests 12"), "\(done.error)")
    }
}
