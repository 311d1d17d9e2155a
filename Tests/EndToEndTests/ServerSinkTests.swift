import CommandSupport
import Glibc
import KymographCore
import KymographTestKit
import Testing

/// `kymo run --server`: what was received is on the strict server, whatever happens on the way.
@Suite(.serialized, .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct ServerSinkTests {
    private static let lines = (0..<6).flatMap { device in
        (0..<400).map { Readings.heartRate(second: $0 * 3, value: 60 + $0 % 30, device: "watch-\(device)") }
    }

    private func arguments(_ folder: TemporaryFolder, _ server: FHIRServer) -> [String] {
        [
            "--data", folder.file("data"), "--out", "none", "--server", server.base, "--server-identity", "create",
            "--window", "1m",
        ]
    }

    /// What the server has, against a run that writes to standard output.
    private func check(_ server: FHIRServer, _ lines: [String], devices: Int = 6) async throws {
        let oracle = try Kymo.run(["run", "--stdin", "--window", "1m"], input: .bytes(Readings.ndjson(lines)))
        var expected = BundleReader()
        try expected.read(ndjson: oracle.output)
        let stats = try await server.stats()
        #expect(stats["identifier_dups"] == .number("0"), "\(stats)")
        #expect(stats["observation_key_dups"] == .number("0"), "\(stats)")
        #expect(stats["resources"]?["Observation"] == .number("\(expected.observations.count)"), "\(stats)")
        #expect(stats["resources"]?["Device"] == .number("\(devices)"), "\(stats)")
        for observation in expected.observations.values.prefix(20) {
            let identifier = observation["identifier"]?.elements?.first
            let (system, value) = (identifier?["system"]?.text ?? "", identifier?["value"]?.text ?? "")
            // The server does not say that it takes ids, so it has its own.
            let (body, _) = try await server.get("/Observation?" + IdentifierSearch.query(system: system, value: value))
            let stored = try JSONTree(parsing: Array(body))["entry"]?.elements?.first?["resource"]
            #expect(stored?["component"] == observation["component"], "\(value)")
            #expect(stored?["valueQuantity"] == observation["valueQuantity"])
        }
    }

    @Test func everythingArrives() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin"] + arguments(folder, server), input: .bytes(Readings.ndjson(ServerSinkTests.lines)))
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        #expect(done.error.contains(/delivered [1-9][0-9]* entries, undeliverable 0, requests [1-9]/), "\(done.error)")
        #expect(!done.error.contains("bundles 0") && !done.error.contains("wait in"))
        try await check(server, ServerSinkTests.lines)
    }

    /// A mapping with the reference's identities, which the server finds Observations by: a window and what comes late
    /// for it are one Observation.
    @Test func theReferencesIdentitiesAreFoundAgain() async throws {
        // It would refuse series without a unit in their origin, as the reference writes them.
        let server = try FHIRServer(arguments: ["--no-validate"])
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let mapping = try referenceMapping(folder)
        let arguments = arguments(folder, server).dropLast(2) + ["--mapping", mapping]
        for (minute, value) in [(0, 104), (1, 105), (2, 106)] {
            let line = #"{"deviceId":"g","patientId":"p","t":"2026-03-01T08:0\#(minute):00Z","glucose":\#(value)}"#
            let done = try Kymo.run(
                ["run", "--stdin"] + arguments, environment: ["KYMO_OUTPUT_WRITE": "conditional-update"],
                input: .bytes(Readings.ndjson([line])))
            #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        }
        let (body, _) = try await server.get("/Observation?_count=100")
        let entries = try JSONTree(parsing: Array(body))["entry"]?.elements ?? []
        #expect(entries.count == 1)
        let data = entries.first?["resource"]?["valueSampledData"]?["data"]?.text ?? ""
        #expect(data.split(separator: " ").filter { $0 != "E" } == ["104", "105", "106"], "\(data)")
    }

    /// A folder with a mapping of the reference system, for windows of an hour.
    private func referenceMapping(_ folder: TemporaryFolder) throws -> String {
        folder.write(
            "glucose/device.json",
            #"{"templateType":"CollectionContent","compatibility":"iomt-fhir","template":[{"#
                + #""templateType":"JsonPathContent","template":{"typeName":"glucose","#
                + #""typeMatchExpression":"$..[?(@glucose)]","deviceIdExpression":"$.deviceId","#
                + #""patientIdExpression":"$.patientId","timestampExpression":"$.t","values":[{"#
                + #""valueName":"glucose","valueExpression":"$.glucose","required":true}]}}]}"#)
        folder.write(
            "glucose/fhir.json",
            #"{"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"#
                + #""typeName":"glucose","codes":[{"system":"http://loinc.org","code":"2339-0"}],"#
                + #""value":{"valueType":"SampledData","valueName":"glucose","defaultPeriod":60000,"unit":"mg/dL"},"#
                + #""periodInterval":60}}]}"#)
        return folder.file("glucose")
    }

    /// What a server that is away has not got waits for the next start.
    @Test func aServerThatIsAwayGetsItLater() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        try await server.makeFaults(["503": 1])
        let first = try Kymo.run(
            ["run", "--stdin"] + arguments(folder, server), input: .bytes(Readings.ndjson(ServerSinkTests.lines)))
        #expect(first.end == .exit(0) && first.error.contains("for the next start"), "\(first.error)")
        try await server.makeFaults([:])
        let second = try Kymo.run(["run", "--stdin"] + arguments(folder, server))
        #expect(second.end == .exit(0) && !second.error.contains("for the next start"), "\(second.error)")
        try await check(server, ServerSinkTests.lines)
    }

    /// Bundles that the server does not take, and later its receipts, fill the store: senders wait until there is room.
    @Test func aServerThatDoesNotTakeIsWaitedFor() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        try await server.makeFaults(["503": 1])
        let folder = TemporaryFolder()
        let lines = (0..<12_000).map { Readings.heartRate(second: $0 / 6, value: 50 + $0 % 90, device: "w-\($0 % 6)") }
        let run = try Kymo.start(
            [
                "run", "--stdin", "--data", folder.file("data"), "--out", "none", "--server", server.base,
                "--server-identity", "create", "--window", "1s", "--lateness", "0s",
            ],
            environment: ["KYMO_STORE_MAX_BYTES": "\(1 << 20)", "KYMO_OUTPUT_MAX_ENTRIES": "8"],
            input: .bytes(Readings.ndjson(lines)))
        try run.waitForError("has reached its limit")
        try await server.makeFaults([:])
        let done = try run.finish(seconds: 300)
        #expect(done.end == .exit(0) && done.error.contains("takes data again"), "\(done.error.suffix(600))")
        #expect(!done.error.contains("for the next start"), "\(done.error.suffix(600))")
        let stats = try await server.stats()
        #expect(stats["identifier_dups"] == .number("0"), "\(stats)")
        #expect(stats["resources"]?["Observation"] == .number("12000"), "\(stats)")
    }

    /// Killed again and again while bundles are under way.
    @Test func killedWhileDelivering() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let socket = folder.file("a.sock")
        var rest = ServerSinkTests.lines[...]
        var random = SeededGenerator(seed: 5)
        for _ in 0..<6 {
            let run = try Kymo.start(["run", "--unix", socket, "--idle", "1s"] + arguments(folder, server))
            _ = try run.addresses()
            let client = try AckClient(socket)
            client.send(Readings.ndjson(Array(rest.prefix(400))))
            try Waiting.until("an acknowledgement") {
                client.receive()
                return client.acknowledged > 0
            }
            usleep(UInt32.random(in: 5_000...900_000, using: &random))
            run.signal(SIGKILL)
            _ = try run.wait()
            client.receive()
            rest = rest.dropFirst(client.acknowledged)
        }
        let last = try Kymo.run(
            ["run", "--stdin"] + arguments(folder, server), input: .bytes(Readings.ndjson(Array(rest))))
        #expect(last.end == .exit(0) && !last.error.contains("for the next start"), "\(last.error)")
        try await check(server, ServerSinkTests.lines)
    }

    @Test func theStatusSaysHowDeliveryGoes() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--unix", folder.file("a.sock")] + arguments(folder, server))
        _ = try run.addresses()
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson(ServerSinkTests.lines))
        try Waiting.until("a delivered entry in the status") {
            let status = try Kymo.run(["status", "--data", folder.file("data")])
            return status.text.contains("circuit closed") && !status.text.contains("delivered 0,")
        }
        #expect(try run.terminate().end == .exit(0))
    }

    /// A Patient is never made on a server by default.
    @Test func theIdentityMustBeSaid() throws {
        let done = try Kymo.run(["run", "--stdin", "--server", "http://127.0.0.1:9/fhir"])
        #expect(done.end == .exit(78) && done.error.contains("server.identity is not said"), "\(done.error)")
    }

    /// Two servers, one of them away: the other one has everything, and the first gets its own part later.
    @Test func twoServers() async throws {
        let (all, some) = (try FHIRServer(), try FHIRServer())
        try await all.waitUntilReady()
        try await some.waitUntilReady()
        try await some.makeFaults(["503": 1])
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            """
            window: 1m
            data: \(folder.file("data"))
            sinks:
              - {server: "\(all.base)", identity: create}
              - {server: "\(some.base)", identity: create, name: study, devices: [watch-1, watch-4]}
            """)
        let first = try Kymo.run(
            ["run", "--stdin", "--config", file], input: .bytes(Readings.ndjson(ServerSinkTests.lines)))
        #expect(first.end == .exit(0), "\(first.error)")
        #expect(first.error.contains("server \(all.base): delivered") && first.error.contains("study: delivered 0"))
        try await check(all, ServerSinkTests.lines)
        let status = try Kymo.run(["status", "--data", folder.file("data")])
        #expect(status.text.contains("server \(all.base)"), "\(status.text)")
        try await some.makeFaults([:])
        let second = try Kymo.run(["run", "--stdin", "--config", file])
        #expect(second.end == .exit(0) && !second.error.contains("wait in"), "\(second.error)")
        for (device, isShared) in [("watch-0", false), ("watch-1", true)] {
            let ledger = try Kymo.run(
                ["ledger", "--device", device, "--format", "json", "--data", folder.file("data")])
            let windows = try JSONTree(parsing: ledger.output)["windows"]?.elements ?? []
            #expect(windows.count == 20 && windows.allSatisfy { ($0["delivered"]?["study"] != nil) == isShared })
            #expect(windows.allSatisfy { $0["delivered"]?["server \(all.base)"] == .bool(true) }, "\(ledger.text)")
        }
        // One of them is called otherwise from now on: its receipts stay as they are, and it gets what comes now.
        let renamed = folder.write("other.yaml", Files.text(file).replacing("study", with: "trial"))
        let third = try Kymo.run(["run", "--stdin", "--config", renamed])
        #expect(third.end == .exit(0) && third.error.contains("trial: delivered 0"), "\(third.error)")
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.error)")
        let own = ServerSinkTests.lines.filter { $0.contains("\"watch-1\"") || $0.contains("\"watch-4\"") }
        try await check(some, own, devices: 2)
    }

    /// A server that takes nothing costs next to no processor time, and no memory that grows: a tenth of a second of
    /// processor time in five seconds is 2 %.
    @Test(arguments: ["503", "reset", "stall"])
    func waitingForAServerCostsNothing(fault: String) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--unix", folder.file("a.sock")] + arguments(folder, server))
        _ = try run.addresses()
        try await server.makeFaults([fault: 1])
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson(ServerSinkTests.lines))
        try Waiting.until("everything to be durable") {
            client.receive()
            return client.acknowledged == ServerSinkTests.lines.count
        }
        try await Task.sleep(for: .seconds(3))
        let (before, start) = (try ProcessUsage(of: run.pid), ContinuousClock.now)
        try await Task.sleep(for: .seconds(5))
        let (after, time) = (try ProcessUsage(of: run.pid), ContinuousClock.now - start)
        let share = (after.processorSeconds - before.processorSeconds) / (Double(time.components.seconds) + 0.5)
        #expect(share < 0.05, "\(fault): \(share) of a processor")
        #expect(after.residentBytes < before.residentBytes + 4 << 20, "\(fault): \(before) \(after)")
        run.signal(SIGKILL)
        _ = try run.wait()
    }
}

/// What the kernel says that a process uses (proc(5)).
private struct ProcessUsage {
    let processorSeconds: Double
    let residentBytes: Int

    init(of pid: pid_t) throws {
        let stat = Files.text("/proc/\(pid)/stat").split(separator: ")").last.map(String.init) ?? ""
        let fields = stat.split(separator: " ")
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
            let pages = Int(fields[21])
        else { throw WaitError(description: "no usage of process \(pid)") }
        processorSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        residentBytes = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
