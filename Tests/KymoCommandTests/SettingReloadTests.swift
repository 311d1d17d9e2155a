import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Settings read again on SIGHUP while `kymo run` works.
@Suite struct SettingReloadTests {
    /// `count` readings without a device, each at an instant of its own.
    private func readings(_ count: Int) -> [String] {
        (0..<count).map { index in
            let (minute, second, milli) = (index / 6_000, index / 100 % 60, index % 100)
            func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
            return #"{"t":"2026-03-01T00:\#(two(minute)):\#(two(second)).\#(two(milli))0Z","pulse":72}"#
        }
    }

    private func file(_ folder: TemporaryFolder, device: String, drain: Int = 30, more: String = "") {
        folder.write(
            "kymo.yaml",
            """
            lanes: 2
            shards: 2
            ringSlots: 512
            lateness: 0s
            watch: false
            mappings: ./mine
            drain: \(drain)s
            sources: [{unix: a.sock, defaultDevice: x-\(device)}, {stdin: true, defaultDevice: s-\(device)}]
            \(more)

            """)
    }

    /// What can be taken over is, between two batches; a change of something else changes nothing at all.
    @Test func nothingIsLostUnderLoad() throws {
        let mapping = RunReloadTests.Mapping()
        let folder = mapping.folder
        file(folder, device: "0")
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path, input: .pipe)
        _ = try run.addresses(2)
        let each = 10_000
        let lines = readings(each)
        let copy = folder.write("lines.ndjson", lines.map { $0 + "\n" }.joined())
        let sender = try Kymo.start(["replay", copy, "--rate", "5000", "--unix", folder.file("a.sock")])
        let rounds = 20
        var refusals = 0
        for round in 1...rounds {
            for line in lines[(each * (round - 1) / rounds)..<(each * round / rounds)] {
                run.write(Array((line + "\n").utf8))
            }
            let isRefused = round % 4 == 0
            file(
                folder, device: isRefused ? "refused" : "\(round)", drain: 30 + round,
                more: isRefused ? "window: \(round)m" : "")
            refusals += isRefused ? 1 : 0
            let word = isRefused ? "window 5m → \(round)m (kymo.yaml:9:9)" : "→ \(30 + round)s (kymo.yaml:7:8)"
            run.signal(SIGHUP)
            try run.waitForError(word)
        }
        #expect(try sender.wait() == .exit(0))
        run.closeInput()
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(balance.received == 2 * each && balance.accepted == 2 * each && balance.isClosed, "\(done.error)")
        #expect(done.error.contains("reloads \(rounds - refusals), failed \(refusals)"), "\(done.error)")
        var reader = BundleReader()
        try reader.read(ndjson: done.output)
        #expect(reader.observations.count == 2 * each)
        #expect(done.text.contains("s-\(rounds - 1)") || done.text.contains("s-\(rounds - 2)"))
        #expect(!done.text.contains("refused"))
        // Where it was changed, and no device.
        #expect(done.error.contains("sources[0].defaultDevice (kymo.yaml:8:41)"), "\(done.error)")
        #expect(!done.error.contains("x-1") && !done.error.contains("s-1"), "\(done.error)")
    }

    /// Everything that needs a restart is named, with its old and its new value and its place.
    @Test func whatNeedsARestartIsNamed() throws {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nmaxFuture: 1m\n")
        let run = try Kymo.start(["run", "--config", "kymo.yaml", "--ephemeral"], directory: folder.path)
        _ = try run.addresses()
        folder.write(
            "kymo.yaml",
            """
            sources: [{unix: c.sock}, {unix: a.sock, name: c}, {stdin: true}]
            maxFuture: 2m
            output: {format: ndjson}
            deadLetter: d
            """)
        run.signal(SIGHUP)
        try run.waitForError("nothing was changed")
        for text in [
            "output.format bundle → ndjson (kymo.yaml:3:18)", "deadLetter unset → d (kymo.yaml:4:13)",
            "sources[1].name unset → c (kymo.yaml:1:48)", "sources[2] unset → stdin true (kymo.yaml:1:60)",
        ] {
            #expect(run.errorText.contains(text), "\(text): \(run.errorText)")
        }
        #expect(!run.errorText.contains("maxFuture") && !run.errorText.contains("c.sock"))
        #expect(!Files.exists(folder.file("c.sock")))
        // Who is meant is not for the log.
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nsinks: [{to: x, devices: [bed-7]}]\n")
        run.signal(SIGHUP)
        try run.waitForError("sinks[0] unset → to x (kymo.yaml:2:")
        #expect(!run.errorText.contains("bed-7"), "\(run.errorText)")
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nmaxFuture: soon\n")
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP: the configuration has errors; the former settings and mappings stay in use")
        #expect(run.errorText.contains("kymo.yaml:2:12: error: maxFuture: 'soon'"))
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nmaxFuture: 2m\ndrain: 7s\n")
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP: took over maxFuture 1m → 2m (kymo.yaml:2:12), drain 30s → 7s (kymo.yaml:3:8)")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.error.contains("reloads 1, failed 3"), "\(done.error)")
    }

    @Test func theLevelOfTheLogIsTakenOver() throws {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nlog: {level: warning, format: json}\n")
        let run = try Kymo.start(["run", "--config", "kymo.yaml", "--ephemeral"], directory: folder.path)
        try Waiting.until("the socket") { Files.exists(folder.file("a.sock")) }
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nlog: {level: info, format: json}\n")
        // Each signal has a line of its own, which is written once the level is in use.
        try Waiting.until("a line of the new level: \(run.errorText)") {
            run.signal(SIGHUP)
            return run.errorText.contains("reload.taken")
        }
        let done = try run.terminate()
        #expect(done.end == .exit(0) && !done.error.contains("listening on"), "\(done.error)")
    }

    /// More devices are taken when there may be more, those that were refused among them; those that are there stay when
    /// there may be fewer.
    @Test(arguments: [true, false]) func limitsOfWindowsAndDocumentsAreTakenOver(isEphemeral: Bool) throws {
        let folder = TemporaryFolder()
        func write(_ devices: Int, readings: Int, depth: Int) {
            folder.write(
                "kymo.yaml",
                """
                sources: [{unix: a.sock}]
                \(isEphemeral ? "ephemeral: true" : "data: data")
                output: {to: out}
                shards: 1
                http: {admin: "127.0.0.1:0"}
                limits: {devices: \(devices), readingsPerWindow: \(readings), depth: \(depth)}
                """)
        }
        write(2, readings: 100, depth: 64)
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        _ = try run.addresses()
        let address = "unix \(folder.file("a.sock"))"
        let admin = try AdminClient(run)
        var (sent, accepted) = (0, 0)
        /// Sends a reading of `device`, and waits until it is accepted, or else rejected.
        func send(_ device: String, nested: Bool = false, isAccepted: Bool) throws {
            let line = Readings.heartRate(second: sent, device: device)
            let more = nested ? #","more":{"a":{"b":[{"c":[[1]]}]}}}"# : "}"
            try Sending.send(lines: [String(line.dropLast()) + more], to: address)
            (sent, accepted) = (sent + 1, accepted + (isAccepted ? 1 : 0))
            try Waiting.until("reading \(sent) of \(device): \(run.errorText)") {
                let text = try admin.get("/metrics").body
                let rejected = text.split(separator: "\n").filter { $0.hasPrefix("kymo_rejected_total{") }
                    .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
                return text.contains("\nkymo_readings_total{result=\"accepted\"} \(accepted)\n")
                    && rejected == sent - accepted
            }
        }
        func reload(_ devices: Int, readings: Int, depth: Int, _ word: String) throws {
            write(devices, readings: readings, depth: depth)
            run.signal(SIGHUP)
            try run.waitForError(word)
        }
        for device in ["a", "b", "c"] { try send(device, isAccepted: device != "c") }
        try run.waitForError("2 of 2 devices (limits.devices) have been met since the start")
        try run.waitForError("2 devices (limits.devices) have been met since the start")
        let metrics = try admin.get("/metrics").body
        for line in ["kymo_devices_limit 2", "kymo_series_limit 1000000", "kymo_lane_devices{lane=\"0\"} 2"] {
            #expect(metrics.contains("\n\(line)\n"), "\(line)")
        }
        try reload(
            3, readings: 100, depth: 4,
            "SIGHUP: took over limits.devices 2 → 3 (kymo.yaml:6:19), limits.depth 64 → 4")
        try send("c", isAccepted: true)
        try send("d", isAccepted: false)
        try run.waitForError("3 devices (limits.devices) have been met since the start")
        try send("a", nested: true, isAccepted: false)
        try reload(1, readings: 2, depth: 64, "limits.readingsPerWindow 100 → 2")
        try send("b", nested: true, isAccepted: true)
        try send("b", isAccepted: false)
        try send("e", isAccepted: false)
        let done = try run.terminate()
        #expect(done.balance?.accepted == 4 && done.balance?.isClosed == true, "\(done.error)")
    }

    /// Limits of clients, files and the store hold from the reload on.
    @Test func limitsAreTakenOver() throws {
        let run = StoredRun()
        func write(_ connections: Int, idle: String, bytes: String) {
            run.folder.write(
                "kymo.yaml",
                """
                sources: [{tcp: "127.0.0.1:0", connections: \(connections)}]
                data: data
                output: {to: out, format: ndjson, rotateIdle: \(idle)}
                store: {maxBytes: \(bytes)}
                idle: 1s
                """)
        }
        write(1, idle: "0s", bytes: "64MiB")
        let instance = try Kymo.start(["run", "--config", "kymo.yaml"], directory: run.folder.path)
        let port = PostClient.port(try instance.addresses()[0])
        let first = try RawConnection(port: port)
        first.send(Readings.heartRate(second: 0) + "\n")
        try Waiting.until("an Observation") { Files.names(run.output).contains { $0.hasSuffix(".open") } }
        let refused = try RawConnection(port: port)
        try refused.wait("the end") { $0.hasEnded }
        write(2, idle: "1s", bytes: "32MiB")
        instance.signal(SIGHUP)
        try instance.waitForError("SIGHUP: took over")
        for text in ["sources[0].connections 1 → 2", "output.rotateIdle 0s → 1s", "store.maxBytes 64MiB → 32MiB"] {
            #expect(instance.errorText.contains(text), "\(text): \(instance.errorText)")
        }
        let second = try RawConnection(port: port)
        second.send(Readings.heartRate(second: 1) + "\n")
        try Waiting.until("finished files") {
            let names = Files.names(run.output)
            return !names.isEmpty && !names.contains { $0.hasSuffix(".open") }
        }
        #expect(!first.hasEnded && !second.hasEnded)
        #expect(try run.command("status").text.contains(" of \(32 << 20) bytes"))
        let done = try instance.terminate()
        #expect(done.end == .exit(0) && done.balance?.accepted == 2, "\(done.error)")
    }

    /// Longer lines than there was room for, and shorter ones, by connections that are made when they are allowed; those that
    /// are there keep their limit.
    @Test(arguments: ["unix", "tcp"]) func theLengthOfLinesIsTakenOver(_ kind: String) throws {
        let folder = TemporaryFolder()
        let place = kind == "unix" ? "a.sock" : "'127.0.0.1:0'"
        func write(_ bytes: String, more: String = "") {
            folder.write(
                "kymo.yaml", "sources: [{\(kind): \(place)}\(more)]\ndata: data\nlimits: {lineBytes: \(bytes)}\n")
        }
        /// A reading in a line of so many bytes.
        func line(_ second: Int, _ bytes: Int) -> String {
            let reading = Readings.heartRate(second: second)
            return String(reading.dropLast())
                + #","pad":"\#(String(repeating: "x", count: bytes - reading.utf8.count - 9))"}"#
        }
        write("4KiB")
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        let address = try run.addresses()[0]
        func client() throws -> AckClient {
            try kind == "unix" ? AckClient(folder.file("a.sock")) : AckClient(tcp: address)
        }
        /// Sends lines, and waits until all `count` of the connection are acknowledged.
        func send(_ lines: [String], _ client: AckClient, _ count: Int) throws {
            client.send(Readings.ndjson(lines))
            try Waiting.until("\(count) lines: \(client.acknowledged), \(run.errorText)") {
                client.receive()
                return client.acknowledged == count
            }
        }
        let former = try client()
        try send([line(0, 4_096), line(1, 4_097)], former, 2)
        write("1MiB")
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP: took over limits.lineBytes 4KiB → 1MiB (kymo.yaml:3:21)")
        try send([line(2, 600_000), line(3, 200)], former, 4)
        let later = try client()
        try send([line(4, 600_000), line(5, 1 << 20), line(6, (1 << 20) + 1)], later, 3)
        write("2KiB")
        run.signal(SIGHUP)
        try run.waitForError("limits.lineBytes 1MiB → 2KiB")
        try send([line(7, 2_048), line(8, 2_049)], client(), 2)
        try send([line(9, 600_000)], later, 4)
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.received == 10 && balance.accepted == 6 && balance.isClosed, "\(done.error)")
        #expect(balance.reasons == ["lineTooLong": 4], "\(done.error)")
    }

    /// Catches: a lane without room for the lines of a source that comes when all former ones go.
    @Test func newSourcesMayHaveLongerLines() throws {
        let folder = TemporaryFolder()
        func write(_ socket: String, _ bytes: String) {
            folder.write(
                "kymo.yaml", "sources: [{unix: \(socket)}]\ndata: data\nlanes: 1\nlimits: {lineBytes: \(bytes)}\n")
        }
        write("a.sock", "1KiB")
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        _ = try run.addresses()
        write("b.sock", "1MiB")
        run.signal(SIGHUP)
        _ = try run.addresses(2)
        let reading = Readings.heartRate(second: 0)
        let line = String(reading.dropLast()) + #","pad":"\#(String(repeating: "x", count: 900_000))"}"#
        let client = try AckClient(folder.file("b.sock"))
        client.send(Readings.ndjson([line]))
        try Waiting.until("an acknowledgement: \(run.errorText)") {
            client.receive()
            return client.acknowledged == 1
        }
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.balance?.accepted == 1, "\(done.error)")
    }

    /// A stream that is read from the start to the end keeps its limit: the change is named, and nothing changes.
    @Test func theLengthOfLinesOfOneStreamNeedsARestart() throws {
        let folder = TemporaryFolder()
        func write(_ text: String) { folder.write("kymo.yaml", "sources: [{unix: a.sock}, {stdin: true}]\n" + text) }
        write("maxFuture: 1m\n")
        let run = try Kymo.start(
            ["run", "--config", "kymo.yaml", "--ephemeral"], directory: folder.path, input: .pipe)
        _ = try run.addresses(2)
        write("maxFuture: 2m\nlimits: {lineBytes: 2MiB}\n")
        run.signal(SIGHUP)
        try run.waitForError("limits.lineBytes 1MiB → 2MiB (kymo.yaml:3:21); restart to apply it; nothing was changed")
        #expect(!run.errorText.contains("maxFuture"), "\(run.errorText)")
        run.closeInput()
        #expect(try run.terminate().end == .exit(0))
    }
}
