/// How a ``CurlTransport`` connects.
package struct HTTPSettings: Hashable, Sendable {
    /// A certificate that shows servers who the client is.
    package struct ClientCertificate: Hashable, Sendable {
        /// PEM file with the certificate and those between it and the authority.
        package var certificateFile: String
        /// PEM file with its private key, not encrypted.
        package var keyFile: String

        /// A certificate.
        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// PEM file with the authorities that servers' certificates must come from; nil for those of the system. Servers
    /// with certificates of the system's authorities are refused when a file is given.
    package var caFile: String?
    /// What to show servers that ask for a certificate.
    package var clientCertificate: ClientCertificate?
    /// Longest time for finding and reaching a server, TLS included, in milliseconds.
    package var connectTimeout = 10_000
    /// Most connections to one host at the same time; more requests wait. HTTP/2 carries many on one connection.
    package var connectionsPerHost = 8
    /// Longest body of an answer, in bytes, after decompression.
    package var maxResponseBytes = 16 << 20
    /// Whether JSON bodies of at least 1 KiB are sent as `Content-Encoding: gzip`, which servers need not understand.
    package var compressesBodies = false
    /// Whether HTTP/2 is used with servers that agree to it during TLS.
    package var usesHTTP2 = true

    /// Settings that suit most servers.
    package init() {}
}
