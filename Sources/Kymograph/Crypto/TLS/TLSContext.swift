import CDatagramTLS
import COpenSSL
import Glibc
import KymographCore

/// What connections have in common: the certificate of this side, its key, and whom it trusts. For any thread.
///
/// TLS 1.2 and 1.3 by the system's OpenSSL, with the ciphers that it chooses.
@safe
package final class TLSContext: Sendable {
    // Safe: OpenSSL counts its users atomically, and nothing of it changes after init.
    nonisolated(unsafe) private let context: OpaquePointer

    /// Reads `files` of a listener.
    ///
    /// - Throws: ``TLSFault`` when one cannot be read, holds something else, or the key is that of another certificate.
    package init(_ files: TLSFiles) throws(TLSFault) {
        defer { ERR_clear_error() }
        guard let context = unsafe kymo_tls_server_context() else {
            throw TLSFault(message: "OpenSSL has no TLS")
        }
        // From here on it is freed by deinit, also when this throws.
        unsafe self.context = context
        try load(files)
    }

    /// Reads `files` of a client.
    ///
    /// - Throws: ``TLSFault`` as for a listener.
    package init(client files: TLSClientFiles) throws(TLSFault) {
        defer { ERR_clear_error() }
        guard let context = unsafe kymo_tls_client_context() else {
            throw TLSFault(message: "OpenSSL has no TLS")
        }
        // As above.
        unsafe self.context = context
        if let authorities = files.authorities {
            try checkIsFile(authorities)
            guard unsafe kymo_tls_trust(context, authorities) == 1 else {
                throw TLSFault(message: "\(authorities) \(Self.reason("holds no certificate in PEM form"))")
            }
        } else if unsafe kymo_tls_trust_system(context, TLSClientFiles.systemAuthorities) != 1 {
            throw TLSFault(message: "the system has no certificates of authorities: install ca-certificates")
        }
        if let revoked = files.revoked { try refuse(revoked) }
        if let certificate = files.certificate { try load(certificate, key: files.key ?? certificate) }
    }

    /// Reads `files` of a UDP socket that speaks DTLS.
    ///
    /// - Throws: ``TLSFault`` as for a listener, and when there is something else than keys in the file of pre-shared
    ///   keys.
    package init(datagrams files: DatagramTLSFiles) throws(TLSFault) {
        defer { ERR_clear_error() }
        let keys = try files.keys.map { path throws(TLSFault) in try PreSharedKeys(path) }
        guard let context = unsafe kymo_dtls_context(files.ciphers, keys?.secret) else {
            throw TLSFault(message: "OpenSSL has no DTLS with the ciphers of this source")
        }
        keys?.isGiven = true
        // As above.
        unsafe self.context = context
        guard let certificate = files.certificate else { return }
        var stream = TLSFiles(certificate: certificate, key: files.key ?? certificate)
        (stream.clientAuthorities, stream.revoked) = (files.clientAuthorities, files.revoked)
        try load(stream)
    }

    deinit {
        // Safe: made in init; connections hold it by themselves.
        unsafe SSL_CTX_free(context)
    }

    private func load(_ files: TLSFiles) throws(TLSFault) {
        try load(files.certificate, key: files.key)
        guard let authorities = files.clientAuthorities else { return }
        guard unsafe kymo_tls_require_clients(context, authorities) == 1 else {
            throw TLSFault(message: "\(authorities) \(Self.reason("holds no certificate in PEM form"))")
        }
        if let revoked = files.revoked { try refuse(revoked) }
    }

    /// Trusts no certificate that is on the list of its authority in `revoked`.
    private func refuse(_ revoked: String) throws(TLSFault) {
        try checkIsFile(revoked)
        guard unsafe kymo_tls_refuse_revoked(context, revoked) == 1 else {
            throw TLSFault(message: "\(revoked) \(Self.reason("holds no list of revoked certificates in PEM form"))")
        }
    }

    /// A pipe would keep whoever reads it waiting.
    private func checkIsFile(_ path: String) throws(TLSFault) {
        guard let status = FileSystem.target(path), status.st_mode & S_IFMT != S_IFREG else { return }
        throw TLSFault(message: "\(path) is no file")
    }

    /// Reads the certificate of this side and its key.
    private func load(_ certificate: String, key path: String) throws(TLSFault) {
        try checkIsFile(certificate)
        guard unsafe SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
            throw TLSFault(message: "\(certificate) \(Self.reason("holds no certificate in PEM form"))")
        }
        let file = SecretFile(path)
        var isOther = false
        do throws(SecretFault) {
            let (pem, _) = try file.bytes()
            do throws(PrivateKey.Fault) {
                let key = try PrivateKey(pem: pem)
                guard unsafe key.becomesKey(of: context) else {
                    isOther = true
                    throw PrivateKey.Fault(description: "is not the key of \(certificate)")
                }
            } catch {
                throw file.failure(error.description)
            }
        } catch {
            let advice = path == certificate ? "; or name its key's own file as certificateKeyFile" : ""
            throw TLSFault(message: error.message + advice, mayPass: isOther)
        }
    }

    /// Why the last call has failed: that a file cannot be opened, or else `otherwise`.
    private static func reason(_ otherwise: String) -> String {
        // The library of OpenSSL's errors of the system (ERR_LIB_SYS), whose reason is an errno.
        let code = ERR_peek_error()
        let isSystem = code & 0x8000_0000 != 0
        return isSystem ? "cannot be read: \(ErrorText.of(Int32(truncatingIfNeeded: code & 0x7FFF_FFFF)))" : otherwise
    }

    /// When the first of the certificates that it shows ends, in seconds since 1970; nil without any.
    var expiry: Double? {
        var (earliest, index): (Double?, Int32) = (nil, 0)
        // Safe: the certificates belong to the context.
        while let certificate = unsafe kymo_tls_own(context, index) {
            if let seconds = unsafe CertificateExpiry.seconds(of: certificate) {
                earliest = min(earliest ?? seconds, seconds)
            }
            index += 1
        }
        return earliest
    }

    /// Most hosts of a certificate that are looked at.
    private static let mostHosts: Int32 = 256

    /// The hosts and numeric addresses that its certificate is for, which may begin with `*.`; none without one.
    var hosts: [String] {
        // Safe: the certificate belongs to the context.
        guard let certificate = unsafe kymo_tls_own(context, 0) else { return [] }
        return unsafe CertificateNames.hosts(of: certificate, most: Self.mostHosts)
    }

    /// A connection that a client has opened at `descriptor`, which stays the caller's; nil without memory.
    func accept(_ descriptor: Int32) -> TLSConnection? {
        // Safe: a new connection, which the object owns from here on.
        guard let connection = unsafe SSL_new(context) else { return nil }
        guard unsafe SSL_set_fd(connection, descriptor) == 1 else {
            unsafe SSL_free(connection)
            return nil
        }
        unsafe SSL_set_accept_state(connection)
        return unsafe TLSConnection(connection)
    }

    /// What waits for a client at the UDP socket `descriptor`, which stays the caller's; nil without memory.
    func association(at descriptor: Int32) -> DatagramTLSConnection? {
        // Safe: a new one, which the object owns from here on.
        guard let one = unsafe kymo_dtls_new(context, descriptor) else { return nil }
        return unsafe DatagramTLSConnection(one)
    }

    /// Why the key or certificate of the client of `association` is not good in this context; nil when it is.
    func withdrawal(of association: DatagramTLSConnection) -> String? {
        // Safe: the context lives as long as this.
        unsafe association.withdrawal(in: context)
    }

    /// A connection to `server` at `descriptor`, which stays the caller's; nil without memory.
    func connect(_ descriptor: Int32, to server: TLSServer) -> TLSConnection? {
        // Safe: as above.
        guard let connection = unsafe SSL_new(context) else { return nil }
        guard unsafe SSL_set_fd(connection, descriptor) == 1,
            unsafe kymo_tls_expect(connection, server.host, server.isNumeric ? 1 : 0) == 1
        else {
            unsafe SSL_free(connection)
            return nil
        }
        unsafe SSL_set_connect_state(connection)
        return unsafe TLSConnection(connection, to: server)
    }
}
