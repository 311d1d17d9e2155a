import CCurl
import Glibc

/// The transport's thread: begins what is submitted, lets libcurl carry it, and reports what is done.
@safe
struct CurlLoop {
    private let queue: CurlQueue
    private let settings: HTTPSettings
    private let certificates: ServerCertificates

    init(_ queue: CurlQueue, _ settings: HTTPSettings, _ certificates: ServerCertificates) {
        self.certificates = certificates
        self.queue = queue
        self.settings = settings
    }

    /// Serves the queue until it is closed.
    func run() {
        blockBrokenPipe()
        queue.beginServing()
        // Safe here and below: this thread owns the set until ``CurlQueue/endServing()``.
        unsafe kymo_curl_multi_set(queue.multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        unsafe kymo_curl_multi_set(queue.multi, CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsPerHost)
        unsafe kymo_curl_multi_set(queue.multi, CURLMOPT_MAXCONNECTS, 2 * settings.connectionsPerHost)
        var exchanges: [UInt: CurlExchange] = [:]
        while let jobs = queue.take() {
            for job in jobs { begin(job, &exchanges) }
            var running: Int32 = 0
            unsafe kymo_curl_multi_perform(queue.multi, &running)
            finish(&exchanges)
            let code = unsafe kymo_curl_multi_poll(queue.multi, 60_000)
            // Without memory or descriptors it returns at once: wait instead of spinning.
            if code != CURLM_OK { Wait.milliseconds(50) }
        }
        for exchange in exchanges.values {
            unsafe kymo_curl_multi_remove_handle(queue.multi, exchange.handle)
            exchange.abandon()
        }
        exchanges = [:]
        for job in queue.endServing() { job.completion(.failure(.transportClosed)) }
        queue.didEnd()
    }

    private func begin(_ job: CurlJob, _ exchanges: inout [UInt: CurlExchange]) {
        do throws(HTTPFailure) {
            let exchange = try CurlExchange(job, settings)
            let code = unsafe kymo_curl_multi_add_handle(queue.multi, exchange.handle)
            guard code == CURLM_OK else {
                throw HTTPFailure(.unreachable, "libcurl takes no request: \(CurlText.of(code))")
            }
            exchanges[exchange.key] = exchange
        } catch {
            job.completion(.failure(error))
        }
    }

    /// Reports all that is done.
    private func finish(_ exchanges: inout [UInt: CurlExchange]) {
        var left: Int32 = 0
        while let message = unsafe kymo_curl_multi_info_read(queue.multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let key = unsafe UInt(bitPattern: message.pointee.easy_handle)
            // Read before the handle is removed, which frees the message.
            let code = unsafe message.pointee.data.result
            guard let exchange = exchanges.removeValue(forKey: key) else { continue }
            unsafe kymo_curl_multi_remove_handle(queue.multi, exchange.handle)
            exchange.finish(code, certificates)
        }
    }

    /// OpenSSL writes to connections that the server has closed. The signal of that is blocked on this thread (and the
    /// resolver's threads, which begin here), so that it ends no process whose other parts rely on it.
    private func blockBrokenPipe() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}
