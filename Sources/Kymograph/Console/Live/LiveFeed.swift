import CKymographLinux
import FoundationEssentials
import Synchronization

/// Counts once a second, keeps the totals of the last minutes, and streams snapshots to pages as server-sent events
/// (the HTML standard, section 9.2). Snapshots are made only while a page listens.
final class LiveFeed: Sendable {
    /// Most pages that listen.
    static let mostStreams = 16
    /// Totals that are kept, one a second.
    static let mostSamples = 300
    private static let interval: Int32 = 1_000

    /// A page that listens, and the secret of the session that has opened it.
    private struct Stream {
        var answer: LaterAnswer
        var secret: String
    }

    private struct State {
        var samples: [LiveSample] = []
        var streams: [Stream] = []
    }

    private let subject: ConsoleSubject
    private let sessions: ConsoleSessions
    private let gaps: GapWatch
    private let everySecond: @Sendable () -> Void
    private let stopEvent: Descriptor
    private let state = Mutex(State())

    /// Distinguishes the numbers of this run from those of another.
    private let run = ConsoleSecret.name()

    /// Has `everySecond` called beside the counting.
    ///
    /// - Throws: ``SystemError`` when the system gives no event.
    init(
        _ subject: ConsoleSubject, _ sessions: ConsoleSessions, _ gaps: GapWatch,
        everySecond: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        (self.subject, self.sessions, self.gaps, self.everySecond) = (subject, sessions, gaps, everySecond)
        let raw = kymo_event_create()
        guard raw >= 0 else { throw SystemError(-raw, "create", "an event for stopping") }
        stopEvent = Descriptor(raw)
    }

    /// Begins, on a thread of its own.
    func start() { WorkerThread.start("kymo-live") { [self] in beat() } }

    /// Ends soon.
    func stop() { _ = kymo_event_raise(stopEvent.raw) }

    private func beat() {
        var maker = SnapshotMaker(subject, gaps)
        repeat {
            // A stream is a use of its session: a page on a wall asks for nothing else.
            endStreams { sessions.session($0) == nil }
            everySecond()
            let (sample, snapshot) = maker.look()
            let isWatched = state.withLock { state in
                state.samples.append(sample)
                if state.samples.count > Self.mostSamples { state.samples.removeFirst() }
                state.streams.removeAll(where: \.answer.isGone)
                return !state.streams.isEmpty
            }
            let event = isWatched ? Self.json(snapshot()).map { Self.event("snapshot", id(sample), $0) } : nil
            if let event { for stream in state.withLock({ $0.streams }) { stream.answer.send(event) } }
        } while kymo_event_wait(stopEvent.raw, Self.interval) == 0
    }

    private func id(_ sample: LiveSample) -> String { "\(run)-\(sample.id)" }

    private static func event(_ name: String, _ id: String, _ json: some Sequence<UInt8>) -> [UInt8] {
        Array("event: \(name)\nid: \(id)\ndata: ".utf8) + json + Array("\n\n".utf8)
    }

    /// Nil when `value` cannot be encoded: a page that got half an event would fail at each.
    private static func json(_ value: some Encodable) -> Data? { try? JSONEncoder().encode(value) }

    /// Streams that can be opened.
    var streamsLeft: Int {
        state.withLock { state in Self.mostStreams - state.streams.count { !$0.answer.isGone } }
    }

    /// Ends the streams that the session of `secret` has opened.
    func endStreams(of secret: String) { endStreams { $0 == secret } }

    private func endStreams(_ isOver: (_ secret: String) -> Bool) {
        for stream in state.withLock({ $0.streams }) where isOver(stream.secret) {
            stream.answer.send(Array("event: ended\ndata: {}\n\n".utf8))
            stream.answer.end()
            state.withLock { $0.streams.removeAll { $0.answer === stream.answer } }
        }
    }

    /// A stream for one more page of the session of `secret`, which has had all events up to `last`; it begins with the
    /// totals since then, and ends with the session.
    func open(after last: String?, secret: String) throws(ConsoleRefusal) -> LaterAnswer {
        let known = last.flatMap { $0.hasPrefix("\(run)-") ? Int($0.dropFirst(run.count + 1)) : nil } ?? 0
        let answer = LaterAnswer()
        var head = HTTPReply(200, type: "text/event-stream", "")
        head.fields = ConsoleAccess.fields
        answer.begin(head)
        let isOpen = state.withLock { state in
            state.streams.removeAll(where: \.answer.isGone)
            guard state.streams.count < Self.mostStreams else { return false }
            // Before any snapshot comes.
            let missed = LiveHistory(samples: state.samples.drop { $0.id <= known }).json
            answer.send(Self.event("history", state.samples.last.map(id) ?? "\(run)-0", missed))
            state.streams.append(Stream(answer: answer, secret: secret))
            return true
        }
        guard isOpen else {
            throw ConsoleRefusal(503, "tooManyPages", "\(Self.mostStreams) pages are open already: close one")
        }
        return answer
    }
}
