import CommandSupport
import Foundation
import Glibc

/// A folder with what an example names, and the example as it runs there: with paths in the folder, and with ports that
/// are free.
final class ExampleFolder {
    private let folder = TemporaryFolder()
    private let example: Example
    private var terminal: PseudoTerminal?
    private var ports: [String: UInt16] = [:]
    /// What the shell runs.
    private(set) var script = ""

    var path: String { folder.path }

    init(_ example: Example) throws {
        self.example = example
        for name in ["bin", "etc", "var", "var/lib", "run"] { folder.write("\(name)/.made", "") }
        for name in ["etc/kymograph", "run/kymo"] { folder.write("\(name)/.made", "") }
        try writePrograms()
        try writeFiles()
        script = "PATH=\(folder.file("bin")):$PATH\n\(try localised(example.text))\n"
    }

    /// The path of the folder that stands for /var/lib/kymo.
    var data: String { folder.file("var/lib/kymo") }

    // MARK: The text

    private func localised(_ text: String) throws -> String {
        var text = text
        for program in [".build/release/kymo", "/usr/local/bin/kymo", "/usr/bin/kymo"] {
            text = text.replacingOccurrences(of: program, with: "kymo")
        }
        for place in ["/var/lib/kymo", "/etc/kymograph", "/run/kymo"] {
            text = text.replacingOccurrences(of: place, with: folder.file(String(place.dropFirst())))
        }
        if text.contains("/dev/ttyUSB0") {
            let terminal = try PseudoTerminal()
            text = text.replacingOccurrences(of: "/dev/ttyUSB0", with: terminal.path)
            self.terminal = terminal
        }
        for match in text.matches(of: /(0\.0\.0\.0|127\.0\.0\.1|\[::1\]|localhost):([0-9]+)/) {
            let address = String(match.output.0)
            text = text.replacingOccurrences(of: address, with: "127.0.0.1:\(try port(String(match.output.2)))")
        }
        return quickened(text)
    }

    /// Simulated devices do not take their time.
    private func quickened(_ text: String) -> String {
        guard text.contains("kymo simulate") else { return text }
        if text.contains("--latency") { return text.replacing(/--duration \S+/, with: "--duration 1s") }
        return text.contains("--speed") ? text : text.replacing("kymo simulate", with: "kymo simulate --speed max")
    }

    /// A free port for each that an example names.
    private func port(_ named: String) throws -> UInt16 {
        if let known = ports[named] { return known }
        let port = try FreePort.find()
        ports[named] = port
        return port
    }

    // MARK: The files

    private func names(_ word: String) -> Bool { example.text.contains(word) }

    /// The program, and what stands for tools of Bluetooth.
    private func writePrograms() throws {
        let programs = [
            "kymo": "exec '\(Kymo.path)' \"$@\"",
            "gatttool": "echo 'Notification handle = 0x0012 value: 16 3c 11 04'",
            "btmon": "cat \(folder.file("btmon.txt"))",
        ]
        folder.write("btmon.txt", ExampleFiles.monitor)
        for (name, text) in programs {
            let path = folder.write("bin/\(name)", "#!/bin/sh\n\(text)\n")
            unsafe chmod(path, 0o755)
        }
    }

    private func writeFiles() throws {
        if names("kymo receipts") { folder.write("receipts/kymo-20260301T080000-000001.ndjson", ExampleFiles.receipt) }
        if names("my-device"), !names("--export") {
            try ExampleFiles.copyMapping("wristband", to: folder.file("my-device"))
        }
        try writeFilesOfTheMedTechService()
        let message = ExampleFiles.message(of: mapping)
        for name in ["message.json", "frame.json", "samples.ndjson"] where names(name) {
            folder.write(name, message.replacing("\n", with: " ") + "\n")
        }
        if names("kymo.yaml") {
            let port = try FreePort.find()
            for name in ["kymo.yaml", "etc/kymograph/kymo.yaml"] {
                folder.write(name, ExampleFiles.configuration(port))
            }
        }
        if names("export.zip") {
            let export = AppleHealthExport.text([AppleHealthExport.record("HeartRate", "62", "count/min")])
            Files.write(ZipArchive.ofStored([("export.xml", export)]), to: folder.file("export.zip"))
        }
        if names("night.ndjson") { folder.write("night.ndjson", Readings.heartRates(5).joined(separator: "\n") + "\n") }
        if names("night.btsnoop") { Files.write(ExampleFiles.snoop, to: folder.file("night.btsnoop")) }
        if names("terminal.log") { folder.write("terminal.log", ExampleFiles.terminal) }
        if names("readings.csv") { folder.write("readings.csv", ExampleFiles.table) }
        if names("patients.csv") { folder.write("patients.csv", ExampleFiles.patients) }
        for name in ["message.hl7", "messages.hl7"] where names(name) {
            let results = [MonitorMessages.heartRate("72"), MonitorMessages.saturation("97")]
            folder.write(name, MonitorMessages.message(id: 1, results: results) + "\n")
        }
        if names("mirth.yaml") {
            folder.write("mirth.yaml", "sources:\n  - mllp: 127.0.0.1:0\n    mappings: [pcd-01]\n")
        }
        if names("~/.local") {
            for name in ["", "/share", "/share/bash-completion", "/share/bash-completion/completions"] {
                folder.write(".local\(name)/.made", "")
            }
        }
        if names("capture.bin") { Files.write(ExampleFiles.framed, to: folder.file("capture.bin")) }
        if names("observations.ndjson") { try ExampleFiles.writeObservations(folder.file("observations.ndjson")) }
        if names("other-observations.ndjson") {
            Files.write(Files.read(folder.file("observations.ndjson")), to: folder.file("other-observations.ndjson"))
        }
        if names("/fhir/") { try writeSearch() }
        if names("/var/lib/kymo") { try ExampleFiles.makeStore(data) }
        if names("kymo audit") { _ = try Kymo.run(["query", "--data", data]) }
        if names("cat noted.txt") {
            folder.write("noted.txt", try Kymo.run(["audit", "verify", "--data", data]).text)
        }
        if names("--key-file") { try writeKeys() }
        if names("ward-1.json") { try writeLedgers() }
    }

