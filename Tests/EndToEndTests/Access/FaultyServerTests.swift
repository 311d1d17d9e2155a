import CommandSupport
import Kymograph
import KymographTestKit
import Testing

/// What the strict server's faults look like to whoever submits a request; skipped without it.
@Suite(.enabled(if: SharedMaterial.canRunPython)) struct FaultyServerTests {
    @Test(
        arguments: [
            ("reset", .lost, "0"), ("lost", .lost, "1"), ("reset-mid", .lost, "1"), ("stall", .timeout, "1"),
        ] as [(String, HTTPFailure.Kind, String)])
    func tellsThatTheServerMayHaveActed(_ fault: String, _ kind: HTTPFailure.Kind, _ stored: String) async throws {
        let server = try FHIRServer(arguments: ["--fault", "\(fault)=1"])
        try await server.waitUntilReady()
        let failure = try await CurlTransport().failure(create(server, timeout: fault == "stall" ? 2_000 : 30_000))
        #expect(failure.kind == kind, "\(failure)")
        #expect(try await count(server) == stored)
    }

    @Test(arguments: [("503", 503), ("html503", 503), ("bad-json", 201), ("slow", 201)])
    func givesTheAnswerThatCame(_ fault: String, _ status: Int) async throws {
        let server = try FHIRServer(arguments: ["--fault", "\(fault)=1"])
        try await server.waitUntilReady()
        let response = try await CurlTransport().send(create(server)).get()
        #expect(response.status == status)
        #expect(response.header("Retry-After") == (fault == "503" ? "1" : nil))
    }

    private func create(_ server: FHIRServer, timeout: Int = 30_000) -> HTTPRequest {
        let patient = #"{"resourceType":"Patient","identifier":[{"system":"urn:kymograph:patient","value":"p-1"}]}"#
        return HTTPRequest(
            "POST", "\(server.base)/Patient", headers: [("Content-Type", "application/fhir+json")],
            body: Array(patient.utf8), timeout: timeout)
    }

    /// How many Patients the server has stored.
    private func count(_ server: FHIRServer) async throws -> String {
        let (stats, _) = try await server.get("/_stats")
        return try JSONTree(parsing: Array(stats))["resources"]?["Patient"]?.digits ?? "0"
    }
}
