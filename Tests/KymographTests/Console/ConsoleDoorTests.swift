import KymographCore
import Testing

@testable import Kymograph

/// Every route, those of later pages too, asks who is there; and streams end with their session.
@Suite struct ConsoleDoorTests {
    private let sessions = ConsoleSessions()
    private let console: Console

    init() throws {
        let subject = ConsoleSubject(
            directory: "/nowhere", present: { PipelineSettings() }, started: WallClock.now(),
            view: InstanceView(facts: { InstanceFacts() }, stored: { nil }, disks: { [] }),
            seen: { InstanceWatch.Seen() },
            actions: ConsoleActions(), notes: { _ in })
        console = try Console(subject, sessions, on: HTTPServer(NetworkAddress(host: "127.0.0.1", port: 0)))
    }

    private func request(_ method: String, _ path: String, cookie: String? = nil) -> ReceivedRequest {
        var request = ReceivedRequest(method: method, path: "/console/api/\(path)", minorVersion: 1)
        request.fields = [
            .init(name: "host", value: "127.0.0.1:1"), .init(name: "origin", value: "http://127.0.0.1:1"),
        ]
        if let cookie { request.fields.append(.init(name: "cookie", value: cookie)) }
        request.body = Array("{}".utf8)[...]
        return request
    }

    /// The cookie of a new session.
    private func login(_ role: ConsoleRole) throws -> String {
        var login = request("POST", "login")
        login.body = Array("{\"code\":\"\(sessions.issue(role).code)\"}".utf8)[...]
        guard case .reply(let reply) = console.answer(login) else { return "" }
        let field = try #require(reply.fields.first { $0.name == "Set-Cookie" })
        return String(field.value.prefix { $0 != ";" })
    }

    /// The status of an answer that is made at once.
    private func status(_ request: ReceivedRequest) -> Int? {
        guard case .reply(let reply) = console.answer(request) else { return nil }
        #expect(reply.fields.contains { $0.name == "Content-Security-Policy" })
        return reply.status
    }

    @Test(arguments: ConsoleRoutes.all.map { ($0.method, $0.path, $0.role) })
    func routesAskWhoIsThere(method: String, path: String, role: ConsoleRole) throws {
        let path = path.replacing("/:", with: "/")
        #expect(status(request(method, path)) == 401)
        #expect(status(request(method, path, cookie: "kymo_console=AAAA")) == 401)
        guard let below = ConsoleRole.allCases.last(where: { $0 < role }) else { return }
        #expect(status(request(method, path, cookie: try login(below))) == 403)
    }

    /// Else it would be said that there is no instance, while a replay goes on.
    @Test func theSessionIsAnsweredAtOnce() throws {
        #expect(status(request("GET", "session", cookie: try login(.view))) == 200)
    }

    @Test func changesDoNotWaitWithThoseWhoLook() {
        for route in ConsoleRoutes.all where ["letters/replay", "letters/discard"].contains(route.path) {
            #expect(route.work == .change)
        }
    }

    @Test func aStreamEndsWithItsSession() throws {
        let (mine, other) = (try login(.view), try login(.view))
        let streams = [mine, mine, other].map { console.answer(request("GET", "live", cookie: $0)) }
        let answers = streams.compactMap { answer -> LaterAnswer? in
            if case .later(let later)? = answer { later } else { nil }
        }
        #expect(answers.count == 3 && console.feed.streamsLeft == LiveFeed.mostStreams - 3)
        #expect(status(request("POST", "logout", cookie: mine)) == 200)
        #expect(console.feed.streamsLeft == LiveFeed.mostStreams - 1)
        for (answer, isOver) in zip(answers, [true, true, false]) {
            guard case .stream(_, let bytes) = answer.take() else {
                Issue.record("no stream")
                continue
            }
            #expect(String(decoding: bytes, as: UTF8.self).contains("event: ended") == isOver)
            if case .end = answer.take() { #expect(isOver) } else { #expect(!isOver) }
        }
    }

    /// By a login of others, or after twelve hours.
    @Test func aStreamEndsWhenItsSessionHasEnded() async throws {
        let cookie = try login(.view)
        guard case .later(let answer) = console.answer(request("GET", "live", cookie: cookie)) else {
            Issue.record("no stream")
            return
        }
        sessions.close(String(cookie.drop { $0 != "=" }.dropFirst()))
        console.start()
        defer { console.stop() }
        var said = ""
        while !said.contains("event: ended") {
            if case .stream(_, let bytes) = answer.take() { said += String(decoding: bytes, as: UTF8.self) }
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(console.feed.streamsLeft == LiveFeed.mostStreams)
    }
}
