import CommandSupport
import Kymograph
import KymographTestKit
import Testing

/// One of the servers in `Tests/Servers`, on a port of its own.
final class TestServer {
    /// Whether Python has what the HTTP/2 server needs.
    static let canSpeakHTTP2 = (try? ChildProcess(SharedMaterial.python, ["-c", "import h2"]).wait()) == .exit(0)

    let port: String
    private let process: ChildProcess

    init(_ script: String, _ arguments: [String] = []) throws {
        let path = "\(SharedMaterial.package)/Tests/Servers/\(script)"
        let process = try ChildProcess(SharedMaterial.python, ["-B", path] + arguments)
        var found: String?
        try Waiting.until("\(script): \(process.errorText)") {
            let text = String(decoding: process.output, as: UTF8.self)
            guard let end = text.firstIndex(of: "\n") else { return false }
            found = String(text[..<end].dropFirst("listening on ".count))
            return true
        }
        self.process = process
        port = try #require(found)
    }

    /// What it has printed after the first line.
    var lines: [String] {
        String(decoding: process.output, as: UTF8.self).split(separator: "\n").dropFirst().map(String.init)
    }

    /// The URL of a path, without TLS.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The URL of a path, with TLS.
    func secureURL(_ path: String) -> String { "https://localhost:\(port)\(path)" }

    /// Waits until one figure of `/stats` is what is expected.
    func wait(for expected: String, _ figure: (JSONTree) -> JSONTree?) async throws {
        let transport = CurlTransport()
        for _ in 0..<1_000 {
            let stats = try await transport.send(HTTPRequest("GET", url("/stats"))).get().json
            if figure(stats)?.digits == expected { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw WaitError(description: "the server has not counted \(expected)")
    }

    /// How often a path was asked for.
    func count(_ path: String) async throws -> String {
        let stats = try await CurlTransport().send(HTTPRequest("GET", url("/stats"))).get().json
        return stats["paths"]?[path]?.digits ?? "0"
    }
}

extension HTTPTransport {
    /// Sends a request and waits for what becomes of it.
    func send(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPFailure> {
        await withCheckedContinuation { continuation in
            submit(request) { continuation.resume(returning: $0) }
        }
    }

    /// Sends a request that is expected to fail.
    func failure(_ request: HTTPRequest) async throws -> HTTPFailure {
        switch await send(request) {
        case .success(let response): throw WaitError(description: "status \(response.status) instead of a failure")
        case .failure(let failure): return failure
        }
    }
}

extension RequestAuthorizer {
    /// Waits for the value.
    func value() async -> Result<String?, AuthorizationFailure> {
        await withCheckedContinuation { continuation in
            authorize { continuation.resume(returning: $0) }
        }
    }
}

extension HTTPResponse {
    /// The body as JSON.
    var json: JSONTree {
        get throws { try JSONTree(parsing: body) }
    }
}

extension JSONTree {
    /// The digits of a number.
    var digits: String? { if case .number(let text) = self { text } else { nil } }
}
