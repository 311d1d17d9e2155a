import CDatagramTLS

/// The files by which a UDP socket speaks DTLS.
package struct DatagramTLSFiles: Hashable, Sendable, TLSFileSet {
    /// The server's certificate, and those between it and an authority, PEM; nil where clients have pre-shared keys.
    package var certificate: String?
    /// Its private key; nil when it is in the same file.
    package var key: String?
    /// Authorities one of which must have signed a client's certificate; nil when clients need none.
    package var clientAuthorities: String?
    /// Lists of certificates that those authorities have revoked; nil when none is looked at.
    package var revoked: String?
    /// Pre-shared keys, lines `identity:key`; nil for none.
    package var keys: String?
    /// Whether clients with pre-shared keys may use AES-CCM with tags of 8 bytes.
    package var allowsShortTags = false

    /// No file yet.
    package init() {}

    /// All of them.
    private var all: [String] { [certificate, key, clientAuthorities, revoked, keys].compactMap(\.self) }

    /// What the context may use.
    var ciphers: Int32 {
        var ciphers: UInt32 = certificate == nil ? 0 : KYMO_DTLS_CERTIFICATE.rawValue
        if keys != nil { ciphers |= KYMO_DTLS_PSK.rawValue }
        if keys != nil, allowsShortTags { ciphers |= KYMO_DTLS_PSK_CCM8.rawValue }
        return Int32(bitPattern: ciphers)
    }

    var name: String { certificate.map { "the certificate \($0)" } ?? "the file of pre-shared keys \(keys ?? "")" }
    var stamps: [SecretFile.Stamp?] { all.map { SecretFile($0).stamp } }

    func context() throws(TLSFault) -> TLSContext { try TLSContext(datagrams: self) }
}
