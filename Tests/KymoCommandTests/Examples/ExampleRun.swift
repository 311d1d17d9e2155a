import CommandSupport
import Glibc

/// Runs an example as a reader would: in a shell, with what it needs besides.
final class ExampleRun {
    private let folder: ExampleFolder
    private let shell: ChildProcess
    /// What runs beside the example.
    private var instances: [ChildProcess] = []
    private var broker: Mosquitto?

    init(_ example: Example) throws {
        folder = try ExampleFolder(example)
        instances = try Self.companions(of: folder)
        if let match = folder.script.firstMatch(of: /mosquitto_pub -L mqtt:\/\/127\.0\.0\.1:([0-9]+)/) {
            broker = try Mosquitto(port: UInt16(match.output.1))
        }
        // A session of its own, whose processes get signals together; the shell itself stays to tell the status.
        shell = try ChildProcess(
            "setsid", ["bash", "-o", "pipefail", "-c", "trap : TERM\n\(folder.script)exit $?"],
            environment: ["HOME": folder.path], directory: folder.path)
    }

    deinit { kill(-shell.pid, SIGKILL) }

    /// The status of the example, which is asked to end when it waits for readings, and all that it has said.
    func finish() throws -> (end: ChildProcess.End, text: String) {
        var end: ChildProcess.End?
        try Waiting.until("the end of: \(folder.script)\n\(shell.errorText)", seconds: 60) {
            end = try? shell.wait(seconds: 0)
            return end != nil || isReady
        }
        if end == nil { kill(-shell.pid, SIGTERM) }
        let last = try shell.wait()
        return (last, shell.errorText + String(decoding: shell.output, as: UTF8.self))
    }

    /// Whether the example waits for readings that others send, or watches an instance.
    private var isReady: Bool {
        if folder.script.contains("kymo top") { return !shell.output.isEmpty }
        if shell.errorText.contains("kymo: tapping process") { return true }
        guard !folder.script.contains(/kymo (simulate|replay)/) else { return false }
        return shell.errorText.split(separator: "\n").contains {
            $0.contains("kymo: listening on ") && !$0.contains("kymo: listening on stdin")
        }
    }

    /// A running instance for what asks one, and a receiver for what sends.
    private static func companions(of folder: ExampleFolder) throws -> [ChildProcess] {
        var instances: [ChildProcess] = []
        if folder.script.contains(/kymo forget-lookups/) {
            // With a server, though none answers: what is remembered is of servers.
            let server = ["--server", "http://127.0.0.1:\(try FreePort.find())/r4", "--server-identity", "lookup"]
            instances.append(
                try Kymo.start(["run", "--udp", "127.0.0.1:0", "--out", "none", "--data", folder.data] + server))
        }
        if folder.script.contains(/kymo (top|tap|console|flush|pause|resume)/) {
            instances.append(
                try Kymo.start([
                    "run", "--udp", "127.0.0.1:0", "--out", "\(folder.path)/watched", "--data", folder.data, "--admin",
                    "127.0.0.1:0", "--console",
                ]))
        }
        if !folder.script.contains("kymo run"),
            let match = folder.script.firstMatch(of: /kymo (?:simulate|replay).* --(udp|tcp|unix|unixgram) (\S+)/)
        {
            instances.append(
                try Kymo.start(
                    ["run", "--\(match.output.1)", "\(match.output.2)", "--ephemeral"], directory: folder.path))
        }
        if !folder.script.contains("kymo run"),
            let match = folder.script.firstMatch(of: /http:\/\/(127\.0\.0\.1:[0-9]+)\/v1\/ingest/)
        {
            instances.append(try Kymo.start(["run", "--http", "\(match.output.1)", "--data", folder.data]))
        }
        if let match = folder.script.firstMatch(of: /http:\/\/(127\.0\.0\.1:[0-9]+)\/fhir\//) {
            instances.append(
                try Kymo.start([
                    "run", "--udp", "127.0.0.1:0", "--out", "\(folder.path)/searched", "--data", folder.data, "--admin",
                    "\(match.output.1)", "--config", "\(folder.path)/search.yaml",
                ]))
        }
        for instance in instances { _ = try instance.addresses() }
        if folder.script.contains(/kymo (top|tap|console|flush|pause|resume)/) {
            try Waiting.until("the control socket") { Files.isSocket("\(folder.data)/control.sock") }
        }
        return instances
    }
}
