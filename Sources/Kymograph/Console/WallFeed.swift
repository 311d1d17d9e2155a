import KymographCore
import Synchronization

/// What came of each series in each second of the last minute, as long as pages ask for it. One look a second, and one
/// rendering of it, are for all pages: series have their numbers there and nothing that a role may not see.
final class WallFeed: Sendable {
    /// What a page is told.
    struct Answer: Sendable {
        /// The JSON of each look.
        var slices: [[UInt8]] = []
        /// Whether there are later looks, which had no room.
        var isMore = false
    }

    private struct State {
        var slices: [WallSlice] = []
        var through: Int64?
        var lastLook: ContinuousClock.Instant?
        var nextID = 1

        /// Forgets the minute if the last look is older than `patience`.
        mutating func forget(after patience: Duration, _ now: ContinuousClock.Instant) {
            if let last = lastLook, now - last > patience { (slices, through) = ([], nil) }
        }
    }

    /// Looks that are kept, one a second.
    static let mostSlices = 60
    /// Bytes of an answer with more than one look: eight pages that are opened at once wait for so much each.
    private static let mostBytes = 256 << 10
    /// Pages ask once a second, and not all at one time.
    private static let pause = Duration.milliseconds(900)
    /// After so long without a page the minute begins again.
    private static let patience = Duration.seconds(5)
    /// Readings of one look: some milliseconds of work.
    private static let mostReadings = 50_000

    private let directory: String
    private let mostBytes: Int
    private let state = Mutex(State())

    /// Of the store in `directory`; an answer with more than one look has up to `mostBytes`.
    init(directory: String, mostBytes: Int = WallFeed.mostBytes) {
        (self.directory, self.mostBytes) = (directory, mostBytes)
    }

    /// Bytes that are kept of the minute.
    var heldBytes: Int { state.withLock { $0.slices.reduce(0) { $0 + $1.heldBytes } } }

    /// The looks after the one called `former`, from the first of the last minute on when that is nil, or not of this
    /// minute: as many as an answer has room for. To be called by one thread at a time.
    ///
    /// - Throws: ``PipelineError`` when the store cannot be read.
    func answer(
        after former: Int?, now: ContinuousClock.Instant = .now, at time: Instant
    ) throws(PipelineError) -> Answer {
        let (through, isDue) = state.withLock { state in
            state.forget(after: Self.patience, now)
            return (state.through, state.lastLook.map { now - $0 >= Self.pause } ?? true)
        }
        if isDue { try look(after: through, now, time) }
        let slices = state.withLock { state in
            let oldest = state.slices.first?.id ?? state.nextID
            let known = former.flatMap { (oldest - 1..<state.nextID).contains($0) ? $0 : nil } ?? 0
            return state.slices.filter { $0.id > known }
        }
        return fitting(slices)
    }

    /// Frees the memory of a minute that no page has asked for in a while. By then the next page would begin another.
    func forgetUnused(now: ContinuousClock.Instant = .now) {
        // Not before a look that has begun in time can be over.
        state.withLock { $0.forget(after: Self.patience * 2, now) }
    }

    private func fitting(_ slices: [WallSlice]) -> Answer {
        var (answer, bytes) = (Answer(), 0)
        for slice in slices {
            let json = slice.json
            bytes += json.count
            guard answer.slices.isEmpty || bytes <= mostBytes else {
                answer.isMore = true
                break
            }
            answer.slices.append(json)
        }
        return answer
    }

    private func look(after through: Int64?, _ now: ContinuousClock.Instant, _ time: Instant) throws(PipelineError) {
        let found = try StoreReader(directory: directory).newestReadings(after: through, limit: Self.mostReadings)
        state.withLock { state in
            // What was forgotten while it looked was the beginning of it: the next look begins again.
            guard state.through == through else { return }
            // Pages that are open have it, and those to come read it once.
            if !state.slices.isEmpty { state.slices[state.slices.count - 1].pack() }
            state.slices.append(WallSlice(state.nextID, found, at: time, isBeginning: through == nil))
            if state.slices.count > Self.mostSlices { state.slices.removeFirst() }
            state.nextID += 1
            (state.through, state.lastLook) = (found.through, now)
        }
    }
}
