import COpenSSL

/// The server that a client wants to reach by TLS, and what the operator is told when it cannot be.
package struct TLSServer: Hashable, Sendable {
    /// What the client is told of a server that ends the connection within the handshake.
    static let brokenOff =
        "it ended the connection before TLS was agreed on: look whether the port is its port for TLS, and whether it "
        + "wants a certificate"

    /// A name, or a numeric address without a scope.
    let host: String
    /// Whether the host is a numeric address.
    let isNumeric: Bool
    private let files: TLSClientFiles

    /// The server called `host`, or at that numeric address; `files` are those of the client.
    package init(_ host: String, isNumeric: Bool, _ files: TLSClientFiles) {
        // The dot of a full name is in no certificate (RFC 6066, section 3).
        let name = host.hasSuffix(".") ? host.dropLast() : host.prefix { $0 != "%" }
        self.host = String(name)
        self.isNumeric = isNumeric
        self.files = files
    }

    /// Why there is no TLS: OpenSSL's `verdict` on the certificate that the server has shown, which is for `names`, or
    /// else the last error, `alert`; `otherwise` is what OpenSSL calls it.
    func fault(verdict: Int32, alert: Int32, names: [String], _ otherwise: String) -> String {
        guard verdict == X509_V_OK else { return certificateFault(verdict, names, otherwise) }
        switch alert {
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            return "it refuses a client without a certificate: name one as certificateFile"
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE where files.certificate == nil:
            return "it does not agree on TLS (\(otherwise)): it wants a certificate, which certificateFile names, or "
                + "ciphers that this system does not have"
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
            SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED,
            SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_TLSV1_ALERT_ACCESS_DENIED:
            return "it refuses the certificate \(files.certificate ?? "of this side"): \(otherwise)"
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_UNSUPPORTED_PROTOCOL:
            return "it speaks TLS older than 1.2 only: upgrade it"
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
            return "it does not speak TLS at this port: name its port for TLS"
        default: return "no TLS with it: \(otherwise)"
        }
    }

    private func certificateFault(_ verdict: Int32, _ names: [String], _ otherwise: String) -> String {
        switch verdict {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            guard !names.isEmpty else {
                return "its certificate names no host as subjectAltName: give it one with \(host)"
            }
            return "its certificate is for \(names.joined(separator: ", ")) and not for \(host): write one of these as "
                + "host, or give it a certificate with \(host) as subjectAltName"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return "its certificate is signed by itself: name a copy of it as caFile"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_SIGNATURE_FAILURE:
            let known = files.authorities.map { "in \($0)" } ?? "of this system"
            return "its certificate is of no authority \(known): name the certificate of its authority as caFile"
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return "its certificate, or one above it, has expired: renew that"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "its certificate, or one above it, is not valid yet: look at the clocks of both sides"
        case X509_V_ERR_CERT_REVOKED:
            return "its certificate, or one above it, has been revoked by its authority: replace it"
        case X509_V_ERR_UNABLE_TO_GET_CRL:
            return "\(files.revoked ?? "crlFile") has no list of its authority: add that"
        case X509_V_ERR_CRL_HAS_EXPIRED:
            return "the list of its authority in \(files.revoked ?? "crlFile") has expired: fetch the present one"
        default: return "its certificate is not accepted: \(otherwise)"
        }
    }
}
