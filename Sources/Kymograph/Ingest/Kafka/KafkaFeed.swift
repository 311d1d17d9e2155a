import CKymographLinux
import KymographCore
import Synchronization

/// Reads a topic on a thread of its own, for the lane that has the source: frames go to the lane by a socket, and the
/// places up to which all is durable come back by it.
///
/// A lane opens it again when it has closed the socket: reading goes on where all is durable.
final class KafkaFeed: Sendable {
    /// What the thread and the lane share.
    private struct Shared {
        /// The socket that the lane reads, while the thread has none.
        var waiting: SocketPair?
        /// What keeps positions of the topic.
        var keeper: any PositionKeeper = NoPositions()
        var isClosed = false
        var hasThread = false
        var hasEnded = false
        var news = KafkaNews()
        var progress = KafkaProgress()
    }

    /// What makes a consumer that rings an event.
    typealias Opening = @Sendable (_ bell: Int32) throws(KafkaFault) -> any RecordConsumer

    /// Longest wait for the thread to end, in milliseconds.
    private static let lastWait = 5_000
    private static let pause: Int32 = 250
    private static let backoff = Backoff(first: 500_000_000, longest: 30_000_000_000)

    private let name: String
    private let topic: String
    private let reading: KafkaReading
    private let longest: Int
    private let make: Opening
    private let bell: Descriptor
    private let shared = Mutex(Shared())

    /// Reads `topic` as `reading` says, by consumers that `make` makes; values of records have at most `longest` bytes.
    ///
    /// - Throws: ``SourceError`` when the system gives no event to wake the thread with.
    init(
        name: String, topic: String, reading: KafkaReading, longest: Int, make: @escaping Opening
    ) throws(SourceError) {
        (self.name, self.topic, self.reading, self.longest, self.make) = (name, topic, reading, longest, make)
        let raw = kymo_event_create()
        guard raw >= 0 else { throw .system(-raw, "create", "an event for reading \(name)") }
        bell = Descriptor(raw)
    }

    // MARK: For the lane

    /// Opens the socket of which the lane reads frames, and begins to read the topic; `keeper` keeps how far that is.
    ///
    /// - Throws: ``SourceError`` when the process has no descriptor left.
    func open(keeping keeper: any PositionKeeper) throws(SourceError) -> Descriptor {
        let pair = try SocketPair(for: name)
        let startsThread = shared.withLock { shared in
            shared.waiting?.program.close()
            (shared.waiting, shared.keeper) = (pair, keeper)
            defer { shared.hasThread = true }
            return !shared.hasThread
        }
        if startsThread { WorkerThread.start("kymo-kafka") { self.run() } }
        _ = kymo_event_raise(bell.raw)
        return pair.lane
    }

    /// What has happened since the last call.
    func takeNews() -> KafkaNews {
        shared.withLock { shared in
            defer { shared.news = KafkaNews() }
            return shared.news
        }
    }

    /// How far it is.
    var progress: KafkaProgress { shared.withLock { $0.progress } }

    /// Ends, once the lane has closed its socket, when the group was told what is durable. Does not wait.
    func close() {
        shared.withLock { $0.isClosed = true }
        _ = kymo_event_raise(bell.raw)
    }

    /// Waits until the thread has ended, but not for ever.
    func wait() {
        for _ in 0..<Self.lastWait / 10 where shared.withLock({ $0.hasThread && !$0.hasEnded }) {
            Wait.milliseconds(10)
        }
    }

    // MARK: The thread

    private func run() {
        var places = KafkaPlaces()
        while let pair = nextPair() {
            serve(pair, &places)
            pair.program.close()
        }
        shared.withLock { $0.hasEnded = true }
    }

    /// The next socket; nil when there will be none.
    private func nextPair() -> SocketPair? {
        while true {
            let (pair, isClosed) = shared.withLock { shared in
                defer { shared.waiting = nil }
                return (shared.waiting, shared.isClosed)
            }
            if let pair { return pair }
            if isClosed { return nil }
            _ = kymo_event_wait(bell.raw, Self.pause)
        }
    }

    /// Reads the topic until the lane closes its socket; `places` are where it was left, and is left.
    private func serve(_ pair: SocketPair, _ places: inout KafkaPlaces) {
        var conversation = LaneConversation(pair, bell: bell, longest: longest)
        var (failures, told): (Int, String?) = (0, nil)
        var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
        while true {
            var hasBegun = false
            do throws(KafkaFault) {
                try read(&conversation, &places, &hasBegun)
                return
            } catch {
                failures = hasBegun ? 1 : failures + 1
                let isNews = hasBegun || told != error.message
                shared.withLock { shared in
                    if isNews { shared.news.notices.append(.disconnected(error.message)) }
                    shared.progress.isUp = false
                }
                told = error.message
            }
            let wait = Self.backoff.wait(failures: failures, using: &random) / 1_000_000
            guard
                conversation.rest(milliseconds: Int(wait), { places.readers[$0.partition]?.finish(before: $0.offset) })
            else {
                return
            }
        }
    }

    /// Reads the topic in one session, until the lane closes its socket.
    ///
    /// - Throws: ``KafkaFault`` when there must be another session.
    private func read(
        _ conversation: inout LaneConversation, _ places: inout KafkaPlaces, _ hasBegun: inout Bool
    ) throws(KafkaFault) {
        let session = KafkaSession(
            reading, topic: topic, into: conversation.frames, by: try make(bell.raw), from: places,
            keeping: shared.withLock { $0.keeper })
        defer {
            places = session.places
            publish(session)
        }
        guard try conversation.begin(session) else { return }
        hasBegun = true
        try conversation.run(session) { publish(session) }
    }

    private func publish(_ session: KafkaSession) {
        let (news, progress) = (session.takeNews(), session.progress)
        shared.withLock { shared in
            shared.news.add(news)
            shared.progress = progress
        }
    }
}
