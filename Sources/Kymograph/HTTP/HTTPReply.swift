import KymographCore
import Synchronization

/// The answer to a request.
struct HTTPReply: Sendable {
    var status: Int
    var contentType: String
    var body: [UInt8]
    /// Fields besides those of every reply.
    var fields: [ReceivedRequest.Field] = []

    /// A text.
    init(_ status: Int, type: String = "text/plain; charset=utf-8", _ text: String) {
        (self.status, contentType, body) = (status, type, Array(text.utf8))
    }

    /// An error as JSON: `code` for programs, `message` for people. Neither has quotation marks or backslashes.
    static func error(_ status: Int, _ code: String, _ message: String) -> HTTPReply {
        HTTPReply(status, type: "application/json", "{\"error\":\"\(code)\",\"message\":\"\(message)\"}\n")
    }

    /// What a client is told whose request cannot be read.
    init(_ refusal: HTTPRefusal) {
        self = .error(refusal.status, Self.code(refusal.status), "the request is refused: \(refusal.message)")
    }

    /// A word that the body may come.
    static let mayContinue = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// The bytes to send; without the body, but with its length, for HEAD.
    func bytes(withBody: Bool, keepsConnection: Bool, at time: Instant) -> [UInt8] {
        var bytes = head(at: time, reserving: withBody ? body.count : 0)
        bytes += "Content-Length: ".utf8
        bytes += String(body.count).utf8
        bytes += (keepsConnection ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n").utf8
        if withBody { bytes += body }
        return bytes
    }

    /// The bytes before a stream: without a length, since the end of the connection is the end of the stream.
    func streamHead(at time: Instant) -> [UInt8] {
        head(at: time, reserving: 0) + "Connection: close\r\n\r\n".utf8
    }

    /// The status line and fields, with room for `reserving` bytes of a body.
    private func head(at time: Instant, reserving: Int) -> [UInt8] {
        var head: [UInt8] = []
        // What most replies need, with each text appended to it and none made on its own: one allocation.
        head.reserveCapacity(320 + reserving)
        for text in ["HTTP/1.1 ", String(status), " ", Self.reason(status), "\r\nDate: ", HTTPDateText.of(time)] {
            head += text.utf8
        }
        head += "\r\nContent-Type: ".utf8
        head += contentType.utf8
        head += "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n".utf8
        for field in fields { head += "\(field.name): \(field.value)\r\n".utf8 }
        return head
    }

    /// What programs call an error of the request itself.
    private static func code(_ status: Int) -> String {
        switch status {
        case 408: "timeout"
        case 413: "bodyTooLarge"
        case 431: "headerTooLarge"
        default: "badRequest"
        }
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 303: "See Other"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 429: "Too Many Requests"
        case 421: "Misdirected Request"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Error"
        }
    }
}

/// The form of times in HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
enum HTTPDateText {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The last text, and the second that it is of: many replies leave in one.
    private static let last = Mutex<(second: Int64, text: String)>((-1, ""))

    /// The text of `time`, which is of 1970 or later.
    static func of(_ time: Instant) -> String {
        let second = time.nanoseconds / 1_000_000_000
        return last.withLock { last in
            if last.second != second { last = (second, made(time)) }
            return last.text
        }
    }

    private static func made(_ time: Instant) -> String {
        // 2026-03-01T08:00:00, and perhaps more.
        let text = time.text
        let parts = text.prefix(10).split(separator: "-")
        let day = days[Int(time.nanoseconds / 86_400_000_000_000) % 7]
        let month = parts.count == 3 ? Int(parts[1]) ?? 1 : 1
        return "\(day), \(parts.last ?? "") \(months[month - 1]) \(parts.first ?? "") "
            + "\(text.dropFirst(11).prefix(8)) GMT"
    }
}
