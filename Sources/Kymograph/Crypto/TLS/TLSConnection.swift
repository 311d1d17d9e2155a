import COpenSSL
import Glibc
import KymographCore

/// One connection by TLS over a socket that does not block. Of one thread at a time.
@safe
final class TLSConnection {
    private let connection: OpaquePointer
    /// The server at the other end; nil where a client is there.
    private let server: TLSServer?
    /// Why it has failed, in words for a log; nil while it has not.
    private(set) var fault: String?
    /// Whether it has failed because the client speaks HTTP without TLS.
    private(set) var hasMetPlainHTTP = false

    /// Takes over `connection`, whose socket is set, of a client, or to `server`.
    @unsafe
    init(_ connection: OpaquePointer, to server: TLSServer? = nil) {
        unsafe self.connection = connection
        self.server = server
    }

    deinit {
        // Safe: owned by this object alone.
        unsafe SSL_free(connection)
    }

    /// Whether both sides know each other: nothing was read before. It stays so when the connection fails later.
    private(set) var isEstablished = false
    /// Whether the connection is gone: OpenSSL must not be called for it any more.
    private var isLost = false
    /// Whether the other side takes nothing any more, though it may have sent something.
    private var isDeaf = false
    /// What the last read has met behind the bytes that it gave: the end, or a failure. The next one tells it.
    private var met: Int?

    /// Goes on with what both sides tell each other first. Returns 0 when they know each other, or a negative errno as
    /// ``read(_:count:)``.
    func establish() -> Int {
        guard !isEstablished else { return 0 }
        guard fault == nil, !isLost else { return -Int(EPROTO) }
        ERR_clear_error()
        let code = unsafe SSL_do_handshake(connection)
        isEstablished = code == 1
        // To a server, the socket itself may not be connected yet.
        return isEstablished ? 0 : failure(code, isReading: server == nil)
    }

    /// Whether bytes have been taken from the socket that were not read yet, or the end behind them: the socket itself
    /// may not tell of them.
    var hasBuffered: Bool { unsafe met != nil || fault == nil && !isLost && SSL_has_pending(connection) == 1 }

    /// Reads up to `count` bytes to `start`. Returns how many, 0 when the other side has said that nothing more comes,
    /// or a negative errno: EAGAIN when nothing is there, ECONNRESET when it has gone without saying so, EPROTO when
    /// it has broken the protocol or is not let in.
    @unsafe
    func read(_ start: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
        if let met {
            self.met = nil
            return met
        }
        guard fault == nil else { return -Int(EPROTO) }
        guard !isLost else { return -Int(ECONNRESET) }
        var filled = 0
        while filled < count {
            ERR_clear_error()
            var size = 0
            // Safe: the caller's room has `count` bytes.
            let code = unsafe SSL_read_ex(connection, start + filled, count - filled, &size)
            guard code == 1 else {
                let result = failure(code, isReading: true)
                guard filled > 0 else { return result }
                if result != -Int(EAGAIN) { met = result }
                return filled
            }
            unsafe kymo_tls_note_data(connection)
            filled += size
        }
        return filled
    }

    /// Writes some of `bytes`. Returns how many, or a negative errno: EAGAIN when the other side takes none now.
    func send(_ bytes: ByteView) -> Int {
        guard fault == nil, !isLost, !isDeaf else { return -Int(EPIPE) }
        guard isEstablished else { return -Int(EAGAIN) }
        var sent = 0
        // A record has 16 KiB at most.
        while sent < bytes.count {
            ERR_clear_error()
            var size = 0
            let rest = bytes[sent..<bytes.count]
            // Safe: OpenSSL reads `count` bytes.
            let code = unsafe SSL_write_ex(connection, rest.unsafeBuffer.baseAddress, rest.count, &size)
            guard code == 1 else {
                let result = failure(code, isReading: false)
                return sent > 0 ? sent : result
            }
            sent += size
        }
        return sent
    }

    /// Tells the other side that nothing more comes, if it can be told now.
    func endSending() {
        guard fault == nil, !isLost, !isDeaf, isEstablished else { return }
        ERR_clear_error()
        _ = unsafe SSL_shutdown(connection)
        ERR_clear_error()
    }

    private func failure(_ code: Int32, isReading: Bool) -> Int {
        let error = errno
        guard unsafe kymo_tls_has_too_many_messages(connection) == 0 else {
            return fail("it sends messages of the handshake without end")
        }
        switch unsafe SSL_get_error(connection, code) {
        case SSL_ERROR_ZERO_RETURN: return isEstablished ? 0 : lose(ECONNRESET)
        // A client that begins a message of the handshake, and does not end it, gets no answer before: whoever waits
        // until it may be written to would be told at once, again and again.
        case SSL_ERROR_WANT_READ where server == nil && !isReading:
            return fail("it has begun a message that it does not end")
        case SSL_ERROR_WANT_READ: return -Int(EAGAIN)
        // A client that sends, and does not take what it has to hear first, would keep the lane busy.
        case SSL_ERROR_WANT_WRITE: return isReading ? fail("it does not take what it is sent") : -Int(EAGAIN)
        case SSL_ERROR_SYSCALL:
            guard server != nil, !isReading, isEstablished else { return lose(error) }
            // What a server has sent before it took nothing more says why.
            isDeaf = true
            return -Int(EPIPE)
        default:
            if kymo_tls_is_cut() == 1 { return lose(ECONNRESET) }
            let last = ERR_peek_last_error()
            hasMetPlainHTTP =
                ERR_GET_LIB(last) == ERR_LIB_SSL
                && [SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST].contains(ERR_GET_REASON(last))
            return fail(reason)
        }
    }

    /// Why the last call has failed, in words.
    private var reason: String {
        // Safe: a constant of OpenSSL.
        let text = unsafe String(cString: kymo_tls_fault(connection))
        guard let server else { return text }
        let verdict = unsafe Int32(truncatingIfNeeded: SSL_get_verify_result(connection))
        let code = ERR_peek_last_error()
        let alert = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0
        return server.fault(verdict: verdict, alert: alert, names: shownHosts, text)
    }

    /// The other side has gone; before both knew each other, that is a failure of TLS, unless there was no connection.
    private func lose(_ error: Int32) -> Int {
        isLost = true
        let code = [0, EAGAIN].contains(error) ? ECONNRESET : error
        guard !isEstablished else { return -Int(code) }
        if server == nil {
            fault = "it broke off"
        } else if [ECONNRESET, EPIPE].contains(code) {
            fault = TLSServer.brokenOff
        }
        return -Int(code)
    }

    private func fail(_ reason: String) -> Int {
        fault = reason
        ERR_clear_error()
        return -Int(EPROTO)
    }

    // MARK: Who it is

    /// The names in the certificate that the client has shown, and that was found good; none without one.
    var clientNames: [CertificateName] {
        // Safe: the certificate lives as long as the connection.
        guard isEstablished, let certificate = unsafe SSL_get0_peer_certificate(connection),
            unsafe SSL_get_verify_result(connection) == Int(X509_V_OK)
        else { return [] }
        return unsafe CertificateNames.of(certificate)
    }

    /// The hosts and numeric addresses that the certificate which was shown is for, good or not: those of printable
    /// letters, the first ones.
    private var shownHosts: [String] {
        // Safe: the certificate lives as long as the connection.
        guard let certificate = unsafe kymo_tls_shown(connection) else { return [] }
        return unsafe CertificateNames.hosts(of: certificate, most: Self.mostHosts)
    }

    private static let mostHosts: Int32 = 8
}
