import CommandSupport

/// A certificate authority that lives as long as a test.
final class TestAuthority {
    private let folder = TemporaryFolder()

    /// The authority's certificate.
    var certificate: String { folder.file("ca.pem") }

    init() throws {
        try make("ca", ["-subj", "/CN=Kymograph test authority"])
    }

    /// Makes a certificate and its key for the names of this machine; returns their files.
    func issue(
        _ name: String, hosts: String = "DNS:localhost,DNS:server.kymograph.test,IP:127.0.0.1"
    ) throws -> (certificate: String, key: String) {
        let names = "subjectAltName=\(hosts)"
        try make(
            name,
            [
                "-subj", "/CN=\(name)", "-addext", names, "-addext", "basicConstraints=CA:FALSE", "-CA", certificate,
                "-CAkey", folder.file("ca.key"),
            ])
        return (folder.file("\(name).pem"), folder.file("\(name).key"))
    }

    /// The files by which ``TestServer`` speaks TLS.
    func serverArguments() throws -> [String] {
        let (certificate, key) = try issue("localhost")
        return ["--cert", certificate, "--key", key]
    }

    private func make(_ name: String, _ arguments: [String]) throws {
        try OpenSSLCommand.run(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout",
                folder.file("\(name).key"), "-out", folder.file("\(name).pem"),
            ] + arguments)
    }
}

/// The `openssl` command.
enum OpenSSLCommand {
    static func run(_ arguments: [String]) throws {
        let finished = try ChildProcess("openssl", arguments).finish()
        if finished.end != .exit(0) { throw WaitError(description: "openssl \(arguments[0]): \(finished.error)") }
    }

    /// Makes a private key.
    static func key(_ path: String, _ arguments: [String]) throws {
        try run(["genpkey", "-quiet", "-out", path] + arguments)
    }

    static let rsa = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    static let p384 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]
    static let p256 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
}
