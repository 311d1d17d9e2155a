import CommandSupport
import KymographTestKit
import Testing

/// A cluster with a topic, and a folder of a kymo that reads it.
struct KafkaReadingRun {
    static let partitions = 4

    let kafka: KafkaRun

    init(_ arguments: [String] = []) throws { kafka = try KafkaRun(arguments) }

    var url: String { "kafka://\(kafka.brokers)/\(kafka.topic)" }

    /// The topic is made again, with nothing in it, and the group has forgotten all; the URL of it.
    func remake() throws -> String {
        try kafka.ask("/remake")
        return "kafka://\(try kafka.answer("/brokers"))/\(kafka.topic)"
    }
    var folder: TemporaryFolder { kafka.folder }

    /// Writes the configuration: a source with `settings` besides the topic.
    func configure(_ settings: String = "", more: String = "", url: String? = nil) {
        folder.write(
            "kymo.yaml",
            """
            sources: [{kafka: "\(url ?? self.url)"\(settings)}]
            sinks: [{to: out}]
            output: {format: ndjson}
            data: data
            window: 30s
            lateness: 5s
            \(more)
            """)
    }

    /// Stores `lines`, made at the time `time` if it is not now: those of a device are in one partition, in their
    /// order.
    func store(_ lines: [String], time: Int? = nil, partition: (String) -> Int = Self.partition) throws {
        let more = time.map { ",\"time\":\($0)" } ?? ""
        try store(records: lines.map { "{\"partition\":\(partition($0)),\"value\":\(Self.quoted($0))\(more)}" })
    }

    /// Stores a record with `headers`, each with its value in hexadecimal digits, in the first partition.
    func store(_ line: String, headers: [(name: String, value: String)]) throws {
        let pairs = headers.map { "[\"\($0.name)\",\"\($0.value)\"]" }.joined(separator: ",")
        try store(records: ["{\"partition\":0,\"value\":\(Self.quoted(line)),\"headers\":[\(pairs)]}"])
    }

    private func store(records: [String]) throws {
        folder.write("records", records.map { $0 + "\n" }.joined())
        let done = try ChildProcess(
            "curl", ["-sSf", "-m", "120", "--data-binary", "@records", kafka.cluster.url("/records")],
            directory: folder.path
        ).finish(seconds: 120)
        #expect(done.end == .exit(0), "\(done.error)")
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    static func partition(_ line: String) -> Int {
        let device = line.firstRange(of: "watch-").map { line[$0.upperBound...].prefix { $0.isNumber } } ?? "0"
        return (Int(device) ?? 0) % partitions
    }

    /// The position of the group in each partition.
    func positions(_ group: String = "kymo") throws -> [Int] {
        try kafka.answer("/positions?group=\(group)").split(separator: "\n").map { Int($0) ?? -2 }
    }

    func start(_ arguments: [String] = []) throws -> ChildProcess {
        let process = try Kymo.start(["run", "--config", "kymo.yaml"] + arguments, directory: folder.path)
        _ = try process.addresses()
        return process
    }

    /// Waits until the group has the position behind all of `counts`.
    func wait(for counts: [Int], of process: ChildProcess) throws {
        try Waiting.until("positions \(counts): \(process.errorText)", seconds: 120) { try positions() == counts }
    }

    /// How many of `lines` are in each partition.
    static func counts(_ lines: [String]) -> [Int] {
        (0..<partitions).map { number in lines.count { partition($0) == number } }
    }

    /// What was written.
    func written() throws -> BundleReader {
        var reader = BundleReader()
        for name in Files.names(folder.file("out")) { try reader.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        return reader
    }

    /// Readings of several devices, most of them in order, some twice, some late.
    static func lines(seed: UInt64, count: Int) -> [String] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).flatMap { index in
            let isLate = Int.random(in: 0..<20, using: &random) == 0
            let line = Readings.heartRate(
                second: isLate ? max(0, index / 6 - Int.random(in: 0..<100, using: &random)) : index / 6,
                value: Int.random(in: 50..<140, using: &random),
                device: "watch-\(Int.random(in: 0..<9, using: &random))")
            return Int.random(in: 0..<25, using: &random) == 0 ? [line, line] : [line]
        }
    }

    /// What a run without crashes makes of `lines`.
    static func expected(_ lines: [String]) throws -> BundleReader {
        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral", "--window", "30s", "--lateness", "5s", "--format", "ndjson"],
            input: .bytes(Readings.ndjson(lines)))
        var reader = BundleReader()
        try reader.read(ndjson: oracle.output)
        return reader
    }
}
