import Glibc
import KymographCore

/// One client of a listener for HTTP. Belongs to the listener's thread.
final class HTTPClient {
    /// What is waited for.
    private enum Awaited {
        case firstRequest, nextRequest, head, body, answer, reading, end
    }

    /// Bytes of replies that wait to be read at which no further request is looked at.
    private static let mostWaiting = 256 << 10
    /// Bytes that are read at once.
    private static let chunkBytes = 65_536
    /// Bytes that are thrown away of a client which was refused, so that it reads why before the connection is cut.
    private static let mostDiscarded = 8 << 20
    private static let endTime = Duration.seconds(2)

    let descriptor: Descriptor
    private var transport: StreamTransport
    private let limits: HTTPLimits
    private let bell: Descriptor
    private let guarding: [ReceivedRequest.Field]
    private let handle: @Sendable (ReceivedRequest) -> HTTPAnswer
    /// Hears why there is no TLS with the client.
    private let failed: @Sendable (String) -> Void
    /// Whether the files by which the client came still hold.
    private let isCurrent: () -> Bool
    /// The answer that another thread makes, and whether it is to have a body and is not the last.
    private var later: (answer: LaterAnswer, withBody: Bool, keeps: Bool)?
    private var reader: HTTPRequestReader
    private var output: [UInt8] = []
    private var sent = 0
    /// Whether the last reading has given nothing: what TLS holds then is a part of a record at most, and the
    /// descriptor tells when the rest has come.
    private var hasReadAll = true
    /// Whether the client sends nothing any more.
    private var hasEnded = false
    /// Whether nothing of it is read any more: the last reply is on its way.
    private var isLast = false
    private var isEnding = false
    private var isStreaming = false
    private var discarded = 0
    private(set) var isClosed = false
    private var awaited = Awaited.firstRequest
    /// Since when it is waited for ``awaited``.
    private(set) var since = ContinuousClock.now

    /// A client at `descriptor`; `bell` is raised when another thread has made a part of an answer. What is refused
    /// before `handle` sees it gets the fields `guarding`, and `failed` hears why there is no TLS with the client. With
    /// the answer before which `isCurrent` is false, the connection ends.
    init(
        _ descriptor: Descriptor, by transport: StreamTransport = .plain, _ limits: HTTPLimits, bell: Descriptor,
        guarding: [ReceivedRequest.Field] = [], failed: @escaping @Sendable (String) -> Void = { _ in },
        isCurrent: @escaping () -> Bool = { true },
        handle: @escaping @Sendable (ReceivedRequest) -> HTTPAnswer
    ) {
        self.descriptor = descriptor
        self.transport = transport
        (self.failed, self.isCurrent) = (failed, isCurrent)
        self.limits = limits
        self.bell = bell
        self.guarding = guarding
        self.handle = handle
        reader = HTTPRequestReader(limits)
    }

    private var waiting: Int { output.count - sent }

    /// Whether another thread makes its answer.
    var awaitsAnswer: Bool { later != nil }

    /// What of the descriptor it waits for.
    var events: Int16 {
        // Of a stream, to see that the client leaves; a request behind one that is being answered waits.
        let mayRead = isEnding || isStreaming || !isLast && later == nil && waiting < Self.mostWaiting
        let reads = !hasEnded && mayRead
        return Int16(reads ? POLLIN : 0) | Int16(waiting > 0 ? POLLOUT : 0)
    }

    /// Whether something has come that the descriptor does not tell of, and may be read.
    var hasMore: Bool { !hasReadAll && transport.hasBuffered && events & Int16(POLLIN) != 0 }

    /// When it has taken too long.
    var deadline: ContinuousClock.Instant {
        switch awaited {
        case .firstRequest, .head: since + limits.headTime
        case .nextRequest: since + limits.idleTime
        case .body: since + limits.bodyTime
        case .answer: since + limits.laterTime
        case .reading: since + limits.replyTime
        case .end: since + Self.endTime
        }
    }

    /// Does what can be done after `ready` was found.
    func work(_ ready: Int16, chunk: inout [UInt8]) {
        if chunk.isEmpty { chunk = [UInt8](repeating: 0, count: Self.chunkBytes) }
        guard transport.isEstablished || establish() else { return }
        if hasMore || ready & Int16(POLLIN | POLLHUP | POLLERR) != 0 { receive(&chunk) }
        takeLater()
        repeat { advance() } while send()
        settle()
    }

