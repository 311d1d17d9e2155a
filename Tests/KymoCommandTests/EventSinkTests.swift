import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `format: events`: sinks that get readings as normalised events of iomt-fhir.
@Suite struct EventSinkTests {
    private static let lines = (0..<3).flatMap { device in
        (0..<400).map { Readings.heartRate(second: $0, value: 60 + $0 % 30, device: "bed-\(device)") }
    }
    private static let window = ["--window", "1m", "--lateness", "5s", "--idle", "1s"]

    /// What tells events apart: all but the time of receipt.
    private static func name(_ line: [UInt8]) throws -> String {
        let names = ["Type", "OccurrenceTimeUtc", "IngestionTimeUtc", "DeviceId", "PatientId", "EncounterId"]
        let text = String(decoding: line, as: UTF8.self)
        let places = (names + ["CorrelationId", "Properties"]).map { text.firstRange(of: "\"\($0)\":")?.lowerBound }
        #expect(!places.contains(nil) && places.compactMap(\.self) == places.compactMap(\.self).sorted())
        let event = try JSONTree(parsing: line)
        #expect(event["IngestionTimeUtc"]?.text?.hasPrefix("20") == true)
        let value = event["Properties"]?.elements?.first?["Value"]?.text ?? ""
        return "\(event["DeviceId"]?.text ?? "") \(event["OccurrenceTimeUtc"]?.text ?? "") \(value)"
    }

    private static func events(_ bytes: [UInt8]) throws -> [String] {
        try bytes.split(separator: 0x0A).map { try name(Array($0)) }
    }

    private static func events(_ folder: TemporaryFolder, _ name: String) throws -> [String] {
        try Files.names(folder.file(name)).flatMap { try events(Files.read(folder.file("\(name)/\($0)"))) }
    }