    /// What `kymo ledger` says of two stores that have not the same.
    private func writeLedgers() throws {
        for (name, count) in [("ward-1", 3), ("ward-2", 4)] {
            let data = folder.file("\(name)-data")
            _ = try Kymo.run(
                ["run", "--stdin", "--data", data, "--out", folder.file("\(name)-out")],
                input: .bytes(Readings.ndjson(Readings.heartRates(count, device: name))))
            folder.write("\(name).json", try Kymo.run(["ledger", "--data", data, "--format", "json"]).text)
        }
    }

    /// The keys that the example names, and the store encrypted with the first of them, unless that is the example.
    private func writeKeys() throws {
        let keys = ["old.key", "etc/kymograph/key", "new.key"].filter { names($0.replacing("etc/", with: "/etc/")) }
        let commands =
            keys.map { ["keys", "new", folder.file($0)] }
            + (names("keys encrypt") ? [] : [["keys", "encrypt", "--data", data, "--key-file", folder.file(keys[0])]])
        for command in commands {
            let done = try Kymo.run(command)
            guard done.end == .exit(0) else { throw WaitError(description: done.error) }
        }
        guard names("kymo decrypt") else { return }
        let rejected = ["--data", data, "--dead-letter", folder.file("rejected.ndjson")]
        let done = try Kymo.run(
            ["run", "--stdin", "--key-file", folder.file(keys[0])] + rejected, input: .bytes(Array("{}\n".utf8)))
        // Nothing of it is accepted.
        guard done.end == .exit(65) else { throw WaitError(description: done.error) }
    }

    /// Who may search a store, and the store.
    private func writeSearch() throws {
        let token = folder.write("etc/kymograph/tokens/emr", "a-token-of-the-examples\n")
        unsafe chmod(token, 0o600)
        folder.write("search-peers.yaml", "peers:\n  - {name: emr, tokenFile: \(token)}\n")
        folder.write("search.yaml", "search: {peers: \(folder.file("search-peers.yaml"))}\n")
        try ExampleFiles.makeStore(data)
    }

    /// A mapping under the names that the service's users have, and recorded messages.
    private func writeFilesOfTheMedTechService() throws {
        let names = ["devicecontent.json", "fhirmapping.json"]
        for place in ["medtech/", ""] where self.names(place.isEmpty ? names[0] : "./\(place)") {
            for (name, file) in zip(names, ["device.json", "fhir.json"]) {
                folder.write(place + name, ExampleFiles.mappingFile("wristband", file))
            }
        }
        if self.names("recorded/") {
            folder.write("recorded/1.ndjson", ExampleFiles.message(of: "wristband").replacing("\n", with: " ") + "\n")
        }
    }

    /// The mapping that the example names, of the catalogue.
    private var mapping: String {
        let named = example.text.firstMatch(of: /--mapping (\S+)/).map { String($0.output.1) }
        guard let named else { return names("my-device") ? "wristband" : "reading" }
        return named.contains("/") ? "wristband" : named
    }
}

/// Ports of the loopback that are free for UDP and TCP.
enum FreePort {
    /// Below those that the kernel gives to whoever connects: a client cannot have taken it before it is used.
    static func find() throws -> UInt16 {
        for _ in 0..<200 {
            guard let stream = try? bound(SOCK_STREAM, .random(in: 20_000..<32_000)) else { continue }
            defer { close(stream.descriptor) }
            if let datagrams = try? bound(SOCK_DGRAM, stream.port) {
                close(datagrams.descriptor)
                return stream.port
            }
        }
        throw WaitError(description: "no free port")
    }

    static func bound(_ kind: __socket_type, _ port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(kind.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0 ? unsafe getsockname(descriptor, generic, &length) : -1
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw WaitError(description: "cannot bind port \(port)")
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
