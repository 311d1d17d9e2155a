import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `eventhub:` sinks: what was received is in the hub, whatever happens on the way.
@Suite(.serialized) struct EventHubSinkTests {
    private static let key = "p8Zq0Jb4T1xkqV2mQ9sYw7rC3nD5fG6hL0aB1cE2dF4="
    private static let devices = 3
    private static let lines = (0..<400).flatMap { second in
        (0..<devices).map { Readings.heartRate(second: second, value: 60 + second % 30, device: "bed-\($0)") }
    }

    private let folder = TemporaryFolder()
    /// The receiver's, which stays as long as the test.
    private let other = TemporaryFolder()

    /// A connection string for the door at `port`, in a file.
    private func secret(_ port: String, key: String = key) -> String {
        let file = folder.write(
            "hub.connection",
            "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=devices;SharedAccessKey=\(key);EntityPath=ward;\n")
        // Safe: Swift lends the path for the call.
        unsafe chmod(file, 0o600)
        return file
    }

    private func arguments(_ port: String, _ settings: String = "", key: String = key) -> [String] {
        let file = folder.write(
            "kymo.yaml",
            """
            sinks: [{eventhub: ward, connectionStringFile: \(secret(port, key: key))\(settings)}]
            receipts: \(folder.file("receipts"))
            """)
        return ["run", "--config", file, "--data", folder.file("data"), "--window", "1m"]
    }

    private func hub(_ arguments: [String] = []) throws -> TestServer {
        try TestServer("event_hub.py", ["--hub", "ward", "--policy", "devices", "--key", Self.key] + arguments)
    }

    private func get(_ hub: TestServer, _ path: String) throws -> [JSONTree] {
        let done = try ChildProcess("curl", ["-sS", "-m", "30", hub.url(path)]).finish()
        return try done.output.split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
    }

    /// The names of the events that the hub has, each as often as it came; their keys are their devices.
    private func names(_ hub: TestServer) throws -> [String] {
        try get(hub, "/events").map { event in
            let body = try JSONTree(parsing: Array((event["element"]?["Body"]?.text ?? "").utf8))
            #expect(event["key"]?.text == body["DeviceId"]?.text)
            #expect(event["element"]?["UserProperties"]?["type"]?.text == "heartRate")
            return "\(body["DeviceId"]?.text ?? "") \(body["OccurrenceTimeUtc"]?.text ?? "")"
        }
    }

    private static let expected = Set(
        (0..<400).flatMap { second in
            (0..<devices).map { device in
                let time = [second / 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
                return "bed-\(device) 2026-03-01T08:\(time)Z"
            }
        })

    @Test func everyReadingArrivesOnce() throws {
        let hub = try hub()
        let done = try Kymo.run(
            arguments(hub.port) + ["--stdin"],
            input: .bytes(Readings.ndjson(Self.lines + Self.lines)))
        #expect(done.end == .exit(0) && done.error.contains("delivered 1200 entries, undeliverable 0"), "\(done.error)")
        let names = try names(hub)
        #expect(names.count == 1_200 && Set(names) == Self.expected)
        #expect(!done.error.contains(Self.key))
        let receipts = try Kymo.run(["receipts", folder.file("receipts"), "--format", "json"])
        let sent = try receipts.lines.map { try JSONTree(parsing: Array($0.utf8)) }.filter {
            $0["outcome"]?.text == "sent"
        }
        #expect(
            sent.count == 1_200 && sent.allSatisfy { $0["type"]?.text == "heartRate" && $0["readings"] == .number("1") }
        )
        #expect(sent.first?["device"]?.text?.hasPrefix("bed-") == true)
    }

