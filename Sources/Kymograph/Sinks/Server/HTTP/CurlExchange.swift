import CCurl

/// One request and its answer, on the transport's thread.
@safe
final class CurlExchange {
    /// libcurl's transfer.
    let handle: UnsafeMutableRawPointer

    private let job: CurlJob
    private let url: ServerURL
    private let maxBytes: Int
    private let errorText: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var headers: [(name: String, value: String)] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var hasBegun = false
    private var isTooLong = false

    /// Longest header of an answer, in bytes.
    private static let maxHeaderBytes = 256 << 10

    /// Prepares a transfer.
    ///
    /// - Throws: When the request cannot be sent as it is.
    init(_ job: CurlJob, _ settings: HTTPSettings) throws(HTTPFailure) {
        do throws(ServerURL.Fault) {
            url = try ServerURL(job.request.url)
        } catch {
            throw HTTPFailure(.unreachable, "the URL of the request \(error)")
        }
        guard let handle = unsafe kymo_curl_easy_init() else {
            throw HTTPFailure(.unreachable, "no memory for a request to \(url.origin)")
        }
        unsafe self.handle = handle
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.job = job
        maxBytes = settings.maxResponseBytes
        unsafe fields = nil
        // Safe: the callbacks are called only while the loop keeps this exchange and its handle in the set.
        let options = unsafe CurlOptions(handle, origin: url.origin)
        try options.set(settings)
        try options.set(job.request)
        unsafe fields = try options.set(job.request.headers)
        try unsafe options.set(error: errorText)
        try setCallbacks()
    }

    deinit {
        // Safe: the handle was taken out of the set before; it may still point to the list and the text.
        unsafe kymo_curl_easy_cleanup(handle)
        unsafe kymo_curl_slist_free_all(fields)
        unsafe errorText.deallocate()
    }

    /// The handle as a number, to find the exchange by.
    var key: UInt { unsafe UInt(bitPattern: handle) }

    /// Notes the certificate of a connection that was made for this transfer in `certificates`, and reports how the
    /// transfer ended.
    func finish(_ code: CURLcode, _ certificates: ServerCertificates) {
        if url.isEncrypted, number(CURLINFO_NUM_CONNECTS) > 0, let certificateExpiry {
            certificates.note(certificateExpiry, of: url.origin)
        }
        job.completion(code == CURLE_OK ? .success(response) : .failure(failure(code)))
    }

    /// Reports that the transport was closed meanwhile.
    func abandon() {
        let lost = HTTPFailure(.lost, "closed before \(url.origin) had answered \(job.request.method)")
        job.completion(.failure(hasBegun ? lost : .transportClosed))
    }

    /// When the server's own certificate ends; nil when it has shown none. Others of its chain may have ended without
    /// harm: a client that trusts a newer one does not look at them.
    private var certificateExpiry: Double? {
        // Safe: libcurl ends the text with zero, and keeps it as long as the handle.
        guard let text = unsafe kymo_curl_certificate(handle, 0) else { return nil }
        return CertificateExpiry.seconds(unsafe Array(String(cString: text).utf8))
    }

    private var response: HTTPResponse {
        HTTPResponse(status: number(CURLINFO_RESPONSE_CODE), headers: headers, body: body)
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        // Safe: libcurl writes one number.
        unsafe kymo_curl_get_number(handle, info, &value)
        return value
    }

    private func failure(_ code: CURLcode) -> HTTPFailure {
        // Safe: libcurl ends the text with zero, and the block is its own.
        let detail = unsafe String(cString: errorText)
        let end = CurlEnd(
            code: code, reason: detail.isEmpty ? CurlText.of(code) : detail, hasBegun: hasBegun, isTooLong: isTooLong,
            hasAnswer: headerBytes > 0, isNewConnection: number(CURLINFO_NUM_CONNECTS) > 0)
        return end.failure(
            method: job.request.method, origin: url.origin, timeout: job.request.timeout, maxBytes: maxBytes)
    }

    // MARK: Callbacks

    private func setCallbacks() throws(HTTPFailure) {
        // Safe: libcurl calls them on this thread, while the loop keeps the exchange.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let code = unsafe kymo_curl_set_callbacks(
            handle,
            { bytes, size, count, context in unsafe CurlExchange.of(context)?.takeBody(bytes, size * count) ?? 0 },
            { bytes, size, count, context in unsafe CurlExchange.of(context)?.takeHeader(bytes, size * count) ?? 0 },
            { context, _, _, _, _ in unsafe CurlExchange.of(context)?.begin() ?? CURL_PREREQFUNC_ABORT },
            context)
        guard code == CURLE_OK else { throw HTTPFailure(.unreachable, "libcurl: \(CurlText.of(code))") }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlExchange? {
        guard let context = unsafe context else { return nil }
        // Safe: the context is what ``setCallbacks()`` gave.
        return unsafe Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    }

    /// Called when there is a connection, TLS and tunnel included, just before the request is sent. A second time means
    /// that libcurl would send it again after a connection broke, which is for the caller to decide.
    private func begin() -> Int32 {
        guard !hasBegun else { return CURL_PREREQFUNC_ABORT }
        hasBegun = true
        return CURL_PREREQFUNC_OK
    }

    /// Takes a part of the body; another count than that given ends the transfer.
    private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard body.count + count <= maxBytes else {
            isTooLong = true
            return 0
        }
        // Safe: libcurl gives `count` bytes for the time of the call.
        unsafe body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    /// Takes a line of the header: of the last answer, where an interim one (100, 103) came before.
    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        headerBytes += count
        guard headerBytes <= Self.maxHeaderBytes else {
            isTooLong = true
            return 0
        }
        // Safe: as for the body.
        let line = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            headers = []
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].trimmingWhitespace
            headers.append((String(line[..<colon]), String(value)))
        }
        return count
    }
}

extension Substring {
    /// Without white space and line ends around it.
    fileprivate var trimmingWhitespace: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return text
    }
}
