/// A request that waits for the transport's thread.
struct CurlJob: Sendable {
    let request: HTTPRequest
    let completion: @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void

    /// A job; `compresses` as ``HTTPSettings/compressesBodies``.
    init(
        _ request: HTTPRequest, compresses: Bool,
        completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
    ) {
        self.request = compresses ? Self.compressed(request) : request
        self.completion = completion
    }

    /// The request with its body as gzip, if it is JSON and large enough. Token endpoints, which take forms, seldom
    /// understand gzip.
    private static func compressed(_ request: HTTPRequest) -> HTTPRequest {
        let type = request.headers.first { $0.name.lowercased() == "content-type" }?.value.lowercased() ?? ""
        let isEncoded = request.headers.contains { $0.name.lowercased() == "content-encoding" }
        guard request.body.count >= GzipBody.smallest, type.contains("json"), !isEncoded,
            let body = GzipBody.compress(request.body)
        else { return request }
        var request = request
        request.body = body
        request.headers.append(("Content-Encoding", "gzip"))
        return request
    }
}
