import CommandSupport
import Glibc
import Testing

/// What `kymo run` listens to.
@Suite struct RunSourceTests {
    @Test func severalSourcesAtOnce() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            [
                "run", "--udp", "127.0.0.1:0", "--udp", "[::1]:0", "--unix", folder.file("a.sock"), "--unixgram",
                folder.file("b.sock"), "--stdin",
            ], input: .pipe)
        let addresses = try run.addresses(5)
        for (index, address) in addresses.dropLast().enumerated() {
            try Sending.send(lines: Readings.heartRates(20, device: "watch-\(index)"), to: address)
        }
        run.write(Readings.ndjson(Readings.heartRates(20, device: "watch-9")))
        run.closeInput()
        let done = try run.terminate()
        #expect(done.end == .exit(0))
        let balance = try #require(done.balance)
        #expect(balance.received == 100 && balance.accepted == 100 && balance.isClosed && balance.observations == 5)
        #expect(Files.names(folder.path).isEmpty, "sockets are removed at the end")
    }

    @Test func severalLanesAndShards() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            "lanes: 3\nshards: 2\nringSlots: 512\nsources: [{unix: a.sock}, {unix: b.sock}, {unix: c.sock}]\n")
        let run = try Kymo.start(["run", "--config", file], directory: folder.path)
        _ = try run.addresses(3)
        for name in ["a", "b", "c"] {
            let lines = (0..<40).flatMap { Readings.heartRates(25, device: "\(name)-\($0)") }
            try Sending.send(lines: lines, to: "unix \(folder.file("\(name).sock"))")
        }
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0) && balance.received == 3_000 && balance.accepted == 3_000 && balance.isClosed)
        #expect(balance.observations == 120)
    }

    /// One datagram may hold a reading, an array, or lines.
    @Test func datagramForms() throws {
        let run = try Kymo.start(["run", "--udp", "127.0.0.1:0"])
        let address = try run.addresses()[0]
        let lines = Readings.heartRates(10)
        try Sending.send(
            [
                Array(lines[0].utf8), Array("[\(lines[1]),\(lines[2])]".utf8), Readings.ndjson(Array(lines[3...5])),
                Array("\n\n \(lines[6])\r\n\r\n".utf8), Array("[[\(lines[7])],\n\(lines[8])]\n\(lines[9])".utf8), [],
            ], to: address)
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.received == 10 && balance.accepted == 10, "\(done.error)")
    }

    /// The default port may be taken by something else on this machine; then that must be said.
    @Test func defaultSources() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run"], directory: folder.path)
        try Waiting.until("a start") { run.errorText.contains("unix ./kymo.sock") || run.errorText.contains("in use") }
        guard !run.errorText.contains("in use") else {
            #expect(try run.wait() == .exit(71))
            return
        }
        #expect(try run.addresses(2) == ["udp 127.0.0.1:5757", "unix ./kymo.sock"])
        try Sending.send(lines: Readings.heartRates(3), to: "unix \(folder.file("kymo.sock"))")
        let done = try run.terminate()
        #expect(done.end == .exit(0))
        #expect(try #require(done.balance).received >= 3)
    }

    @Test func portInUse() throws {
        let first = try Kymo.start(["run", "--udp", "127.0.0.1:0"])
        let address = try first.addresses()[0].dropFirst(4)
        let second = try Kymo.run(["run", "--udp", String(address)])
        #expect(second.end == .exit(71))
        #expect(second.error.contains("udp \(address)") && second.error.contains("choose another address"))
        #expect(second.error.split(separator: "\n").count == 1)
    }

    /// Lanes share a port among themselves, and with nobody else: another process would get a part of the readings.
    @Test func portInUseBySeveralLanes() throws {
        let folder = TemporaryFolder()
        let first = try Kymo.start(["run", "--udp", "127.0.0.1:0"])
        let port = try #require(try first.addresses()[0].split(separator: ":").last)
        let file = folder.write("kymo.yaml", "lanes: 2\nsources: [{udp: '127.0.0.1:\(port)'}]\n")
        #expect(try first.terminate().end == .exit(0))
        let second = try Kymo.start(["run", "--config", file])
        _ = try second.addresses()
        let third = try Kymo.start(["run", "--config", file])
        let done = try third.finish(seconds: 20)
        #expect(done.end == .exit(71) && done.error.contains("in use"), "\(done.error)")
        try Sending.send(lines: Readings.heartRates(50), to: "udp 127.0.0.1:\(port)")
        #expect(try #require(try second.terminate().balance).accepted == 50)
    }

    @Test(arguments: ["--unix", "--unixgram"])
    func liveSocket(flag: String) throws {
        let folder = TemporaryFolder()
        let first = try Kymo.start(["run", flag, folder.file("a.sock")])
        let address = try first.addresses()[0]
        let second = try Kymo.run(["run", flag, folder.file("a.sock")])
        #expect(second.end == .exit(71) && second.error.contains("a.sock") && second.error.contains("in use"))
        // The first one lives on, and its socket is still its own.
        try Sending.send(lines: Readings.heartRates(3), to: address)
        #expect(try #require(try first.terminate().balance).accepted == 3)
    }

    @Test(arguments: ["--unix", "--unixgram"])
    func staleSocketIsReplaced(flag: String) throws {
        let folder = TemporaryFolder()
        let first = try Kymo.start(["run", flag, folder.file("a.sock")])
        _ = try first.addresses()
        first.signal(SIGKILL)
        _ = try first.wait()
        #expect(Files.isSocket(folder.file("a.sock")), "a killed process leaves its socket")
        let second = try Kymo.start(["run", flag, folder.file("a.sock")])
        try Sending.send(lines: Readings.heartRates(3), to: try second.addresses()[0])
        #expect(try #require(try second.terminate().balance).accepted == 3)
    }

    @Test func otherFilesAreNeverReplaced() throws {
        let folder = TemporaryFolder()
        folder.write("data", "precious")
        let done = try Kymo.run(["run", "--unix", folder.file("data")])
        #expect(done.end == .exit(71) && done.error.contains("not a socket"))
        #expect(Files.text(folder.file("data")) == "precious")
    }

    @Test func socketMode() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml", "sources:\n  - unix: a.sock\n  - unixgram: b.sock\n  - {unix: c.sock, socketMode: '0600'}\n")
        let run = try Kymo.start(["run", "--config", file], directory: folder.path)
        _ = try run.addresses(3)
        #expect(["a", "b", "c"].map { Files.mode(folder.file("\($0).sock")) } == [0o660, 0o660, 0o600])
    }

    /// The flags are of the sources that flags name.
    @Test func defaultDeviceAndPatient() throws {
        let anonymous = Readings.heartRate(second: 1).replacing("\"deviceId\":\"watch-1\",", with: "") + "\n"
        let done = try Kymo.run(
            ["run", "--stdin", "--default-device", "phone-7", "--default-patient", "patient-7"],
            input: .bytes(Array(anonymous.utf8)))
        #expect(done.end == .exit(0) && done.balance?.reasons.isEmpty == true, "\(done.error)")
        #expect(done.text.contains("phone-7") && done.text.contains("patient-7"))
    }

    /// A fixed offset needs no tz database.
    @Test(arguments: [["run", "--stdin"], ["map"]]) func timezoneOfLocalTimes(_ command: [String]) throws {
        let local = Readings.heartRate(second: 1).replacing("08:00:01Z", with: "10:00:01") + "\n"
        let done = try Kymo.run(
            command + ["--timezone", "+02:00"], environment: ["KYMO_OUTPUT_FORMAT": "ndjson"],
            input: .bytes(Array(local.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.text.contains("+02:00") && !done.text.contains("T10:00:01Z"), "\(done.text)")
        let wrong = try Kymo.run(command + ["--timezone", "Europe/Berlyn"], input: .bytes(Array(local.utf8)))
        #expect(wrong.end == .exit(78) && wrong.error.contains("there is no time zone 'Europe/Berlyn'"))
    }

    @Test func mappingPerSource() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir)
        let file = folder.write(
            "kymo.yaml",
            """
            sources:
              - unix: a.sock
              - {unix: b.sock, mappings: ./mine, defaultDevice: phone-7}
            """)
        let run = try Kymo.start(["run", "--config", file], directory: folder.path)
        let addresses = try run.addresses(2).map { "unix \(folder.file(String($0.dropFirst(5))))" }
        let both = [Readings.heartRate(second: 1), MappingText.reading, #"{"at":"2026-03-01T08:00:01Z","pulse":1}"#]
        for address in addresses { try Sending.send(lines: both, to: address) }
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.accepted == 3 && balance.reasons == ["noTemplate": 3], "\(done.error)")
        #expect(String(decoding: done.output, as: UTF8.self).contains("phone-7"))
    }
}
