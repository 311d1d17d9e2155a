import CDatagramTLS
import COpenSSL
import KymographCore

/// One client by DTLS, or what waits for one, at a UDP socket that others use, too. Of one thread at a time.
@safe
final class DatagramTLSConnection {
    /// How far a handshake has come.
    enum Progress {
        case done
        /// More has to come.
        case waiting
        /// It has failed.
        case failed(Fault, String)
    }

    /// Why a handshake has failed.
    enum Fault {
        /// The client does not follow the protocol, or has no cipher that is here.
        case broken
        /// Its certificate is not good, or it has none.
        case certificate
        /// The identity of its pre-shared key is not known.
        case identity
        /// It has shown nothing that is sealed with the key of its identity.
        case key
    }

    /// What reading has given.
    enum Payload {
        /// This many bytes.
        case bytes(Int)
        /// None: there are no more in the datagram.
        case none
        /// The client has ended it.
        case ended
        /// OpenSSL has given up.
        case failed
    }

    /// What was not read of a datagram, as nothing behind it.
    enum Cut {
        case none
        /// A record that no client sends.
        case badRecord
        /// An encrypted record of a handshake that is not done, which has got enough of them.
        case earlyRecord
    }

    /// Longest payload.
    static let maxBytes = Int(KYMO_DTLS_PLAIN_BYTES)

    private let one: OpaquePointer

    /// Takes over `one`.
    @unsafe
    init(_ one: OpaquePointer) { unsafe self.one = one }

    deinit {
        // Safe: owned by this object alone.
        unsafe kymo_dtls_free(one)
    }

    // MARK: Datagrams

    /// The epoch of the first record of `datagram`, 0 before there is a key; nil when it begins with no record.
    static func epoch(_ datagram: ByteView) -> Int? {
        // Safe: it reads `count` bytes.
        let epoch = unsafe kymo_dtls_epoch(datagram.unsafeBuffer.baseAddress, datagram.count)
        return epoch < 0 ? nil : Int(epoch)
    }

    /// The random bytes of the ClientHello that `datagram` begins with; nil when it does not.
    static func random(ofHello datagram: ByteView) -> [UInt8]? {
        var random = [UInt8](repeating: 0, count: 32)
        // Safe: it reads `count` bytes, and writes 32.
        let isHello = unsafe kymo_dtls_is_hello(datagram.unsafeBuffer.baseAddress, datagram.count, &random)
        return isHello == 1 ? random : nil
    }

    // MARK: Handshake

    /// Answers the ClientHello in `datagram`, which `sender` has sent to `local`. True when the sender has received
    /// what was sent to its address before, and this is a client now; nothing of it stays otherwise.
    func listen(_ datagram: ByteView, of sender: DatagramEndpoint, to local: DatagramEndpoint?) -> Bool {
        let local = local?.raw ?? kymo_endpoint()
        // Safe: it reads `count` bytes during the call.
        return unsafe kymo_dtls_listen(one, sender.raw, local, datagram.unsafeBuffer.baseAddress, datagram.count) == 1
    }

    /// Goes on with the handshake, by the datagram that was given, if one was.
    func establish() -> Progress {
        switch unsafe kymo_dtls_establish(one) {
        case 1: return .done
        case 0: return .waiting
        default: return failure
        }
    }

    /// Sends again what was not answered in time, if it is time; false when that was too often.
    func sendAgain() -> Bool { unsafe kymo_dtls_send_again(one) >= 0 }

    /// Why the handshake has failed, or has not come to its end.
    var failure: Progress {
        defer { ERR_clear_error() }
        // Safe: a constant of OpenSSL or of ours.
        let text = unsafe String(cString: kymo_dtls_fault_text(one))
        switch unsafe kymo_dtls_fault(one) {
        case KYMO_DTLS_BAD_CERTIFICATE: return .failed(.certificate, text)
        case KYMO_DTLS_BAD_IDENTITY: return .failed(.identity, text)
        case KYMO_DTLS_BAD_KEY: return .failed(.key, text)
        default: return .failed(.broken, text)
        }
    }

    // MARK: Records

    /// Gives a datagram, which must stay until ``establish()`` has returned or ``read(_:)`` gives no more.
    func give(_ datagram: ByteView) -> Cut {
        // Safe: it is read until then.
        switch unsafe kymo_dtls_give(one, datagram.unsafeBuffer.baseAddress, datagram.count) {
        case KYMO_DTLS_BAD_RECORD: .badRecord
        case KYMO_DTLS_EARLY_RECORD: .earlyRecord
        default: .none
        }
    }

    /// The next payload of the datagram, to `start`, which has room for ``maxBytes``.
    @unsafe
    func read(_ start: UnsafeMutablePointer<UInt8>) -> Payload {
        // Safe: the caller's room is large enough.
        let count = unsafe kymo_dtls_read(one, start)
        guard count < 0 else { return count > 0 ? .bytes(Int(count)) : .none }
        return count == KYMO_DTLS_ENDED.rawValue ? .ended : .failed
    }

    /// Tells the client that nothing more is read.
    func end() { unsafe kymo_dtls_end(one) }

    // MARK: Who it is

    /// The names in the certificate that the client has shown, and that was found good; none without one.
    var clientNames: [CertificateName] {
        // Safe: the certificate lives as long as the connection, and that as long as this.
        let connection = unsafe kymo_dtls_connection(one)
        guard let certificate = unsafe SSL_get0_peer_certificate(connection),
            unsafe SSL_get_verify_result(connection) == Int(X509_V_OK)
        else { return [] }
        return unsafe CertificateNames.of(certificate)
    }

    /// The identity of the pre-shared key that the client has shown; nil for none.
    var identity: [UInt8]? {
        var count = 0
        // Safe: copied at once.
        guard let identity = unsafe kymo_dtls_identity(one, &count) else { return nil }
        return unsafe UnsafeBufferPointer(start: identity, count: count).map(UInt8.init(bitPattern:))
    }

    /// When the client's certificate ends, or `withAuthorities` the first of those by which it was found good in the
    /// handshake, in seconds since 1970; the largest number without one.
    func goodUntil(withAuthorities: Bool) -> Int64 { unsafe kymo_dtls_good_until(one, withAuthorities ? 1 : 0) }

    /// Why the key or certificate of the client is not good any more in `context`; nil when it is.
    @unsafe
    func withdrawal(in context: OpaquePointer) -> String? {
        // Safe: a constant of OpenSSL or of ours.
        unsafe kymo_dtls_withdrawn(one, context).map { unsafe String(cString: $0) }
    }
}