    /// Each answer, and each way to lose one, at any place: nothing is lost, and ids tell what came twice.
    @Test func faultsOnTheWay() throws {
        let hub = try hub(["--most", "20000"])
        let steps = ["503", "500", "cut", "201", "lose", "429", "401", "201", "lose", "502", "201", "cut", "500"]
        _ = try get(hub, "/script?steps=\(steps.joined(separator: ","))")
        let run = try Kymo.start(arguments(hub.port) + ["--unix", folder.file("k.sock")])
        _ = try run.addresses()
        let client = try AckClient(folder.file("k.sock"))
        client.send(Readings.ndjson(Self.lines))
        try Waiting.until("all events", seconds: 60) { try Set(names(hub)) == Self.expected }
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let events = try get(hub, "/events").compactMap { $0["element"] }
        let bodies = try Dictionary(
            grouping: events, by: { try #require($0["UserProperties"]?["id"]?.text) }
        ).mapValues { Set($0.compactMap { $0["Body"]?.text }).count }
        #expect(bodies.count == 1_200 && bodies.values.allSatisfy { $0 == 1 })
    }

    /// Resources in place of readings.
    @Test func resources() throws {
        let hub = try hub()
        let done = try Kymo.run(
            arguments(hub.port, ", format: fhir") + ["--stdin"], input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        let events = try get(hub, "/events")
        #expect(events.count == 21, "seven minutes of three devices")
        for event in events {
            let resource = try JSONTree(parsing: Array((event["element"]?["Body"]?.text ?? "").utf8))
            #expect(resource["resourceType"]?.text == "Observation" && event["key"]?.text?.hasPrefix("bed-") == true)
            let name = event["element"]?["UserProperties"]?["resource"]?.text
            #expect(name == "Observation/\(resource["id"]?.text ?? "")")
        }
    }

    /// A policy without the right key: that is said, nothing is given up, and the next run with the right one delivers.
    @Test func aWrongKey() throws {
        let hub = try hub()
        let wrong = try Kymo.run(
            arguments(hub.port, key: "c2VjcmV0IG9mIG5vYm9keQ==") + ["--stdin"],
            environment: ["KYMO_DRAIN": "1s"], input: .bytes(Readings.ndjson(Self.lines)))
        #expect(wrong.error.contains("credentials") && wrong.error.contains("wait in"), "\(wrong.error)")
        #expect(!wrong.error.contains("c2VjcmV0"))
        #expect(try names(hub).isEmpty)
        let right = try Kymo.run(arguments(hub.port) + ["--stdin"], input: .bytes([]))
        #expect(right.end == .exit(0), "\(right.error)")
        #expect(try Set(names(hub)) == Self.expected)
    }

    /// `kymo check --connect` sends no event to find out.
    @Test func checkConnects() throws {
        let hub = try hub()
        func check(_ more: [String] = [], key: String = Self.key, port: String? = nil) throws -> Kymo.Finished {
            let arguments = arguments(port ?? hub.port, key: key).dropFirst()
            return try Kymo.run(
                ["check", "--connect"] + arguments + more, environment: ["KYMO_RECEIPTS": folder.file("r")])
        }
        let right = try check()
        #expect(
            right.end == .exit(0)
                && right.error.contains("http://127.0.0.1:\(hub.port)/ward answers, and takes the credentials"),
            "\(right.error)")
        let wrong = try check(key: "c2VjcmV0IG9mIG5vYm9keQ==")
        #expect(wrong.end == .exit(77) && wrong.error.contains("refuses the credentials (401)"), "\(wrong.error)")
        #expect(!wrong.error.contains("c2VjcmV0"))
        for (step, status, text) in [
            ("404", 78, "there is no hub"), ("503", 69, "answers 503"),
            ("400", 0, "may not have looked at the credentials"),
        ]
            as [(String, Int32, String)]
        {
            _ = try get(hub, "/script?steps=\(step)")
            let done = try check()
            #expect(done.end == .exit(status) && done.error.contains(text), "\(done.error)")
            #expect(!done.error.contains("takes the credentials"), "\(done.error)")
        }
        let away = try check(port: "9")
        #expect(away.end == .exit(69), "\(away.error)")
        #expect(try names(hub).isEmpty)
    }

    /// An event that the hub does not take is a dead letter, and can be sent again.
    @Test func aRefusedEventCanBeReplayed() throws {
        let hub = try hub()
        _ = try get(hub, "/script?steps=400")
        let lines = [Readings.heartRate(second: 1)]
        let done = try Kymo.run(arguments(hub.port) + ["--stdin"], input: .bytes(Readings.ndjson(lines)))
        #expect(done.error.contains("undeliverable 1 (serverRefused 1)"), "\(done.error)")
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", folder.file("data")])
        #expect(replay.end == .exit(0), "\(replay.error)")
        let again = try Kymo.run(arguments(hub.port) + ["--stdin"], input: .bytes([]))
        #expect(again.end == .exit(0), "\(again.error)")
        #expect(try get(hub, "/events").count == 1)
    }

    // MARK: From one kymo to another

    private func receiver() throws -> Door {
        folder.write(
            "events/device.json",
            """
            {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
              "typeName": "heartRate", "typeMatchExpression": "$..[?(@.Type == 'heartRate')]",
              "deviceIdExpression": "$.DeviceId", "timestampExpression": "$.OccurrenceTimeUtc",
              "values": [{"required": true, "valueName": "beatsPerMinute",
                "valueExpression": "$.Properties[?(@.Name == 'beatsPerMinute')].Value"}]}}]}
            """)
        folder.write(
            "events/fhir.json",
            """
            {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
              "typeName": "heartRate", "period": "instance", "codes": [{"system": "http://loinc.org", "code": "8867-4"}],
              "value": {"valueType": "Quantity", "valueName": "beatsPerMinute", "unit": "/min", "code": "/min"}}}]}
            """)
        let key = folder.write("hub.key", Self.key + "\n")
        // Safe: Swift lends the path for the call.
        unsafe chmod(key, 0o600)
        folder.write(
            "peers.yaml", "peers:\n  - sharedAccessKeyFile: \(key)\n    name: devices\n    devices: [bed-*]\n")
        return try Door(
            "  - http: 127.0.0.1:0\n    mappings: [\(folder.file("events"))/]\n    peers: \(folder.file("peers.yaml"))",
            in: other)
    }

    @Test func fromOneToAnother() throws {
        let door = try receiver()
        let done = try Kymo.run(
            arguments("\(door.port)") + ["--stdin"], input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        let balance = try door.balance()
        #expect(balance.accepted == 1_200 && balance.duplicate == 0 && balance.isClosed, "\(door.run.errorText)")
    }

    /// The sender is killed under load, again and again: what it has acknowledged arrives, and no identity twice.
    @Test func theSenderIsKilled() throws {
        let door = try receiver()
        let arguments = arguments("\(door.port)")
        var rest = Self.lines[...]
        for round in 0..<6 {
            let run = try Kymo.start(arguments + ["--unix", folder.file("k.sock")])
            _ = try run.addresses()
            let client = try AckClient(folder.file("k.sock"))
            client.send(Readings.ndjson(Array(rest.prefix(180))))
            try Waiting.until("an acknowledgement") {
                client.receive()
                return client.acknowledged > 0
            }
            usleep(UInt32(15_000 * round))
            run.signal(SIGKILL)
            _ = try run.wait()
            client.receive()
            rest = rest.dropFirst(client.acknowledged)
        }
        let last = try Kymo.run(arguments + ["--stdin"], input: .bytes(Readings.ndjson(Array(rest))))
        #expect(last.end == .exit(0) && last.error.contains("undeliverable 0"), "\(last.error)")
        let balance = try door.balance()
        #expect(balance.accepted == 1_200 && balance.rejected == 0 && balance.isClosed, "\(door.run.errorText)")
    }

    // MARK: Mistakes in the configuration

    private static let inline = "Endpoint=sb://a/;SharedAccessKeyName=b;SharedAccessKey=\(key)"
    private static let mistakes: [(String, String, String)] = [
        ("eventhub: ward", "2:15", "needs a connection string"),
        ("eventhub: \"wa rd\"", "2:15", "no name of an event hub"),
        ("eventhub: ward\n    connectionStringFile: missing", "3:27", "cannot be read"),
        ("eventhub: other\n    connectionStringFile: hub.connection", "3:27", "another hub than other"),
        ("eventhub: ward\n    connectionStringVariable: KYMO_TEST_UNSET", "3:31", "is not set"),
        ("eventhub: ward\n    connectionStringFile: hub.connection\n    partitionKey: type", "4:19", "not one of"),
        ("eventhub: ward\n    connectionStringFile: hub.connection\n    maxRequestBytes: 2MiB", "4:22", "RequestBytes"),
        ("eventhub: ward\n    connectionStringFile: open.connection", "3:27", "chmod 600"),
        ("eventhub: ward\n    connectionStringFile: \(inline)", "3:27", "connection string itself"),
        ("eventhub: ward\n    connectionStringVariable: \(inline)", "3:31", "connection string itself"),
    ]

    @Test(arguments: mistakes) func mistakesAreNamed(text: String, place: String, part: String) throws {
        _ = secret("1")
        let open = folder.write(
            "open.connection", "Endpoint=sb://a;SharedAccessKeyName=b;SharedAccessKey=\(Self.key)")
        // Safe: Swift lends the path for the call.
        unsafe chmod(open, 0o644)
        folder.write("kymo.yaml", "sinks:\n  - \(text)\ndata: data\n")
        let done = try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
        #expect(done.end == .exit(78), "\(done.error)")
        #expect(done.error.contains("kymo.yaml:\(place): error") && done.error.contains(part), "\(done.error)")
        #expect(!done.error.contains(Self.key))
    }
}
