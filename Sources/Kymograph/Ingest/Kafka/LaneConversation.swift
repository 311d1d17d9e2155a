import CKymographLinux
import KymographCore

/// What the thread that reads a topic does as long as the lane has its socket: frames go to the lane, and the places up
/// to which all is durable come back, over all sessions with the brokers.
struct LaneConversation {
    /// Longest wait for the group to take the last positions, in milliseconds.
    private static let lastCommit = 2_000
    private static let interval: Int32 = 250

    private let pair: SocketPair
    private let bell: Descriptor
    /// What waits for the lane.
    let frames: FrameQueue
    /// Bytes of a place that has not come as a whole.
    private var places: [UInt8] = []

    /// Talks with the lane at `pair`; values of records have at most `longest` bytes. Consumers ring `bell`.
    init(_ pair: SocketPair, bell: Descriptor, longest: Int) {
        (self.pair, self.bell, frames) = (pair, bell, FrameQueue(longest: longest))
    }

    /// Begins `session`, for which it asks brokers several times: connections to them may take their time. False when
    /// the lane has gone.
    ///
    /// - Throws: ``KafkaFault`` with why there can be no session.
    mutating func begin(_ session: KafkaSession) throws(KafkaFault) -> Bool {
        for attempt in 1... {
            do throws(KafkaFault) {
                try session.begin()
                return true
            } catch {
                if attempt == KafkaSession.attempts || error.isLasting { throw error }
            }
            guard hear(session.finish) else { return false }
        }
        return false
    }

    /// Goes on by `session` until the lane has closed its socket. `publish` is called now and then.
    ///
    /// - Throws: ``KafkaFault`` when there must be another session.
    mutating func run(_ session: KafkaSession, publish: () -> Void) throws(KafkaFault) {
        var last = ContinuousClock.now
        while true {
            let isBusy = session.hasMore && !frames.isFull
            let ready = kymo_wait_socket(
                pair.program.raw, frames.isEmpty ? 0 : 1, bell.raw, isBusy ? 0 : Self.interval)
            if ready & 1 != 0, !hear(session.finish) { return finish(session) }
            let now = ContinuousClock.now
            try session.fill(at: now)
            frames.send { FileSystem.send(pair.program.raw, $0) }
            try session.tend(now)
            guard now - last >= .milliseconds(Int64(Self.interval)) else { continue }
            last = now
            publish()
        }
    }

    /// Takes the places that have come, each by `finish`; false when the lane has gone.
    private mutating func hear(_ finish: (RecordPosition) -> Void) -> Bool {
        let isThere = pair.take(into: &places)
        for position in RecordFrame.takePlaces(&places) { finish(position) }
        return isThere
    }

    /// Takes places for `milliseconds`, each by `finish`; false when the lane has gone.
    mutating func rest(milliseconds: Int, _ finish: (RecordPosition) -> Void) -> Bool {
        for _ in 0...milliseconds / 50 {
            guard hear(finish) else { return false }
            Wait.milliseconds(min(50, milliseconds))
        }
        return hear(finish)
    }

    /// Tells the group the last positions, and waits until it has answered, but not for ever.
    private func finish(_ session: KafkaSession) {
        session.end()
        for _ in 0..<Self.lastCommit / 10 where !session.hear() { Wait.milliseconds(10) }
    }
}
