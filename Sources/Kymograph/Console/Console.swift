import KymographCore

/// The console: pages for a browser, and the API that they use, on the listener of ``AdminServer``.
///
/// Pages are files that anyone who reaches the listener may read; everything that tells of readings is behind
/// ``ConsoleAccess``. What a page asks for is a row of ``ConsoleRoutes``.
final class Console: AdminPages {
    /// Below it are the pages.
    static let root = "/console/"
    private static let api = "/console/api/"

    /// What the console shows and changes.
    let subject: ConsoleSubject
    /// Who has logged in.
    let sessions: ConsoleSessions
    /// The counts of every second.
    let feed: LiveFeed
    /// The readings of every second.
    let wall: WallFeed
    private let access: ConsoleAccess
    private let reading = ConsoleWork("kymo-console")
    /// Changes wait for lanes and sinks: nobody who only looks waits behind one.
    private let changing = ConsoleWork("kymo-change")

    /// Shows `subject` to the browsers of `sessions`, on `listener`.
    ///
    /// - Throws: ``SystemError`` when the system gives no event.
    init(_ subject: ConsoleSubject, _ sessions: ConsoleSessions, on listener: HTTPServer) throws(SystemError) {
        self.subject = subject
        self.sessions = sessions
        access = ConsoleAccess(sessions: sessions, scheme: listener.scheme) { listener.certificateHosts }
        let wall = WallFeed(directory: subject.directory)
        self.wall = wall
        let gaps = GapWatch(directory: subject.directory) { SeriesRoutes.mask.name($0).text }
        feed = try LiveFeed(subject, sessions, gaps) { wall.forgetUnused() }
    }

    static var fields: [ReceivedRequest.Field] { ConsoleAccess.fields }

    func start() { feed.start() }

    func stop() {
        feed.stop()
        reading.stop()
        changing.stop()
    }

    func answer(_ request: ReceivedRequest) -> HTTPAnswer? {
        guard request.path.hasPrefix(Self.root) || request.path == Self.root.dropLast() else { return nil }
        do throws(ConsoleRefusal) {
            try access.check(request, isAPI: request.path.hasPrefix(Self.api))
            return guarded(try content(request))
        } catch {
            return guarded(.reply(HTTPReply(error)))
        }
    }

    /// `answer` with what every reply says to browsers; one that comes later has it already.
    private func guarded(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard case .reply(var reply) = answer else { return answer }
        reply.fields += ConsoleAccess.fields
        return .reply(reply)
    }

    private func content(_ request: ReceivedRequest) throws(ConsoleRefusal) -> HTTPAnswer {
        guard request.path != Self.root.dropLast() else {
            var reply = HTTPReply(303, "")
            reply.fields = [.init(name: "Location", value: Self.root)]
            return .reply(reply)
        }
        if request.path.hasPrefix(Self.api) { return try answer(request, request.path.dropFirst(Self.api.count)) }
        guard ["GET", "HEAD"].contains(request.method) else { throw .wrongMethod("GET, HEAD") }
        let path = String(request.path.dropFirst(Self.root.count))
        return .reply(try ConsoleAssets.reply(path, takesGzip: ConsoleAssets.takesGzip(request)))
    }

    // MARK: API

    private func answer(_ request: ReceivedRequest, _ path: Substring) throws(ConsoleRefusal) -> HTTPAnswer {
        switch (request.method, path) {
        case ("POST", "login"): return .reply(try login(request))
        case ("POST", "logout"):
            if let secret = access.secret(request) {
                sessions.close(secret)
                feed.endStreams(of: secret)
            }
            var reply = HTTPReply.json([String: String]())
            reply.fields = [access.setCookie(nil)]
            return .reply(reply)
        case ("GET", "live"):
            _ = try access.session(request, role: .view)
            let last = request.values(of: "last-event-id").first
            return .later(try feed.open(after: last, secret: access.secret(request) ?? ""))
        case (_, "login"), (_, "logout"): throw .wrongMethod("POST")
        case (_, "live"): throw .wrongMethod("GET")
        default: return try route(request, path)
        }
    }

    private func route(_ request: ReceivedRequest, _ path: Substring) throws(ConsoleRefusal) -> HTTPAnswer {
        let found = ConsoleRoutes.all.compactMap { route in route.parameters(path).map { (route, $0) } }
        guard !found.isEmpty else { throw ConsoleRefusal(404, "notFound", "the console has no such path") }
        // Of HEAD the connection leaves the body out.
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let (route, parameters) = found.first(where: { $0.0.method == method }) else {
            throw .wrongMethod(found.map { $0.0.method == "GET" ? "GET, HEAD" : $0.0.method }.joined(separator: ", "))
        }
        let asked = ConsoleRequest(
            parameters: parameters, query: PercentText.pairs(request.query), body: request.body,
            session: try access.session(request, role: route.role), takesGzip: ConsoleAssets.takesGzip(request))
        let work: ConsoleWork
        switch route.work {
        case .atOnce: return .reply(try route.answer(self, asked))
        case .reading: work = reading
        case .change: work = changing
        }
        let answer = LaterAnswer()
        let isTaken = work.add { [self] in
            guard !answer.isGone else { return }
            var reply: HTTPReply
            do throws(ConsoleRefusal) { reply = try route.answer(self, asked) } catch { reply = HTTPReply(error) }
            reply.fields += ConsoleAccess.fields
            answer.finish(reply)
        }
        guard isTaken else {
            throw ConsoleRefusal(503, "busy", "too many requests wait, or it is stopping: try again in a moment")
        }
        return .later(answer)
    }

    // MARK: Login

    private struct LoginBody: Decodable {
        var code: String
    }

    private func login(_ request: ReceivedRequest) throws(ConsoleRefusal) -> HTTPReply {
        let code = try ConsoleRequest.decode(LoginBody.self, request.body).code
        do throws(ConsoleSessions.Refusal) {
            let (secret, session) = try sessions.open(code)
            subject.audit(.consoleLogin, session, "has logged in", isDeferred: true)
            var reply = HTTPReply.json(["role": session.role.rawValue])
            reply.fields = [access.setCookie(secret)]
            return reply
        } catch {
            var refusal = LogEntry.deed(.consoleRefused, by: "", "console: a login was refused")
            refusal.isFolded = true
            subject.notes(refusal)
            switch error {
            case .unknownCode:
                throw ConsoleRefusal(
                    401, "wrongCode",
                    "this code is wrong, was used, or is older than two minutes: make one with 'kymo console login'")
            case .tooManyAttempts:
                throw ConsoleRefusal(
                    429, "tooManyAttempts",
                    "this code is wrong, and so were many before: make one with 'kymo console login'")
            }
        }
    }
}
