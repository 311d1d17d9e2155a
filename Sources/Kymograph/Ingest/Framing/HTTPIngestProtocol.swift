import KymographCore

/// Readings in the bodies of HTTP requests: `POST /v1/ingest`, see docs/http.md.
///
/// A reply of 200 says that all of the body is durable. A body that is not complete has handed on nothing: its sender
/// has heard nothing, and sends it again.
final class HTTPIngestProtocol: StreamProtocol {
    /// What it grants each client.
    static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.bodyBytes = 8 << 20
        return limits
    }()

    /// Bytes that are thrown away of a client that has had its last reply, so that it reads the reply before the
    /// connection is cut.
    private static let mostDiscarded = 8 << 20
    private static let endTime = Duration.seconds(2)

    private let shared: HeldBytes
    private var reader = HTTPRequestReader(HTTPIngestProtocol.limits, announcesHeads: true)
    /// What the body that is being read holds, and with which mappings that was found.
    private var (content, contentMappings): (HTTPIngestContent, [IdentifierText]?) = (HTTPIngestContent(), nil)
    /// Bytes after the last reply; nil before.
    private var discarded: Int?
    /// Bytes of unfinished requests that ``shared`` knows of.
    private var held = 0
    /// Whether the body that is being read has to say who sends it, and how many bytes of ``held`` are of such a one.
    private var (isUnproven, unproven) = (false, 0)
    private var hasAnswered = false
    private var phase = HTTPRequestReader.Phase.idle
    /// How long the present phase has lasted.
    private var waited = Duration.zero

    /// Reads a connection of a source whose connections have `shared` in common.
    init(_ shared: HeldBytes) { self.shared = shared }

    deinit { shared.hold(-held, unproven: -unproven) }

    var acknowledging: Acknowledging { .byProtocol }

    var overdueReply: [UInt8] {
        bytes(
            .error(503, "notDurable", "what was sent is not on disk yet: send it again later"), isHEAD: false,
            keepsConnection: false)
    }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        if let before = discarded {
            discarded = before + piece.bytes.count
            return before + piece.bytes.count <= Self.mostDiscarded
        }
        // Safe: the bytes are copied.
        unsafe reader.append(piece.bytes.unsafeBuffer)
        advance(&intake, &consumer)
        settle(&intake)
        return true
    }

    /// Answers what is complete, and tells the sender of what is not.
    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        if case .ended = ending { advance(&intake, &consumer) }
        if discarded == nil, reader.phase != .idle { finish(reply(to: ending, leavesRequests: intake.isFull), &intake) }
        discarded = 0
        settle(&intake)
    }

    /// What the sender hears of what it has not finished; with `leavesRequests` some of it may be whole.
    private func reply(to ending: StreamEnding, leavesRequests: Bool) -> HTTPReply {
        switch ending {
        case .ended where !leavesRequests: HTTPReply(.malformed("it is not complete"))
        case .ended, .cut(.shutdown): .error(503, "stopping", "kymo stops: send the request again")
        case .cut: HTTPReply(HTTPRefusal(status: 408, message: "it was not complete in time"))
        }
    }

    func hasExpired(after passed: Duration) -> Bool {
        waited += passed
        guard discarded == nil else { return waited > Self.endTime }
        switch phase {
        case .idle: return waited > (hasAnswered ? Self.limits.idleTime : Self.limits.headTime)
        case .head: return waited > Self.limits.headTime
        case .body: return waited > Self.limits.bodyTime
        }
    }

    // MARK: Requests

    private func advance(
        _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        while discarded == nil, !intake.isFull {
            switch reader.next() {
            case .needsMore: return
            case .awaitsContinue: return intake.reply(HTTPReply.mayContinue)
            case .head(let head): admit(head, &intake, &consumer)
            case .request(let request): take(request, &intake, &consumer)
            case .refused(let refusal): finish(HTTPReply(refusal), &intake)
            }
        }
    }

    /// Looks whether the body may come.
    private func admit(
        _ head: HTTPHead, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        do throws(HTTPDecline) {
            let admission = try HTTPIngestSender.admission(of: head.request, &intake)
            let mappings = consumer.mappings(of: intake.arrival.source).map { IdentifierText($0) }
            isUnproven = admission != nil && HTTPIngestSender.isSigned(head.request)
            if isUnproven { try HTTPIngestSender.checkUnproven(head.body) }
            // A body like the one before it is told by the same head.
            if !head.isRepeated || contentMappings != mappings {
                contentMappings = nil
                content = try HTTPIngestContent(of: head, mappings: mappings)
                contentMappings = mappings
            }
            // Whose it is that is signed shows only the body.
            if !isUnproven, let grant = admission?.grant { try content.check(grant.allowed(mappings)) }
        } catch {
            note(error, intake, &consumer)
            finish(error.reply, &intake, isHEAD: head.request.method == "HEAD")
        }
    }

    private func take(
        _ request: ReceivedRequest, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        (hasAnswered, waited, isUnproven) = (true, .zero, false)
        let reply: HTTPReply
        var telling: ReplyTelling?
        do throws(HTTPDecline) {
            // Since its head came, the list of peers may have changed; and a signature may be of the body.
            let admission = try HTTPIngestSender.admission(of: request, &intake, hasBody: true)
            if let grant = admission?.grant, let contentMappings { try content.check(grant.allowed(contentMappings)) }
            consumer.admit(admission, mapping: content.mapping)
            if let fixed = content.fixedReply {
                reply = fixed
            } else {
                (reply, telling) = try handOn(request, &intake, &consumer)
            }
        } catch {
            note(error, intake, &consumer)
            reply = error.reply
        }
        guard request.keepsConnection, reply.status != 401 else { return finish(reply, &intake, telling: telling) }
        tell(reply, telling, keepsConnection: true, &intake)
    }

    /// Tells the sender `reply` once it is true, with what `telling` says by then.
    private func tell(
        _ reply: HTTPReply, isHEAD: Bool = false, _ telling: ReplyTelling?, keepsConnection: Bool,
        _ intake: inout StreamIntake
    ) {
        if reply.status >= 400 { intake.counts.refusedRequests[reply.status, default: 0] += 1 }
        let bytes = bytes(reply, isHEAD: isHEAD, keepsConnection: keepsConnection)
        guard let telling else { return intake.reply(bytes) }
        intake.reply(bytes, telling: telling, in: telling.room(in: bytes.count))
    }

    /// Tells whose request is refused, where it is for its sender.
    private func note(
        _ decline: HTTPDecline, _ intake: StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        guard let refusal = decline.refusal else { return }
        consumer.declined(refusal.peer, refusal.reason, source: intake.arrival.source)
    }

    private func handOn(
        _ request: ReceivedRequest, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) throws(HTTPDecline) -> (HTTPReply, ReplyTelling?) {
        let body = try content.decoded(request.body)
        var report = HTTPIngestReport(content.answer)
        if report.tellsSum { consumer.beginCount() }
        try report.handOn(body.view, content.form, &intake, to: &consumer)
        let telling =
            report.tellsSum ? consumer.endCount().map { ReplyTelling.sum($0) } : report.items.map { .items($0) }
        if let refusal = report.refusal { return (refusal, nil) }
        let text = report.text(hasRoom: telling != nil)
        return (HTTPReply(content.answer == .created ? 201 : 200, type: "application/json", text), telling)
    }

    // MARK: Replies

    /// Gives the last reply: nothing that comes after it is looked at.
    private func finish(
        _ reply: HTTPReply, _ intake: inout StreamIntake, isHEAD: Bool = false, telling: ReplyTelling? = nil
    ) {
        tell(reply, isHEAD: isHEAD, telling, keepsConnection: false, &intake)
        intake.endReplies()
        reader = HTTPRequestReader(Self.limits, announcesHeads: true)
        (discarded, waited) = (0, .zero)
    }

    private func bytes(_ reply: HTTPReply, isHEAD: Bool, keepsConnection: Bool) -> [UInt8] {
        reply.bytes(withBody: !isHEAD, keepsConnection: keepsConnection, at: WallClock.now())
    }

    /// Notes what is waited for, and refuses a body for which there is no room.
    private func settle(_ intake: inout StreamIntake) {
        noteHeld()
        if held > 0, shared.isExhausted || unproven > 0 && shared.isExhaustedByStrangers {
            finish(.error(503, "busy", "too many unfinished requests: send it again later"), &intake)
            noteHeld()
        }
        guard reader.phase != phase else { return }
        // The first head has its time from the beginning of the connection.
        if hasAnswered || reader.phase != .head { waited = .zero }
        phase = reader.phase
    }

    private func noteHeld() {
        let (all, ofStranger) = (reader.heldBytes, isUnproven ? reader.heldBytes : 0)
        shared.hold(all - held, unproven: ofStranger - unproven)
        (held, unproven) = (all, ofStranger)
    }
}