    private static func expected(_ devices: [Int] = [0, 1, 2]) -> Set<String> {
        Set(
            devices.flatMap { device in
                (0..<400).map { second in
                    let time = [second / 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
                    return "bed-\(device) 2026-03-01T08:\(time)Z \(60 + second % 30)"
                }
            })
    }

    /// The member names, their order and null are those of the reference system.
    @Test func mapWritesTheExactForm() throws {
        let folder = TemporaryFolder()
        folder.write(
            "m/device.json",
            """
            {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
              "typeName": "heartRate", "typeMatchExpression": "$..[?(@heartRate)]",
              "deviceIdExpression": "$.device", "timestampExpression": "$.endDate",
              "values": [{"required": true, "valueExpression": "$.heartRate", "valueName": "hr"}]}}]}
            """)
        folder.write(
            "m/fhir.json",
            """
            {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
              "typeName": "heartRate", "period": "instance", "codes": [{"system": "http://loinc.org", "code": "8867-4"}],
              "value": {"valueType": "Quantity", "valueName": "hr", "unit": "/min", "code": "/min"}}}]}
            """)
        let message = #"{"heartRate":65,"endDate":"2019-02-01T22:46:01.8750000Z","device":"device123"}"#
        let done = try Kymo.run(
            ["map", "--mapping", folder.file("m") + "/", "--format", "events"], input: .bytes(Array(message.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(
            done.text == """
                {"Type":"heartRate","OccurrenceTimeUtc":"2019-02-01T22:46:01.875Z","IngestionTimeUtc":null,\
                "DeviceId":"device123","PatientId":null,"EncounterId":null,"CorrelationId":null,\
                "Properties":[{"Name":"hr","Value":"65"}]}

                """)
    }

    /// Beside a sink of Observations, which gets no event; with and without a store.
    @Test(arguments: ["--ephemeral", "--data"]) func filesOfEvents(keeping: String) throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            """
            sinks:
              - to: bundles
              - {to: events, format: events}
              - {to: one, format: events, devices: bed-1}
            """)
        let keeping = keeping == "--data" ? [keeping, folder.file("data")] : [keeping]
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file] + keeping + Self.window, directory: folder.path,
            input: .bytes(Readings.ndjson(Self.lines + Self.lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        let all = try Self.events(folder, "events")
        #expect(all.count == 1_200 && Set(all) == Self.expected())
        let one = try Self.events(folder, "one")
        #expect(one.count == 400 && Set(one) == Self.expected([1]))
        var bundles = BundleReader()
        for name in Files.names(folder.file("bundles")) {
            try bundles.read(ndjson: Files.read(folder.file("bundles/\(name)")))
        }
        var oracle = BundleReader()
        try oracle.read(
            ndjson: Kymo.run(
                ["run", "--stdin", "--ephemeral"] + Self.window, input: .bytes(Readings.ndjson(Self.lines))
            ).output)
        #expect(bundles.differences(from: oracle, ignoring: ["status"]) == [])
    }

    @Test func standardOutput() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "sinks: [{to: stdout, format: events}]")
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file] + Self.window, directory: folder.path,
            input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try Set(Self.events(done.output)) == Self.expected())
    }

    /// The process is killed while it takes readings: what it has acknowledged is an event, at least once.
    @Test func killed() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "sinks: [{to: events, format: events}]")
        let arguments = ["run", "--config", file, "--data", folder.file("data")] + Self.window
        var rest = Self.lines[...]
        for round in 0..<6 {
            let run = try Kymo.start(arguments + ["--unix", folder.file("k.sock")], directory: folder.path)
            _ = try run.addresses()
            let client = try AckClient(folder.file("k.sock"))
            client.send(Readings.ndjson(Array(rest.prefix(180))))
            try Waiting.until("an acknowledgement") {
                client.receive()
                return client.acknowledged > 0
            }
            usleep(UInt32(20_000 * round))
            run.signal(SIGKILL)
            _ = try run.wait()
            client.receive()
            rest = rest.dropFirst(client.acknowledged)
        }
        let last = try Kymo.run(
            arguments + ["--stdin"], directory: folder.path, input: .bytes(Readings.ndjson(Array(rest))))
        #expect(last.end == .exit(0), "\(last.error)")
        #expect(try Set(Self.events(folder, "events")) == Self.expected())
    }

    /// A measurement that is taken back from a dead letter becomes an event like others.
    @Test func lettersThatAreTakenAgain() throws {
        let folder = TemporaryFolder()
        func arguments(_ most: Int) -> [String] {
            let file = folder.write(
                "kymo\(most).yaml",
                """
                sinks: [{to: events, format: events}]
                limits: {readingsPerWindow: \(most)}
                """)
            return ["--config", file, "--data", folder.file("data")]
        }
        let lines = Array(Self.lines.prefix(3))
        let first = try Kymo.run(
            ["run", "--stdin"] + arguments(2) + Self.window, directory: folder.path,
            input: .bytes(Readings.ndjson(lines)))
        #expect(first.end == .exit(0), "\(first.error)")
        #expect(try Self.events(folder, "events").count == 2)
        let replay = try Kymo.run(["dead", "replay", "--all"] + arguments(100), directory: folder.path)
        #expect(replay.end == .exit(0), "\(replay.error)")
        let again = try Kymo.run(
            ["run", "--stdin"] + arguments(100) + Self.window, directory: folder.path, input: .bytes([]))
        #expect(again.end == .exit(0), "\(again.error)")
        #expect(try Self.events(folder, "events").count == 3)
    }

    /// There is no event for a reading that was taken back; a sink of Observations beside it hears of it.
    @Test func retractionsAreNoEvents() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "sinks: [{to: events, format: events}, {to: observations}]\n")
        let arguments = ["run", "--stdin", "--config", file, "--data", folder.file("data")] + Self.window
        let reading = Readings.heartRate(second: 1).replacing("\"unit\"", with: "\"id\":\"s-1\",\"unit\"")
        for line in [reading, #"{"deviceId":"watch-1","deleted":"heartRate","id":"s-1"}"#] {
            let done = try Kymo.run(arguments, directory: folder.path, input: .bytes(Readings.ndjson([line])))
            #expect(done.end == .exit(0), "\(done.error)")
            #expect(try Self.events(folder, "events") == ["watch-1 2026-03-01T08:00:01Z 72"])
        }
        let files = Files.names(folder.file("observations"))
        let observations = files.map { Files.text(folder.file("observations/\($0)")) }.joined()
        #expect(observations.contains("\"status\":\"final\"") && observations.contains("\"entered-in-error\""))
    }

    @Test func aServerTakesNone() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            """
            sinks:
              - server: http://127.0.0.1:9/fhir
                identity: create
                format: events
            """)
        let done = try Kymo.run(["check", "--config", file], directory: folder.path)
        #expect(done.end == .exit(78))
        #expect(done.error.contains("kymo.yaml:4:13: error") && done.error.contains("takes no events"), "\(done.error)")
    }
}
