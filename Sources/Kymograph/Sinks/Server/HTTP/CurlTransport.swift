/// An ``HTTPTransport`` by libcurl: one thread carries all requests.
///
/// HTTP/1.1, and HTTP/2 where the server agrees to it during TLS; TLS 1.2 and later with OpenSSL; connections are kept
/// and shared; proxies as the environment names them (`http_proxy`, `https_proxy`, `no_proxy`). Redirects are not
/// followed, because what a request carries is meant for one server. A request is sent at most once: what a broken
/// connection may have carried is reported as `lost`, not repeated.
package final class CurlTransport: HTTPTransport {
    private let queue = CurlQueue()
    private let compresses: Bool
    private let certificates = ServerCertificates()

    /// Starts the thread. Files that `settings` name are read when a connection is made.
    package init(_ settings: HTTPSettings = HTTPSettings()) {
        compresses = settings.compressesBodies
        WorkerThread.start("kymo-http") { [queue, certificates] in
            let loop = CurlLoop(queue, settings, certificates)
            loop.run()
        }
    }

    /// When the first of the certificates ends that servers have shown, in seconds since 1970; nil without one.
    package var serverCertificateExpiry: Double? { certificates.expiry }

    deinit {
        queue.close()
    }

    /// Sends `request`; see ``HTTPTransport``.
    package func submit(
        _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
    ) {
        if queue.add(CurlJob(request, compresses: compresses, completion: completion)) { return }
        // Not on the caller's thread, which may hold a lock that the completion wants.
        WorkerThread.start("kymo-http-end") { completion(.failure(.transportClosed)) }
    }

    /// Fails everything that is under way and all that is submitted later. When it returns, all completions have been
    /// called, unless it is called by one of them.
    package func close() {
        queue.close()
    }
}
