import CommandSupport
import Glibc
import KymographTestKit

/// Debian's MQTT broker on a port of 127.0.0.1, with a folder that it keeps its messages in.
final class Mosquitto {
    private static let program = "/usr/sbin/mosquitto"
    /// Whether the broker and its clients are installed.
    static let isInstalled = Files.exists(program) && Files.exists("/usr/bin/mosquitto_pub")

    let port: UInt16
    private let folder: TemporaryFolder
    private var process: ChildProcess?

    /// Starts a broker, by default one that lets anybody in; `lines` are added to its configuration.
    init(_ lines: String = "allow_anonymous true", port: UInt16? = nil) throws {
        self.port = try port ?? FreePort.find()
        folder = TemporaryFolder()
        folder.write(
            "mosquitto.conf",
            """
            listener \(self.port) 127.0.0.1
            persistence true
            persistence_location \(folder.path)/
            max_queued_messages 0
            user root
            \(lines)

            """)
        try start()
    }

    /// Starts a broker that speaks TLS by these files, and nothing else; `lines` are added to its configuration.
    convenience init(
        certificate: (certificate: String, key: String), _ lines: String = "", port: UInt16? = nil
    ) throws {
        try self.init(
            "allow_anonymous true\ncertfile \(certificate.certificate)\nkeyfile \(certificate.key)\n\(lines)",
            port: port)
    }

    /// Starts it again, with what it has kept.
    func start() throws {
        let process = try ChildProcess(Self.program, ["-c", folder.file("mosquitto.conf")])
        self.process = process
        try Waiting.until("a broker: \(process.errorText)") { (try? RawConnection(port: port)) != nil }
    }

    /// Ends it; it keeps what it has.
    func stop() throws {
        process?.signal(SIGTERM)
        _ = try process?.wait()
    }

    /// Ends it without a word.
    func kill() throws {
        process?.signal(SIGKILL)
        _ = try process?.wait()
    }

    /// Lets it do nothing until ``goOn()``; the kernel still takes connections for it.
    func pause() { process?.signal(SIGSTOP) }

    /// Ends what ``pause()`` has begun.
    func goOn() { process?.signal(SIGCONT) }

    /// The URL of `filter` at the broker.
    func url(_ filter: String = "") -> String { "mqtt://127.0.0.1:\(port)" + (filter.isEmpty ? "" : "/\(filter)") }

    /// Publishes messages, each once it is taken.
    func publish(_ payloads: [String], to topic: String, _ options: [String] = ["-q", "1"]) throws {
        let input = ChildProcess.Input.bytes(Readings.ndjson(payloads))
        let arguments = ["-p", "\(port)", "-t", topic, "-l"] + options
        let done = try ChildProcess("mosquitto_pub", arguments, input: input).finish()
        guard done.end == .exit(0) else { throw WaitError(description: "mosquitto_pub: \(done.error)") }
    }
}
