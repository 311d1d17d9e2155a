import CKymographLinux
import Glibc
import KymographCore

/// How the bytes of a stream come and go.
enum StreamTransport {
    /// As they are.
    case plain
    /// By TLS.
    case tls(TLSConnection)

    /// Whether bytes have come that the socket does not tell of any more.
    var hasBuffered: Bool {
        switch self {
        case .plain: false
        case .tls(let connection): connection.hasBuffered
        }
    }

    /// Whether both sides know each other.
    var isEstablished: Bool {
        switch self {
        case .plain: true
        case .tls(let connection): connection.isEstablished
        }
    }

    /// Goes on until both sides know each other. Returns 0 when they do, -EAGAIN when more has to come, or another
    /// negative errno.
    func establish() -> Int {
        switch self {
        case .plain: 0
        case .tls(let connection): connection.establish()
        }
    }

    /// Names in the certificate of the other side.
    var peerNames: [CertificateName] {
        switch self {
        case .plain: []
        case .tls(let connection): connection.clientNames
        }
    }

    /// Why it has failed, beyond what an errno says.
    var fault: String? {
        switch self {
        case .plain: nil
        case .tls(let connection): connection.fault
        }
    }

    /// Writes some of `bytes` without waiting; a negative errno when it took nothing.
    func send(_ bytes: ByteView, to descriptor: Int32) -> Int {
        switch self {
        case .plain: FileSystem.send(descriptor, bytes)
        case .tls(let connection): connection.send(bytes)
        }
    }

    /// Tells the other side that nothing more comes.
    func endSending(to descriptor: Int32) {
        end()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Says what the protocol has to say before the connection is closed.
    func end() {
        if case .tls(let connection) = self { connection.endSending() }
    }
}
