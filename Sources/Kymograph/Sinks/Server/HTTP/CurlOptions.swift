import CCurl

/// Sets the options of one transfer.
@safe
struct CurlOptions {
    private let handle: UnsafeMutableRawPointer
    private let origin: String

    init(_ handle: UnsafeMutableRawPointer, origin: String) {
        unsafe self.handle = handle
        self.origin = origin
    }

    /// Sets what is the same for all requests of a transport.
    func set(_ settings: HTTPSettings) throws(HTTPFailure) {
        // Signals belong to the process.
        try set(CURLOPT_NOSIGNAL, 1)
        // Or the end of a transfer would wait for its resolver, and all others with it.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, settings.connectTimeout)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // What is for the server is not for the proxy that leads there.
        try set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        try set(CURLOPT_ACCEPT_ENCODING, "gzip")
        try set(CURLOPT_USERAGENT, "kymo/\(KymographVersion.number)")
        try set(CURLOPT_HTTP_VERSION, Int(settings.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_PIPEWAIT, settings.usesHTTP2 ? 1 : 0)
        try setSecurity(settings)
    }

    private func setSecurity(_ settings: HTTPSettings) throws(HTTPFailure) {
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // Once for each connection: what its certificates say. A libcurl that cannot tell delivers all the same.
        try? set(CURLOPT_CERTINFO, 1)
        if let file = settings.caFile {
            try set(CURLOPT_CAINFO, file)
            // The system's directory would be trusted besides.
            try set(CURLOPT_CAPATH, nil)
        }
        if let certificate = settings.clientCertificate {
            try set(CURLOPT_SSLCERT, certificate.certificateFile)
            try set(CURLOPT_SSLKEY, certificate.keyFile)
            // Without one, OpenSSL asks at the terminal for the password of an encrypted key.
            try set(CURLOPT_KEYPASSWD, "")
        }
    }

    /// Sets method, URL, time limit and body.
    func set(_ request: HTTPRequest) throws(HTTPFailure) {
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_TIMEOUT_MS, max(1, request.timeout))
        guard request.method.utf8.allSatisfy(Self.isTokenByte), !request.method.isEmpty else {
            throw HTTPFailure(.unreachable, "a request to \(origin) has no valid method")
        }
        switch request.method {
        case "GET" where request.body.isEmpty: try set(CURLOPT_HTTPGET, 1)
        case "HEAD": try set(CURLOPT_NOBODY, 1)
        default:
            if request.method == "POST" || !request.body.isEmpty { try setBody(request.body) }
            try set(CURLOPT_CUSTOMREQUEST, request.method)
        }
    }

    private func setBody(_ body: [UInt8]) throws(HTTPFailure) {
        try set(CURLOPT_POST, 1)
        // Safe: libcurl copies `count` bytes.
        try check(unsafe kymo_curl_set_body(handle, body, body.count))
    }

    /// Sets the header fields; the list must live as long as the transfer.
    func set(
        _ headers: [(name: String, value: String)]
    ) throws(HTTPFailure) -> UnsafeMutablePointer<curl_slist>? {
        var lines = ["Expect:"]  // libcurl would wait for 100 Continue, which many servers never send.
        if !headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
        for (name, value) in headers {
            let isValid =
                !name.isEmpty && name.utf8.allSatisfy(Self.isTokenByte)
                && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            // Never with the value, which may be a secret.
            guard isValid else { throw HTTPFailure(.unreachable, "a request to \(origin) has an invalid header field") }
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        var list: UnsafeMutablePointer<curl_slist>? = nil
        for line in lines {
            // Safe: libcurl copies the line, and returns the list's head.
            guard let head = unsafe kymo_curl_slist_append(list, line) else {
                unsafe kymo_curl_slist_free_all(list)
                throw HTTPFailure(.unreachable, "no memory for a request to \(origin)")
            }
            unsafe list = head
        }
        try check(unsafe kymo_curl_set_headers(handle, list))
        return unsafe list
    }

    /// Sets where libcurl writes what went wrong: `CURL_ERROR_SIZE` bytes that live as long as the transfer.
    func set(error: UnsafeMutablePointer<CChar>) throws(HTTPFailure) {
        try check(unsafe kymo_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, error))
    }

    private func set(_ option: CURLoption, _ value: Int) throws(HTTPFailure) {
        try check(unsafe kymo_curl_set_number(handle, option, value))
    }

    private func set(_ option: CURLoption, _ text: String?) throws(HTTPFailure) {
        // Safe: libcurl copies texts.
        try check(unsafe kymo_curl_set_text(handle, option, text))
    }

    private func check(_ code: CURLcode) throws(HTTPFailure) {
        if code != CURLE_OK {
            throw HTTPFailure(.unreachable, "libcurl takes no request to \(origin): \(CurlText.of(code))")
        }
    }

    /// Whether a byte may stand in a method or a field's name (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
