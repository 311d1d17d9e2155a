/// One request to a server.
package struct HTTPRequest: Sendable {
    /// `GET`, `POST`, `PUT`, `DELETE`.
    package var method: String
    /// Absolute URL, percent-encoded.
    package var url: String
    /// Header fields, in order.
    package var headers: [(name: String, value: String)]
    /// The body; empty when there is none.
    package var body: [UInt8]
    /// Longest time from begin to end, in milliseconds.
    package var timeout: Int

    /// A request.
    package init(
        _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Int = 30_000
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }

    /// Whether it is to change something.
    var isWrite: Bool { method != "GET" }
}

/// What a server answered.
package struct HTTPResponse: Sendable {
    /// Status code, 100…599.
    package var status: Int
    /// Header fields as they came.
    package var headers: [(name: String, value: String)]
    /// The body, decoded from its transfer and content coding.
    package var body: [UInt8]

    /// A response.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field called `name`, whatever its case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why there is no response.
package struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: Hashable, Sendable {
        /// The host could not be found or reached: the server has surely not seen the request.
        case unreachable
        /// TLS could not be agreed on: the server has surely not seen the request.
        case security
        /// The request was sent, at least in part, and no whole answer came: the server may have acted on it.
        case lost
        /// The time was up: the server may have acted on the request.
        case timeout
        /// The answer is longer than its limit: the server may have acted on the request.
        case tooLong
        /// The transport was closed before the request was sent.
        case closed
    }

    /// What went wrong.
    package var kind: Kind
    /// What could not be done and why; never with secrets.
    package var message: String

    /// A failure.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The message.
    package var description: String { message }
}

/// Carries requests to servers and answers back.
package protocol HTTPTransport: Sendable {
    /// Sends `request`; `completion` is called exactly once, on a thread of the transport, and must not block.
    func submit(
        _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void)
}
