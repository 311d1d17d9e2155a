import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing

/// `kymo run` tells once what has become of a FHIR server, and once that it is back.
@Suite(.enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct StateChangeTests {
    private let folder = TemporaryFolder()

    /// Starts an instance that delivers to `base`, and gives it readings of which windows close.
    private func start(_ base: String, server: [String] = []) throws -> ChildProcess {
        let file = folder.write(
            "kymo.yaml",
            """
            window: 1m
            data: \(folder.file("data"))
            output: {to: none}
            sources: [{unix: \(folder.file("a.sock"))}]
            log: {format: json, level: debug}
            server:
              url: \(base)
              identity: create
            \(server.map { "  \($0)\n" }.joined())
            """)
        let run = try Kymo.start(["run", "--config", file])
        try Waiting.until("the source; standard error has: \(run.errorText)") {
            run.errorText.contains("listening on unix") && Files.isSocket(folder.file("a.sock"))
        }
        try Sending.send(
            lines: Readings.heartRates(200, device: "secret-watch"), to: "unix \(folder.file("a.sock"))")
        return run
    }

    /// The events of the log about sinks, without single attempts, and with how much they matter.
    private func events(_ text: String) throws -> [(event: String, level: String)] {
        try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["time"] is String && object?["message"] is String, "\(line)")
            guard let event = object?["event"] as? String, let level = object?["level"] as? String,
                event.hasPrefix("sink."), level != "debug"
            else { return nil }
            return (event, level)
        }
    }

    private func wait(for event: String, of run: ChildProcess) throws {
        try Waiting.until("\(event) in \(run.errorText.suffix(2_000))") {
            run.errorText.contains("\"event\":\"\(event)\",")
        }
    }

    /// Ends the instance, which must have told of `expected` and nothing else, and never of a device.
    private func end(_ run: ChildProcess, _ expected: [(event: String, level: String)]) throws {
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let found = try events(done.error)
        #expect(found.map(\.event) == expected.map(\.event), "\(done.error)")
        #expect(found.map(\.level) == expected.map(\.level), "\(done.error)")
        #expect(!done.error.contains("secret-watch"), "\(done.error)")
    }

    @Test(arguments: [("503", "sink.refusing", "warning"), ("401", "sink.credentialsRefused", "error")])
    func aServerThatRefuses(status: String, event: String, level: String) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        try await server.makeFaults([status: 1])
        let run = try start(server.base)
        try wait(for: event, of: run)
        try wait(for: "sink.circuitOpen", of: run)
        let status = try Kymo.run(["status", "--data", folder.file("data")]).text
        #expect(status.contains("\(event.dropFirst(5)) since 2"), "\(status)")
        try await server.makeFaults([:])
        try wait(for: "sink.recovered", of: run)
        try end(run, [(event, level), ("sink.circuitOpen", "warning"), ("sink.recovered", "info")])
        #expect(run.errorText.contains("circuit closed"))
    }

    @Test func aServerThatIsAway() async throws {
        var server: FHIRServer? = try FHIRServer()
        let (base, port) = try #require(server.map { ($0.base, $0.port) })
        try await server?.waitUntilReady()
        server = nil
        let run = try start(base)
        try wait(for: "sink.unreachable", of: run)
        server = try FHIRServer(port: port)
        try wait(for: "sink.recovered", of: run)
        let done = try run.terminate()
        let found = try events(done.error).filter { $0.event != "sink.circuitOpen" }
        #expect(found.map(\.event) == ["sink.unreachable", "sink.recovered"], "\(done.error)")
    }

    /// A key that the token endpoint rejects, until its file holds the right one.
    @Test func aKeyThatIsRejected() async throws {
        let (right, used) = (folder.file("right.pem"), folder.file("used.pem"))
        try OpenSSLCommand.key(right, OpenSSLCommand.p384)
        try OpenSSLCommand.key(used, OpenSSLCommand.p384)
        let server = try await BackendServiceTests.server(right, folder)
        let run = try start(
            server.base,
            server: [
                "authorization: smart", "clientId: ward", "keyFile: \(used)", "keyId: key-1",
                "scope: system/Observation.cu",
            ])
        try wait(for: "sink.noToken", of: run)
        #expect(run.errorText.contains("invalid_client"))
        Files.move(right, to: used)
        try wait(for: "sink.recovered", of: run)
        let found = try events(try run.terminate().error).filter { $0.event != "sink.circuitOpen" }
        #expect(found.map(\.event) == ["sink.noToken", "sink.recovered"] && found.map(\.level) == ["error", "info"])
    }

    @Test func aCertificateThatIsNotTrusted() throws {
        let authority = try TestAuthority()
        let server = try TestServer("http_server.py", try authority.serverArguments())
        let run = try start(server.secureURL("/fhir"))
        try wait(for: "sink.insecure", of: run)
        try wait(for: "sink.circuitOpen", of: run)
        let done = try run.terminate()
        let found = try events(done.error)
        #expect(found.map(\.event) == ["sink.insecure", "sink.circuitOpen"], "\(done.error)")
        #expect(done.error.contains("name the authority of its certificate in the CA file"))
    }
}
