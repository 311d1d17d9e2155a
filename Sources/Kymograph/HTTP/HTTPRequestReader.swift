/// Finds requests in the bytes of one connection, one after the other.
struct HTTPRequestReader {
    /// What comes next.
    enum Step {
        /// More bytes are needed.
        case needsMore
        /// More bytes are needed, and the client waits for a word that it may send them.
        case awaitsContinue
        /// A head is complete, and its body comes next. Only where it was asked for.
        case head(HTTPHead)
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
    private let announcesHeads: Bool
    private var input: [UInt8] = []
    /// Where in ``input`` the next request, or what comes next of its body, begins.
    private var start = 0
    /// Places in ``input`` behind the complete lines of a head, and behind what was looked at for the end of one.
    private var (lines, looked) = (0, 0)
    /// The request whose body is being read.
    private var open: (request: ReceivedRequest, body: HTTPBodyReader)?
    /// Whether its client waits for a word before it sends the body.
    private var isAwaited = false
    private var former: FormerHead?

    /// Reads within `limits`; with `announcesHeads` each head is a step of its own, so that a body can be refused
    /// before it comes.
    init(_ limits: HTTPLimits, announcesHeads: Bool = false) {
        self.limits = limits
        self.announcesHeads = announcesHeads
    }

    var phase: Phase { open != nil ? .body : start == input.count ? .idle : .head }

    /// Bytes that are kept of requests that are not complete.
    var heldBytes: Int { input.count - start + (open?.body.bytes.count ?? 0) }

    /// Adds what the connection has brought.
    mutating func append(_ bytes: some Collection<UInt8>) {
        input.removeFirst(start)
        (lines, looked, start) = (max(0, lines - start), max(0, looked - start), 0)
        input += bytes
    }

    /// Reads on in what is there.
    mutating func next() -> Step {
        do throws(HTTPRefusal) {
            return try step()
        } catch {
            return .refused(error)
        }
    }

    private mutating func step() throws(HTTPRefusal) -> Step {
        if open == nil {
            guard let end = try headEnd() else { return .needsMore }
            let head = try head(of: input[start..<end])
            pass(to: end)
            isAwaited = head.expectsContinue && start == input.count
            open = (head.request, HTTPBodyReader(head.body, limits))
            if announcesHeads { return .head(head) }
        }
        guard try readBody() else {
            defer { isAwaited = false }
            return isAwaited ? .awaitsContinue : .needsMore
        }
        guard var request = open?.request, let body = open?.body.bytes else { return .needsMore }
        request.body = body
        open = nil
        return .request(request)
    }

    private mutating func head(of bytes: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPHead {
        if let head = former?.head(of: bytes, limits) { return head }
        let head = try HTTPHead(bytes, limits)
        former = FormerHead(head, of: bytes)
        return head
    }

    /// Takes what has come of the body; whether that is all.
    private mutating func readBody() throws(HTTPRefusal) -> Bool {
        var rest = input[start...]
        try open?.body.take(from: &rest)
        pass(to: rest.startIndex)
        return open?.body.isDone ?? true
    }

    /// Goes on at `place`.
    private mutating func pass(to place: Int) {
        (start, lines, looked) = (place, place, place)
        guard start == input.count else { return }
        // Many connections wait for their next request: it keeps no memory.
        (input, start, lines, looked) = ([], 0, 0, 0)
    }

    /// The end of the head, behind the empty line at its end; nil while it is not complete.
    private mutating func headEnd() throws(HTTPRefusal) -> Int? {
        while let feed = input[looked...].firstIndex(of: HTTPLine.lineFeed) {
            guard feed > start, input[feed - 1] == HTTPLine.carriageReturn else {
                throw .malformed("a line does not end with CR LF")
            }
            let isEmpty = feed == lines + 1
            (lines, looked) = (feed + 1, feed + 1)
            guard lines - start <= limits.headBytes else { break }
            // An empty first line is no head; what reads it says so.
            if isEmpty { return looked }
        }
        looked = input.count
        guard looked - start <= limits.headBytes else {
            throw HTTPRefusal(status: 431, message: "its header has more than \(limits.headBytes) bytes")
        }
        return nil
    }
}
