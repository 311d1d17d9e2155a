import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kafka:` sinks: what was received is in the topic, whatever happens on the way.
@Suite(.serialized) struct KafkaSinkTests {
    private static let lines = (0..<200).flatMap { second in
        (0..<3).map { Readings.heartRate(second: second, value: 60 + second % 30, device: "bed-\($0)") }
    }

    private static let names = Set(
        (0..<200).flatMap { second in
            (0..<3).map { device in
                let time = [second / 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
                return "bed-\(device) 2026-03-01T08:\(time)Z"
            }
        })

    /// Device and time of each event, as often as it came.
    private func names(_ run: KafkaRun) throws -> [String] {
        try run.messages().map { message in
            let body = try JSONTree(parsing: Array(message.value.utf8))
            return "\(body["DeviceId"]?.text ?? "") \(body["OccurrenceTimeUtc"]?.text ?? "")"
        }
    }

    /// Resources, as lines of files have them: keys, headers, and the order of each device.
    @Test func resources() throws {
        let run = try KafkaRun()
        run.configure(more: "output: {format: ndjson}", others: ", {to: out}")
        let done = try run.run(Self.lines)
        #expect(done.end == .exit(0) && done.error.contains("delivered 12 entries, undeliverable 0"), "\(done.error)")
        let messages = try run.messages()
        let files = Files.names(run.folder.file("out")).flatMap {
            Files.text(run.folder.file("out/\($0)")).split(separator: "\n").map(String.init)
        }
        #expect(Set(messages.map(\.value)) == Set(files.filter { $0.contains("\"Observation\"") }))
        #expect(messages.count == 12 && Set(messages.compactMap(\.key)) == ["bed-0", "bed-1", "bed-2"])
        for message in messages {
            let resource = try JSONTree(parsing: Array(message.value.utf8))
            #expect(message.headers["type"] == "Observation" && message.headers["id"]?.utf8.count == 64)
            #expect(message.headers["resource"] == "Observation/\(resource["id"]?.text ?? "")")
            #expect(Int(message.headers["version"] ?? "") ?? 0 > 0)
        }
        for (_, own) in Dictionary(grouping: messages, by: \.key) {
            #expect(Set(own.map(\.partition)).count == 1)
        }
        let receipts = try run.kymo("receipts", "receipts", "--format", "json").lines
            .map { try JSONTree(parsing: Array($0.utf8)) }
        #expect(receipts.count { $0["outcome"]?.text == "sent" } == 12)
        #expect(try run.kymo("ledger", "--verify", "--data", "data").end == .exit(0))
    }

    /// Readings in place of resources; a late one comes behind what was sent before.
    @Test func readings() throws {
        let run = try KafkaRun()
        run.configure(", format: events, partitionKey: none")
        let done = try run.run(Self.lines + Self.lines)
        #expect(done.end == .exit(0), "\(done.error)")
        let messages = try run.messages()
        #expect(try names(run).count == 600 && Set(names(run)) == Self.names)
        #expect(messages.allSatisfy { $0.key == nil && $0.headers["type"] == "heartRate" })
    }

    /// A window that comes again has the same name, and a greater version.
    @Test func versions() throws {
        let run = try KafkaRun()
        run.configure()
        #expect(try run.run([Readings.heartRate(second: 1)]).end == .exit(0))
        #expect(try run.run([Readings.heartRate(second: 2)]).end == .exit(0))
        let messages = try run.messages()
        #expect(messages.count == 2 && Set(messages.compactMap { $0.headers["resource"] }).count == 1)
        let versions = messages.sorted { $0.offset < $1.offset }.compactMap { Int($0.headers["version"] ?? "") }
        #expect(versions.count == 2 && versions[0] < versions[1])
        #expect(messages.map { $0.value.contains("\"amended\"") }.filter { $0 }.count == 1)
    }

    /// Brokers go and come, and answer as they do while leaders change: all is stored, and nothing twice.
    @Test func brokersGo() throws {
        let run = try KafkaRun()
        run.configure(", format: events", more: "sources: [{unix: k.sock}]")
        let process = try Kymo.start(["run", "--config", "kymo.yaml"], directory: run.folder.path)
        _ = try process.addresses()
        let client = try AckClient(run.folder.file("k.sock"))
        try run.ask("/errors?codes=6,7,19,6,20")
        for (part, act) in ["/down?broker=1", "/up?broker=1", "/down?broker=2", "/up?broker=2", "/errors?codes=7,6"]
            .enumerated()
        {
            try run.ask(act)
            client.send(Readings.ndjson(Array(Self.lines[(part * 120)..<(part * 120 + 120)])))
            try Waiting.until("acknowledgements") {
                client.receive()
                return client.acknowledged >= part * 120 + 120
            }
        }
        try Waiting.until("all events: \(process.errorText)", seconds: 120) { try Set(names(run)) == Self.names }
        #expect(try names(run).count == 600)
        let done = try process.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
    }

    /// Killed again and again: nothing that was acknowledged is missing, and what came twice has one digest.
    @Test func killed() throws {
        let run = try KafkaRun()
        run.configure(", format: events", more: "sources: [{unix: k.sock}]")
        var acknowledged = 0
        for round in 0..<10 {
            let process = try Kymo.start(["run", "--config", "kymo.yaml"], directory: run.folder.path)
            _ = try process.addresses()
            let client = try AckClient(run.folder.file("k.sock"))
            // What was sent and not acknowledged is sent again.
            client.send(Readings.ndjson(Array(Self.lines[acknowledged..<min(600, round * 60 + 60)])))
            try Waiting.until("an acknowledgement") {
                client.receive()
                return client.acknowledged > 0
            }
            usleep(UInt32(17_000 * round))
            client.receive()
            acknowledged += client.acknowledged
            process.signal(SIGKILL)
            #expect(try process.finish().end == .signal(SIGKILL))
        }
        let rest = try run.run(Array(Self.lines[acknowledged...]))
        #expect(rest.end == .exit(0), "\(rest.error)")
        let messages = try run.messages()
        #expect(try Set(names(run)) == Self.names)
        let values = Dictionary(grouping: messages) { $0.headers["id"] ?? "" }.mapValues { Set($0.map(\.value)).count }
        #expect(values.count == 600 && values.values.allSatisfy { $0 == 1 })
    }

    /// A client that may not write: that is said, nothing is given up, and it goes on when it may.
    @Test func notAuthorized() throws {
        let run = try KafkaRun()
        run.configure(more: "sources: [{unix: k.sock}]\nlog: {level: info}")
        try run.ask("/errors?codes=29,29,29,29")
        let process = try Kymo.start(["run", "--config", "kymo.yaml"], directory: run.folder.path)
        _ = try process.addresses()
        try Sending.send(lines: [Readings.heartRate(second: 1)], to: "unix \(run.folder.file("k.sock"))")
        _ = try run.kymo("flush", "--wait", "1s", "--data", "data")
        try process.waitForError("(Kafka error 29)")
        let status = try run.kymo("status", "--data", "data")
        #expect(status.text.contains("(Kafka error 29)"), "\(status.text)")
        try Waiting.until("the message", seconds: 120) { try run.messages().count == 1 }
        #expect(try process.terminate().end == .exit(0))
    }

    /// A message that the topic refuses is a dead letter, and can be sent again.
    @Test func aRefusedMessageCanBeReplayed() throws {
        let run = try KafkaRun()
        run.configure()
        // Once among others, and once by itself.
        try run.ask("/errors?codes=87,87")
        let done = try run.run([Readings.heartRate(second: 1)])
        #expect(done.error.contains("undeliverable 1 (serverRefused 1)"), "\(done.error)")
        let letters = try run.kymo("dead", "list", "--data", "data")
        #expect(letters.text.contains("(Kafka error 87)"), "\(letters.text)")
        #expect(try run.kymo("dead", "replay", "--all", "--data", "data").end == .exit(0))
        let again = try run.run([])
        #expect(again.end == .exit(0), "\(again.error)")
        #expect(try run.messages().count == 1)
    }

    /// A message that is longer than the producer may send is not tried.
    @Test func tooLong() throws {
        let run = try KafkaRun()
        run.properties("security.protocol=plaintext\nmessage.max.bytes=1000\n")
        run.configure(", propertiesFile: kafka.properties")
        let done = try run.run([Readings.heartRate(second: 1)])
        #expect(done.error.contains("undeliverable 1 (entryTooLarge 1)"), "\(done.error)")
    }

    @Test func onReload() throws {
        let run = try KafkaRun()
        run.folder.write(
            "kymo.yaml",
            "data: data\nwindow: 1m\nsources: [{unix: k.sock}]\nsinks: [{to: out}, {to: x, name: x}]\n")
        let process = try Kymo.start(["run", "--config", "kymo.yaml"], directory: run.folder.path)
        _ = try process.addresses()
        run.folder.write(
            "kymo.yaml",
            "data: data\nwindow: 1m\nsources: [{unix: k.sock}]\n"
                + "sinks: [{to: out}, {kafka: \"kafka://\(run.brokers)/readings\", name: topic}]\n")
        process.signal(SIGHUP)
        try process.waitForError("SIGHUP: took over")
        try Sending.send(lines: [Readings.heartRate(second: 1)], to: "unix \(run.folder.file("k.sock"))")
        #expect(try run.kymo("flush", "--wait", "30s", "--data", "data").end == .exit(0))
        #expect(try run.messages().count == 1)
        #expect(try process.terminate().end == .exit(0))
    }
}
