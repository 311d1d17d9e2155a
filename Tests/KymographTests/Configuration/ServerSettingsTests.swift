import Kymograph
import KymographTemplates
import Testing

/// What the keys under `server` must agree on.
@Suite struct ServerSettingsTests {
    private static let base = "url: https://fhir.example/r4, identity: lookup"

    @Test(arguments: [
        ("url: https://fhir.example/r4", "server.identity is not said"),
        ("\(base), tokenFile: /etc/token", "asked without authorization; write server.authorization: bearer"),
        ("\(base), keyFile: /etc/key", "asked without authorization; write server.authorization: smart"),
        ("\(base), authorization: smart, clientId: a", "needs server.keyFile and server.keyId and server.scope"),
        ("\(base), certificateKeyFile: /etc/key", "name the certificate as server.certificateFile"),
        ("url: http://fhir.example/r4, identity: lookup, authorization: bearer, tokenFile: /t", "is not encrypted"),
    ])
    func refuses(server: String, message: String) {
        let errors = load("server: {\(server)}").diagnostics.filter { $0.severity == .error }.map(\.text)
        #expect(errors.contains { $0.contains(message) }, "\(errors)")
    }

    @Test(arguments: ["", ", authorization: bearer, tokenFile: /etc/token", ", certificateFile: /etc/c.pem"])
    func takes(rest: String) {
        #expect(load("server: {\(Self.base)\(rest)}").diagnostics.map(\.text) == [])
    }

    @Test(arguments: [
        ("output: {format: ndjson}", "transactions and batches only"),
        ("output: {bundle: collection}", "transactions and batches only"),
        ("ephemeral: true", "needs a data directory"),
    ])
    func needsTheRest(other: String, message: String) {
        let errors = load("server: {\(Self.base)}\n\(other)").diagnostics.map(\.text)
        #expect(errors.contains { $0.contains(message) }, "\(errors)")
    }
}