    /// Ends a client that has taken too long.
    func expire() {
        if let later, !isStreaming, waiting == 0 { return giveUp(later.answer) }
        guard !isLast, waiting == 0, later == nil, reader.phase != .idle, transport.isEstablished else {
            return close()
        }
        refuse(HTTPRefusal(status: 408, message: "it was not complete in time"))
        _ = send()
        settle()
    }

    /// Ends a client for which another thread still works, or will: cut without a word it would be asked again.
    private func giveUp(_ answer: LaterAnswer) {
        answer.leave()
        later = nil
        let seconds = limits.laterTime.components.seconds
        var reply = HTTPReply.error(
            503, "stillRunning",
            "there is no answer after \(seconds) s; what was asked for may go on: see what has become of it before "
                + "it is asked for again")
        reply.fields = guarding
        put(reply, withBody: true, keeps: false)
        _ = send()
        settle()
    }

    func close() {
        isClosed = true
        later?.answer.leave()
        descriptor.close()
    }

    // MARK: Reading

    /// Goes on with what both sides tell each other before a request; whether there is something to do after it.
    private func establish() -> Bool {
        let code = transport.establish()
        guard code != 0 else { return true }
        guard code != -Int(EAGAIN) else { return false }
        guard case .tls(let connection) = transport, let fault = connection.fault else {
            close()
            return false
        }
        failed(fault)
        guard connection.hasMetPlainHTTP else {
            close()
            return false
        }
        // Whoever reads the answer knows then what to change: the end of the connection would not say it.
        transport = .plain
        refuse(HTTPRefusal(status: 400, message: "this address speaks TLS: ask it by https"))
        return true
    }

    private func receive(_ chunk: inout [UInt8]) {
        let count = HTTPSocket.receive(descriptor.raw, transport, into: &chunk)
        hasReadAll = count <= 0
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
        while !isClosed, !isLast, later == nil, waiting < Self.mostWaiting {
            switch reader.next() {
            case .request(let request): reply(to: request)
            case .refused(let refusal): refuse(refusal)
            case .awaitsContinue:
                put(HTTPReply.mayContinue)
                return
            case .head: break
            case .needsMore:
                // Half a request, or none, and no more of it will come.
                if hasEnded { isLast = true }
                return
            }
        }
    }

    private func reply(to request: ReceivedRequest) {
        let (withBody, keeps) = (request.method != "HEAD", request.keepsConnection && isCurrent())
        switch handle(request) {
        case .reply(let reply): put(reply, withBody: withBody, keeps: keeps)
        case .later(let answer):
            later = (answer, withBody, keeps)
            answer.attach(bell)
            (awaited, since) = (.answer, .now)
            takeLater()
        }
    }

    private func put(_ reply: HTTPReply, withBody: Bool, keeps: Bool) {
        put(reply.bytes(withBody: withBody, keepsConnection: keeps, at: WallClock.now()))
        if !keeps { isLast = true }
        (awaited, since) = (.nextRequest, .now)
    }

    /// Takes what another thread has made of the answer.
    private func takeLater() {
        guard let (answer, withBody, keeps) = later else { return }
        switch answer.take() {
        case .nothing: break
        case .reply(let reply):
            later = nil
            put(reply, withBody: withBody, keeps: keeps)
        case .stream(let head, let bytes):
            if let head { put(head.streamHead(at: WallClock.now())) }
            put(bytes)
            // The connection ends with the stream: nothing else is read.
            (isStreaming, isLast, since) = (true, true, .now)
            if waiting > Self.mostWaiting { return close() }
            takeLater()
        case .end:
            later = nil
        }
    }

    private func refuse(_ refusal: HTTPRefusal) {
        var reply = HTTPReply(refusal)
        reply.fields += guarding
        put(reply.bytes(withBody: true, keepsConnection: false, at: WallClock.now()))
        isLast = true
    }

    /// Adds what is to be sent. Where nothing waits before it, it is not copied, and may be shared with other clients.
    private func put(_ bytes: [UInt8]) {
        if output.isEmpty { output = bytes } else { output += bytes }
    }

    // MARK: Sending

    /// Sends what waits; whether that made room for further replies.
    private func send() -> Bool {
        let isFull = waiting >= Self.mostWaiting
        while waiting > 0, !isClosed {
            let count = output.withByteView { transport.send($0[sent..<$0.count], to: descriptor.raw) }
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
        // Who has left gets no answer.
        if later != nil, hasEnded { return close() }
        if waiting > 0 { return note(.reading) }
        if later != nil { return note(.answer) }
        if isLast {
            if hasEnded {
                transport.end()
                return close()
            }
            if !isEnding { transport.endSending(to: descriptor.raw) }
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
