import KymographTestKit

/// A certificate authority that lives as long as a test.
package final class TestAuthority {
    private let folder = TemporaryFolder()

    /// The authority's certificate.
    package var certificate: String { folder.file("ca.pem") }

    /// Its certificate ends sooner than those that it makes.
    package init(_ name: String = "Kymograph test authority") throws {
        try make("ca", days: 1, ["-subj", "/CN=\(name)"])
    }

    /// Makes a certificate and its key for the names of this machine; returns their files.
    package func issue(
        _ name: String, hosts: String = "DNS:localhost,DNS:server.kymograph.test,IP:127.0.0.1", days: Int = 2
    ) throws -> (certificate: String, key: String) {
        let names = "subjectAltName=\(hosts)"
        try make(
            name, days: days,
            [
                "-subj", "/CN=\(name)", "-addext", names, "-addext", "basicConstraints=CA:FALSE", "-CA", certificate,
                "-CAkey", folder.file("ca.key"),
            ])
        return (folder.file("\(name).pem"), folder.file("\(name).key"))
    }

    /// Makes a certificate with `subject`, as `/CN=a/serialNumber=b`, and the alternative names `hosts`, if any; it is
    /// called `name` in the folder alone.
    package func issue(
        _ name: String, subject: String, hosts: String? = nil
    ) throws -> (certificate: String, key: String) {
        let names = hosts.map { ["-addext", "subjectAltName=\($0)"] } ?? []
        try make(
            name,
            [
                "-subj", subject, "-addext", "basicConstraints=CA:FALSE", "-CA", certificate, "-CAkey",
                folder.file("ca.key"),
            ]
                + names)
        return (folder.file("\(name).pem"), folder.file("\(name).key"))
    }

    /// Puts `new` in the place of `old` in `certificate`, which must be as long, and signs it again: `openssl` itself
    /// writes no name with a zero byte.
    package func replace(_ old: String, by new: [UInt8], in certificate: String) throws {
        let (binary, content) = (folder.file("cert.der"), folder.file("tbs.der"))
        try OpenSSLCommand.run(["x509", "-in", certificate, "-outform", "DER", "-out", binary])
        var bytes = Files.read(binary)
        guard let place = bytes.firstRange(of: Array(old.utf8)), place.count == new.count else {
            throw WaitError(description: "'\(old)' is not in the certificate")
        }
        bytes.replaceSubrange(place, with: new)
        Files.write(bytes, to: binary)
        // A certificate is a sequence of what is signed, the algorithm and the signature (RFC 5280, section 4.1).
        try OpenSSLCommand.run([
            "asn1parse", "-inform", "DER", "-in", binary, "-strparse", "4", "-noout", "-out", content,
        ])
        let signature = folder.file("signature")
        try OpenSSLCommand.run(["dgst", "-sha256", "-sign", folder.file("ca.key"), "-out", signature, content])
        let ecdsa: [UInt8] = [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        let signed = Files.read(signature)
        let whole = Files.read(content) + ecdsa + [0x03, UInt8(signed.count + 1), 0x00] + signed
        Files.write([0x30, 0x82, UInt8(whole.count >> 8), UInt8(whole.count & 0xFF)] + whole, to: binary)
        try OpenSSLCommand.run(["x509", "-inform", "DER", "-in", binary, "-out", certificate])
    }

    /// Makes a certificate that no authority has signed, and its key.
    package func issueSelfSigned(_ name: String, hosts: String) throws -> (certificate: String, key: String) {
        try make(name, ["-subj", "/CN=\(name)", "-addext", "subjectAltName=\(hosts)"])
        return (folder.file("\(name).pem"), folder.file("\(name).key"))
    }

    /// Makes a certificate that has ended, and its key.
    package func issueExpired(
        _ name: String, hosts: String = "DNS:localhost"
    ) throws -> (certificate: String, key: String) {
        try issue(name, hosts: hosts, from: "250101000000Z", to: "250201000000Z")
    }

    /// Makes a certificate that is good between two times, as certificates have them, and its key.
    package func issue(
        _ name: String, hosts: String = "DNS:localhost", from start: String = "250101000000Z", to end: String
    ) throws -> (certificate: String, key: String) {
        let (request, key) = (folder.file("\(name).csr"), folder.file("\(name).key"))
        let certificate = folder.file("\(name).pem")
        try OpenSSLCommand.run(
            ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key]
                + ["-out", request, "-subj", "/CN=\(name)"])
        try authorize(
            [
                "-batch", "-in", request, "-out", certificate, "-startdate", start, "-enddate", end,
                "-extensions", "x",
            ],
            known: "", hosts: hosts)
        return (certificate, key)
    }

    /// Makes a list of revoked certificates with `certificate` in it.
    package func revoke(_ certificate: String) throws -> String {
        let serial = try ChildProcess("openssl", ["x509", "-serial", "-noout", "-in", certificate]).finish().text
        let number = serial.split(separator: "=").last.map { $0.filter { !$0.isNewline } } ?? ""
        let list = folder.file("crl.pem")
        try authorize(
            ["-gencrl", "-out", list],
            known: "R\t360101000000Z\t260101000000Z\t\(number)\tunknown\t/CN=revoked\n")
        return list
    }

    /// Runs `openssl ca`, which knows the certificates of the index `known`.
    private func authorize(_ arguments: [String], known: String, hosts: String = "DNS:localhost") throws {
        let index = folder.write("index", known)
        let configuration = folder.write(
            "ca.conf",
            """
            [ca]
            default_ca = a
            [a]
            database = \(index)
            new_certs_dir = \(folder.file(""))
            rand_serial = yes
            default_md = sha256
            default_crl_days = 2
            policy = p
            [p]
            commonName = supplied
            [x]
            subjectAltName = \(hosts)

            """)
        try OpenSSLCommand.run(
            ["ca", "-config", configuration, "-keyfile", folder.file("ca.key"), "-cert", certificate] + arguments)
    }

    /// The files by which ``TestServer`` speaks TLS; with `showsAuthority`, it shows its authority's certificate, too.
    package func serverArguments(showsAuthority: Bool = false) throws -> [String] {
        var (certificate, key) = try issue("localhost")
        if showsAuthority {
            let chain = Files.read(certificate) + Files.read(self.certificate)
            certificate = folder.file("chain.pem")
            Files.write(chain, to: certificate)
        }
        return ["--cert", certificate, "--key", key]
    }

    private func make(_ name: String, days: Int = 2, _ arguments: [String]) throws {
        try OpenSSLCommand.run(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "\(days)",
                "-keyout",
                folder.file("\(name).key"), "-out", folder.file("\(name).pem"),
            ] + arguments)
    }
}

/// The `openssl` command.
package enum OpenSSLCommand {
    package static func run(_ arguments: [String]) throws {
        let finished = try ChildProcess("openssl", arguments).finish()
        if finished.end != .exit(0) { throw WaitError(description: "openssl \(arguments[0]): \(finished.error)") }
    }

    /// Makes a private key.
    package static func key(_ path: String, _ arguments: [String]) throws {
        try run(["genpkey", "-quiet", "-out", path] + arguments)
    }

    package static let rsa = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    package static let p384 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]
    package static let p256 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
}
