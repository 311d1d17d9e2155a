/// The files by which one side speaks TLS, which may be replaced while it does.
protocol TLSFileSet: Sendable {
    /// The file that is named when they are read again.
    var name: String { get }
    /// The present state of the files: another one when any of them has been replaced.
    var stamps: [SecretFile.Stamp?] { get }

    /// Reads them.
    ///
    /// - Throws: ``TLSFault`` as ``TLSContext`` does.
    func context() throws(TLSFault) -> TLSContext
}

/// The files by which a listener speaks TLS, all PEM.
package struct TLSFiles: Hashable, Sendable, TLSFileSet {
    /// The server's certificate, and those between it and an authority that clients trust.
    package var certificate: String
    /// Its private key, which nobody else may read (see ``SecretFile``).
    package var key: String
    /// Authorities one of which must have signed a client's certificate; nil when clients need none.
    package var clientAuthorities: String?
    /// Lists of certificates that those authorities have revoked; nil when none is looked at.
    package var revoked: String?

    /// Files of a server whose clients need no certificates.
    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// All of them.
    private var all: [String] { [certificate, key] + [clientAuthorities, revoked].compactMap(\.self) }

    var name: String { "the certificate \(certificate)" }
    var stamps: [SecretFile.Stamp?] { all.map { SecretFile($0).stamp } }

    func context() throws(TLSFault) -> TLSContext { try TLSContext(self) }
}

/// The files by which a client speaks TLS, all PEM.
package struct TLSClientFiles: Hashable, Sendable, TLSFileSet {
    /// Where systems keep the certificates of authorities that have one file of them and nothing else, as images of
    /// containers.
    static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// Authorities one of which must have signed the server's certificate; nil for those of the system.
    package var authorities: String?
    /// Lists of certificates that ``authorities`` have revoked; nil when none is looked at.
    package var revoked: String?
    /// The certificate that the client shows, and those between it and an authority; nil for none.
    package var certificate: String?
    /// Its private key, which nobody else may read; nil when it is in the same file.
    package var key: String?

    /// Files of a client that shows no certificate, and trusts the system's authorities.
    package init() {}

    /// All of them.
    private var all: [String] {
        [authorities ?? Self.systemAuthorities] + [certificate, key, revoked].compactMap(\.self)
    }

    var name: String { certificate.map { "the certificate \($0)" } ?? "the file of authorities \(all[0])" }
    var stamps: [SecretFile.Stamp?] { all.map { SecretFile($0).stamp } }

    func context() throws(TLSFault) -> TLSContext { try TLSContext(client: self) }
}

/// Why one side cannot speak TLS.
package struct TLSFault: Error, Hashable, Sendable {
    /// The file, what is wrong with it, and what to do; never with anything of a key.
    package var message: String
    /// Whether it may be so for a moment only: a certificate that was renewed, and not yet its key.
    var mayPass = false
}
