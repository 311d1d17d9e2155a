/// Finds requests in the bytes of one connection, one after the other.
struct HTTPRequestReader {
    /// What comes next.
    enum Step {
        /// More bytes are needed.
        case needsMore
        /// More bytes are needed, and the client waits for a word that it may send them.
        case awaitsContinue
        case request(ReceivedRequest)
        /// Nothing of this connection can be read any more.
        case refused(HTTPRefusal)
    }

    /// What is being read.
    enum Phase {
        /// Nothing yet of the next request.
        case idle
        case head
        case body
    }

    private let limits: HTTPLimits
    private var input: [UInt8] = []
    /// Bytes of ``input`` that are complete lines of a head, and bytes that were looked at for the end of one.
    private var (lines, looked) = (0, 0)
    /// The request whose body is being read.
    private var open: (request: ReceivedRequest, body: HTTPBodyReader)?

    init(_ limits: HTTPLimits) { self.limits = limits }

    var phase: Phase { open != nil ? .body : input.isEmpty ? .idle : .head }

    /// Adds what the connection has brought.
    mutating func append(_ bytes: ArraySlice<UInt8>) { input += bytes }

    /// Reads on in what is there.
    mutating func next() -> Step {
        do throws(HTTPRefusal) {
            return try step()
        } catch {
            return .refused(error)
        }
    }

    private mutating func step() throws(HTTPRefusal) -> Step {
        var isAwaited = false
        if open == nil {
            guard let size = try headSize() else { return .needsMore }
            let head = try HTTPHead(input[..<size], limits)
            input.removeFirst(size)
            (lines, looked) = (0, 0)
            isAwaited = head.expectsContinue && input.isEmpty
            open = (head.request, HTTPBodyReader(head.body, limits))
        }
        guard var (request, body) = open else { return .needsMore }
        var rest = input[...]
        try body.take(from: &rest)
        input = Array(rest)
        guard body.isDone else {
            open = (request, body)
            return isAwaited ? .awaitsContinue : .needsMore
        }
        request.body = body.bytes
        open = nil
        return .request(request)
    }

    /// Bytes of the head with the empty line at its end, nil while it is not complete.
    private mutating func headSize() throws(HTTPRefusal) -> Int? {
        while let feed = input[looked...].firstIndex(of: HTTPLine.lineFeed) {
            guard feed > 0, input[feed - 1] == HTTPLine.carriageReturn else {
                throw .malformed("a line does not end with CR LF")
            }
            let isEmpty = feed == lines + 1
            (lines, looked) = (feed + 1, feed + 1)
            guard lines <= limits.headBytes else { break }
            // An empty first line is no head; what reads it says so.
            if isEmpty { return looked }
        }
        looked = input.count
        guard looked <= limits.headBytes else {
            throw HTTPRefusal(status: 431, message: "its header has more than \(limits.headBytes) bytes")
        }
        return nil
    }
}
