/// What the listener serves besides metrics and health.
protocol AdminPages: Sendable {
    /// What every reply says to browsers.
    static var fields: [ReceivedRequest.Field] { get }
    /// Begins what it needs threads for.
    func start()
    /// Ends it.
    func stop()
    /// The answer to a request, at once; nil when it is for others.
    func answer(_ request: ReceivedRequest) -> HTTPAnswer?
}

/// The listener for metrics and health (docs/monitoring.md).
///
/// It reads what other threads count anyway, so that a scrape never makes one of them wait; what must be counted in the
/// store is counted beforehand, by ``InstanceWatch``.
final class AdminServer: Sendable {
    /// What it answers to.
    private static let paths = ["/metrics", "/livez", "/readyz"]

    /// Most series of an answer: a server that keeps metrics has more than this one instance.
    private static let mostSeries = 5_000

    private let server: HTTPServer
    private let view: InstanceView
    private let watch: InstanceWatch
    private let pages: [any AdminPages]
    private let notes: @Sendable (String) -> Void

    /// Answers on `server` with what `view` and `watch` see; `pages` are asked first, one after the other. `notes`
    /// hears of its TLS.
    init(
        _ server: HTTPServer, _ view: InstanceView, _ watch: InstanceWatch, pages: [any AdminPages] = [],
        notes: @escaping @Sendable (String) -> Void
    ) {
        (self.server, self.view, self.watch, self.pages) = (server, view, watch, pages)
        self.notes = notes
    }

    /// Begins, on threads of its own.
    func start() {
        watch.start()
        for page in pages { page.start() }
        let fields = pages.flatMap { type(of: $0).fields }
        server.start("kymo-admin", guarding: fields, notes: notes) { [self] in answer($0) }
    }

    /// Ends.
    func stop() {
        watch.stop()
        for page in pages { page.stop() }
        server.stop()
    }

    private func answer(_ request: ReceivedRequest) -> HTTPAnswer {
        for page in pages { if let answer = page.answer(request) { return answer } }
        return .reply(reply(to: request))
    }

    private func reply(to request: ReceivedRequest) -> HTTPReply {
        guard Self.paths.contains(request.path) else {
            return .error(404, "notFound", "there are \(Self.paths.joined(separator: ", "))")
        }
        guard ["GET", "HEAD"].contains(request.method) else {
            var reply = HTTPReply.error(405, "methodNotAllowed", "use GET or HEAD")
            reply.fields = [.init(name: "Allow", value: "GET, HEAD")]
            return reply
        }
        let facts = view.facts()
        let seen = watch.latest
        if request.path == "/metrics" { return metrics(request, facts, seen) }
        let health = InstanceHealth(facts: facts, downSince: seen.downSince, now: .now)
        let obstacles = request.path == "/readyz" ? health.obstacles.map(\.text) : health.failure.map { [$0] } ?? []
        guard obstacles.isEmpty else { return HTTPReply(503, obstacles.lines) }
        return HTTPReply(200, (["ok"] + (request.path == "/readyz" ? health.remarks.map(\.text) : [])).lines)
    }

    private func metrics(
        _ request: ReceivedRequest, _ facts: InstanceFacts, _ seen: InstanceWatch.Seen
    ) -> HTTPReply {
        var input = CounterInput(run: facts.run)
        var status = seen.stored ?? InstanceStatus(directory: "")
        for (sink, delivery) in facts.deliveries { status.note(delivery, of: sink) }
        if seen.stored != nil { input.stored = status.store }
        input.sinks = status.sinks
        input.process = ProcessFacts.now()
        input.watched = seen.counts
        input.audit = facts.audit
        input.watched?.certificateExpiry = server.certificateExpiry
        let removed = RemovedSources(facts.run, at: WallClock.now())
        var (samples, dropped) = removed.given(CounterTable.samples(input)).limited(to: AdminServer.mostSeries)
        if dropped > 0 {
            input.watched?.droppedSeries = dropped
            (samples, dropped) = removed.given(CounterTable.samples(input)).limited(to: AdminServer.mostSeries)
        }
        let format = MetricsFormat.wanted(by: request.values(of: "accept"))
        return HTTPReply(200, type: format.contentType, PrometheusText.text(samples, format))
    }
}

extension [String] {
    /// One a line.
    fileprivate var lines: String { map { "\($0)\n" }.joined() }
}
