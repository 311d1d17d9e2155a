import Glibc
import KymographCore

/// One client of a listener for HTTP. Belongs to the listener's thread.
final class HTTPClient {
    /// What is waited for.
    private enum Awaited {
        case firstRequest, nextRequest, head, body, reading, end
    }

    /// Bytes of replies that wait to be read at which no further request is looked at.
    private static let mostWaiting = 256 << 10
    /// Bytes that are read at once.
    private static let chunkBytes = 65_536
    /// Bytes that are thrown away of a client which was refused, so that it reads why before the connection is cut.
    private static let mostDiscarded = 8 << 20
    private static let endTime = Duration.seconds(2)

    let descriptor: Descriptor
    private let limits: HTTPLimits
    private let handle: @Sendable (ReceivedRequest) -> HTTPReply
    private var reader: HTTPRequestReader
    private var output: [UInt8] = []
    private var sent = 0
    /// Whether the client sends nothing any more.
    private var hasEnded = false
    /// Whether nothing of it is read any more: the last reply is on its way.
    private var isLast = false
    private var isEnding = false
    private var discarded = 0
    private(set) var isClosed = false
    private var awaited = Awaited.firstRequest
    /// Since when it is waited for ``awaited``.
    private(set) var since = ContinuousClock.now

    init(
        _ descriptor: Descriptor, _ limits: HTTPLimits, handle: @escaping @Sendable (ReceivedRequest) -> HTTPReply
    ) {
        self.descriptor = descriptor
        self.limits = limits
        self.handle = handle
        reader = HTTPRequestReader(limits)
    }

    private var waiting: Int { output.count - sent }

    /// What of the descriptor it waits for.
    var events: Int16 {
        let reads = !hasEnded && (isEnding || !isLast && waiting < Self.mostWaiting)
        return Int16(reads ? POLLIN : 0) | Int16(waiting > 0 ? POLLOUT : 0)
    }

    /// When it has taken too long.
    var deadline: ContinuousClock.Instant {
        switch awaited {
        case .firstRequest, .head: since + limits.headTime
        case .nextRequest: since + limits.idleTime
        case .body: since + limits.bodyTime
        case .reading: since + limits.replyTime
        case .end: since + Self.endTime
        }
    }

    /// Does what can be done after `ready` was found.
    func work(_ ready: Int16, chunk: inout [UInt8]) {
        if chunk.isEmpty { chunk = [UInt8](repeating: 0, count: Self.chunkBytes) }
        if ready & Int16(POLLIN | POLLHUP | POLLERR) != 0 { receive(&chunk) }
        repeat { advance() } while send()
        settle()
    }

    /// Ends a client that has taken too long.
    func expire() {
        guard !isLast, waiting == 0, reader.phase != .idle else { return close() }
        refuse(HTTPRefusal(status: 408, message: "it was not complete in time"))
        _ = send()
        settle()
    }

    func close() {
        isClosed = true
        descriptor.close()
    }

    // MARK: Reading

    private func receive(_ chunk: inout [UInt8]) {
        let count = HTTPSocket.receive(descriptor.raw, into: &chunk)
        switch count {
        case 0: hasEnded = true
        case ..<0: if count != -Int(EAGAIN), count != -Int(EINTR) { close() }
        default:
            guard isLast else { return reader.append(chunk[..<count]) }
            discarded += count
            if discarded > Self.mostDiscarded { close() }
        }
    }

    /// Answers the requests that are complete, until enough waits to be read.
    private func advance() {
        while !isClosed, !isLast, waiting < Self.mostWaiting {
            switch reader.next() {
            case .request(let request): reply(to: request)
            case .refused(let refusal): refuse(refusal)
            case .awaitsContinue:
                output += HTTPReply.mayContinue
                return
            case .needsMore:
                // Half a request, or none, and no more of it will come.
                if hasEnded { isLast = true }
                return
            }
        }
    }

    private func reply(to request: ReceivedRequest) {
        let keeps = request.keepsConnection
        output += handle(request).bytes(
            withBody: request.method != "HEAD", keepsConnection: keeps, at: WallClock.now())
        if !keeps { isLast = true }
        (awaited, since) = (.nextRequest, .now)
    }

    private func refuse(_ refusal: HTTPRefusal) {
        output += HTTPReply(refusal).bytes(withBody: true, keepsConnection: false, at: WallClock.now())
        isLast = true
    }

    // MARK: Sending

    /// Sends what waits; whether that made room for further replies.
    private func send() -> Bool {
        let isFull = waiting >= Self.mostWaiting
        while waiting > 0, !isClosed {
            let count = output.withByteView { FileSystem.send(descriptor.raw, $0[sent..<$0.count]) }
            if count == -Int(EAGAIN) || count == -Int(EINTR) {
                // What was sent must not stay in memory of a client that never takes all.
                output.removeFirst(sent)
                sent = 0
                return false
            }
            guard count > 0 else {
                close()
                return false
            }
            sent += count
        }
        (output, sent) = ([], 0)
        return isFull && !isClosed
    }

    /// Notes what is waited for from here on, and ends the connection when that is nothing.
    private func settle() {
        guard !isClosed else { return }
        if waiting > 0 { return note(.reading) }
        if isLast {
            if hasEnded { return close() }
            if !isEnding { HTTPSocket.endSending(descriptor.raw) }
            isEnding = true
            return note(.end)
        }
        switch reader.phase {
        // The first one has its time from the beginning of the connection.
        case .idle: if awaited != .firstRequest { note(.nextRequest) }
        case .head: if awaited != .firstRequest { note(.head) }
        case .body: note(.body)
        }
    }

    private func note(_ next: Awaited) {
        guard next != awaited else { return }
        (awaited, since) = (next, .now)
    }
}
