/// How a ``CurlTransport`` connects.
public struct HTTPSettings: Hashable, Sendable {
    /// A certificate that shows servers who the client is.
    public struct ClientCertificate: Hashable, Sendable {
        /// PEM file with the certificate and those between it and the authority.
        public var certificateFile: String
        /// PEM file with its private key, not encrypted.
        public var keyFile: String

        /// A certificate.
        public init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// PEM file with the authorities that servers' certificates must come from; nil for those of the system. Servers
    /// with certificates of the system's authorities are refused when a file is given.
    public var caFile: String?
    /// What to show servers that ask for a certificate.
    public var clientCertificate: ClientCertificate?
    /// Longest time for finding and reaching a server, TLS included, in milliseconds.
    public var connectTimeout = 10_000
    /// Most connections to one host at the same time; more requests wait. HTTP/2 carries many on one connection.
    public var connectionsPerHost = 8
    /// Longest body of an answer, in bytes, after decompression.
    public var maxResponseBytes = 16 << 20
    /// Whether JSON bodies of at least 1 KiB are sent as `Content-Encoding: gzip`, which servers need not understand.
    public var compressesBodies = false
    /// Whether HTTP/2 is used with servers that agree to it during TLS.
    public var usesHTTP2 = true

    /// Settings that suit most servers.
    public init() {}
}
