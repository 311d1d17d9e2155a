import CCurl
import KymographCore

/// How a transfer failed, in libcurl's terms, and what that means for the request.
struct CurlEnd {
    /// libcurl's code.
    var code: CURLcode
    /// libcurl's words.
    var reason: String
    /// Whether sending the request had begun.
    var hasBegun: Bool
    /// Whether the answer was refused for its length.
    var isTooLong: Bool
    /// Whether a part of an answer came.
    var hasAnswer: Bool
    /// Whether the connection was made for this request.
    var isNewConnection: Bool

    /// The failure to report.
    func failure(method: String, origin: String, timeout: Int, maxBytes: Int) -> HTTPFailure {
        // That is how ``CurlExchange`` keeps libcurl from sending again.
        let why = code == CURLE_ABORTED_BY_CALLBACK ? "the connection was closed" : words
        switch kind {
        case .security:
            return HTTPFailure(.security, "no secure connection to \(origin): \(why)\(advice)")
        case .timeout:
            return HTTPFailure(.timeout, "\(origin) has not answered \(method) within \(timeout) ms")
        case .tooLong:
            return HTTPFailure(.tooLong, "\(origin) answers \(method) with more than \(maxBytes) bytes")
        case .lost:
            return HTTPFailure(.lost, "\(origin) gave no whole answer to \(method): \(why)")
        case .unreachable, .closed:
            return HTTPFailure(.unreachable, "\(origin) cannot be reached: \(why)\(advice)")
        }
    }

    private var kind: HTTPFailure.Kind {
        if isTooLong { return .tooLong }
        guard hasBegun else { return isSecurity ? .security : .unreachable }
        if code == CURLE_OPERATION_TIMEDOUT { return .timeout }
        return isRefusedCertificate ? .security : .lost
    }

    /// Whether TLS failed for a reason that trying again will not change. A connection that broke during TLS is none.
    private var isSecurity: Bool {
        switch code {
        case CURLE_SSL_CONNECT_ERROR:
            return !["SSL_ERROR_SYSCALL", "Connection reset", "timed out"].contains { reason.contains($0) }
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
            return true
        default: return false
        }
    }

    /// Whether the answer to the first message of TLS was of another protocol, or none.
    private var speaksNoTLS: Bool {
        ["wrong version number", "packet length too long", "record layer failure", "SSL_ERROR_SYSCALL"]
            .contains { reason.contains($0) }
    }

    /// Whether the server ended TLS because of the client's certificate. In TLS 1.3 it says so after the client may
    /// have begun to send, and reads nothing of that (RFC 8446, sections 4.4.2.4 and 6.2).
    private var isRefusedCertificate: Bool {
        isNewConnection && !hasAnswer && reason.contains(" alert ")
            && (reason.contains("certificate") || reason.contains("unknown ca"))
    }

    /// libcurl's words in one line, some of which end with a blank.
    private var words: String {
        let line = PrintableText.line(reason)
        return String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count))
    }

    private var advice: String {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: "; check the host name, and the name service of this machine"
        case CURLE_COULDNT_CONNECT: "; see whether it runs, and whether this is its port"
        case CURLE_SSL_CONNECT_ERROR where speaksNoTLS: "; write http:// if it speaks no TLS at this port"
        case CURLE_PEER_FAILED_VERIFICATION where reason.contains("subject name"):
            "; name it by a name that its certificate has"
        case CURLE_PEER_FAILED_VERIFICATION where reason.contains("expired") || reason.contains("not yet valid"):
            "; have the certificate renewed, and compare the clocks of both machines"
        case CURLE_PEER_FAILED_VERIFICATION: "; name the authority of its certificate in the CA file"
        case CURLE_SSL_CACERT_BADFILE: "; check the CA file"
        case CURLE_SSL_CERTPROBLEM: "; check the client certificate and its key"
        default: isRefusedCertificate ? "; name a client certificate that the server accepts" : ""
        }
    }
}

extension HTTPFailure {
    /// What requests get that a closed transport had not sent.
    static let transportClosed = HTTPFailure(.closed, "the transport was closed before the request was sent")
}
