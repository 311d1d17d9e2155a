import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A cluster, and a folder of a kymo that sends to it.
struct KafkaRun {
    /// A message as another client reads it.
    struct Message {
        var partition: Int
        var offset: Int
        var key: String?
        var value: String
        var headers: [String: String]
    }

    let folder = TemporaryFolder()
    let cluster: TestServer
    let brokers: String
    let topic: String

    init(_ arguments: [String] = [], topic: String = "readings") throws {
        cluster = try TestServer("kafka_brokers.py", arguments)
        self.topic = topic
        brokers = try Self.get(cluster, "/brokers")
    }

    /// What the cluster answers to `path`.
    func answer(_ path: String) throws -> String { try Self.get(cluster, path) }

    private static func get(_ cluster: TestServer, _ path: String) throws -> String {
        let done = try ChildProcess("curl", ["-sS", "-m", "60", cluster.url(path)]).finish()
        return String(decoding: done.output, as: UTF8.self)
    }

    /// Has the cluster do something.
    func ask(_ path: String) throws { _ = try Self.get(cluster, path) }

    /// All that is stored in the topic.
    func messages() throws -> [Message] {
        try Self.get(cluster, "/messages?topic=\(topic)").split(separator: "\n").map { line in
            let tree = try JSONTree(parsing: Array(line.utf8))
            guard case .object(let headers)? = tree["headers"] else { throw KafkaRunError.noMessages(String(line)) }
            return Message(
                partition: Int(tree["partition"]?.digits ?? "") ?? -1, offset: Int(tree["offset"]?.digits ?? "") ?? -1,
                key: tree["key"]?.text, value: tree["value"]?.text ?? "",
                headers: headers.reduce(into: [:]) { $0[$1.key] = $1.value.text })
        }
    }

    enum KafkaRunError: Error {
        case noMessages(String)
    }

    /// Writes the configuration with a sink for the topic, and `others`.
    func configure(_ settings: String = "", more: String = "", place: String? = nil, others: String = "") {
        folder.write(
            "kymo.yaml",
            """
            sinks: [{kafka: "\(place ?? "kafka://\(brokers)/\(topic)")"\(settings)}\(others)]
            data: data
            receipts: receipts
            window: 1m
            \(more)
            """)
    }

    /// A file of properties for this user alone.
    func properties(_ text: String) {
        // Safe: Swift lends the path for the call.
        unsafe chmod(folder.write("kafka.properties", text), 0o600)
    }

    func run(_ lines: [String], environment: [String: String] = [:]) throws -> Kymo.Finished {
        try Kymo.run(
            ["run", "--stdin", "--config", "kymo.yaml"], environment: environment, directory: folder.path,
            input: .bytes(Readings.ndjson(lines)))
    }

    func kymo(_ arguments: String..., environment: [String: String] = [:]) throws -> Kymo.Finished {
        try Kymo.run(arguments, environment: environment, directory: folder.path)
    }
}
