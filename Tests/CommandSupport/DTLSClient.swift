import CTestDTLS
import Glibc

/// A client by DTLS 1.2 that waits for nothing: what it is asked for it goes on with.
@safe
package final class DTLSClient {
    /// By what the client shows who it is.
    package enum Credentials {
        case none
        case certificate(String, key: String)
        case psk(identity: String, key: [UInt8])
    }

    private let socket: Int32
    private let client: OpaquePointer
    /// Whether both sides know each other.
    package private(set) var isEstablished = false
    /// Whether the handshake has failed, or the server has ended the association.
    package private(set) var hasEnded = false

    /// A client of `port` of 127.0.0.`server`, from the address 127.0.0.`host`. Its server's certificate is checked by
    /// `authority`; `ciphers` are those of OpenSSL. With `fragment` it asks for shorter records (RFC 6066, section 4).
    package init(
        port: UInt16, to server: UInt8 = 1, from host: UInt8 = 1, _ credentials: Credentials = .none,
        authority: String? = nil, ciphers: String = "ECDHE+AESGCM:PSK-AES128-GCM-SHA256", fragment: UInt8 = 0
    ) throws {
        let socket = try Loopback.connect(port: port, to: server, from: host, isUDP: true)
        var texts = [authority, ciphers]
        var key: [UInt8] = []
        switch credentials {
        case .none: texts += [nil, nil, nil]
        case .certificate(let certificate, let file): texts += [certificate, file, nil]
        case .psk(let identity, let bytes): (texts, key) = (texts + [nil, nil, identity], bytes)
        }
        let copies = unsafe texts.map { unsafe $0.map { unsafe strdup($0) } ?? nil }
        defer { for place in texts.indices { unsafe free(copies[place]) } }
        // Safe: copied by the client.
        let client = unsafe key.withUnsafeBufferPointer { bytes in
            unsafe test_dtls_new(
                socket,
                test_dtls_settings(
                    certificate: copies[2], certificate_key: copies[3], identity: copies[4], key: bytes.baseAddress,
                    key_count: bytes.count, authority: copies[0], ciphers: copies[1], fragment: fragment))
        }
        guard let client = unsafe client else {
            close(socket)
            throw WaitError(description: "there is no client by DTLS with \(credentials)")
        }
        unsafe (self.socket, self.client) = (socket, client)
    }

    deinit {
        // Safe: owned by this object alone.
        unsafe test_dtls_free(client)
        close(socket)
    }

    /// Goes on with the handshake, and looks what has come.
    package func advance() {
        guard !hasEnded else { return }
        let state = unsafe test_dtls_advance(client)
        isEstablished = isEstablished || state == 1
        hasEnded = state < 0
    }

    /// Waits for the end of the handshake; `pump` is called meanwhile.
    ///
    /// - Throws: ``WaitError`` when it fails.
    package func establish(seconds: Double = 30, _ pump: () -> Void = {}) throws {
        try Waiting.until("a handshake by DTLS", seconds: seconds) {
            advance()
            pump()
            return isEstablished || hasEnded
        }
        if hasEnded { throw WaitError(description: "the handshake by DTLS has failed") }
    }

    /// Sends `text` as one record in one datagram.
    package func send(_ text: String) {
        let bytes = Array(text.utf8)
        // Safe: lent for the call.
        unsafe test_dtls_send(client, bytes, bytes.count)
    }

    /// Tells the server that nothing more comes.
    package func end() { unsafe test_dtls_end(client) }

    /// Sends `bytes` as they are, from the same port.
    package func sendPlain(_ bytes: [UInt8]) {
        // Safe: lent for the call.
        unsafe test_dtls_send_plain(socket, bytes, bytes.count)
    }

    /// Sends a record without data, of number `sequence`; false when it cannot be made. By PSK-AES128-GCM-SHA256.
    package func sendEmpty(_ sequence: UInt8) -> Bool {
        // Safe: owned by this object alone.
        unsafe test_dtls_send_empty(client, socket, sequence) == 1
    }
}
