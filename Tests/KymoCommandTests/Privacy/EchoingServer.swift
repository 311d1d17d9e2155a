import CommandSupport

/// A FHIR server that refuses everything, and repeats it with control characters.
final class EchoingServer {
    /// Its base URL.
    let url: String
    private let process: ChildProcess

    init() throws {
        let script = "\(SharedMaterial.package)/Tests/Servers/echoing_refusals.py"
        let process = try ChildProcess(SharedMaterial.python, ["-B", script])
        var port = ""
        try Waiting.until("a port: \(process.errorText)") {
            port = String(decoding: process.output, as: UTF8.self)
            return port.hasSuffix("\n")
        }
        url = "http://127.0.0.1:\(port.dropLast())"
        self.process = process
    }
}
