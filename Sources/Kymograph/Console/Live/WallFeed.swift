import KymographCore
import Synchronization

/// What came of each series in each second of the last minute, as long as a page asks for it. All pages are
/// answered from one look a second.
final class WallFeed: Sendable {
    /// What one look has found.
    struct Slice: Sendable {
        /// Counts upwards by one a look.
        var id: Int
        var time: Instant
        var readings: [NewestReadings.Series]
        /// Whether it has what the journal still had of open windows, however old, instead of what came in a second.
        var isBeginning: Bool
        /// Whether not all readings were looked at.
        var isPartial: Bool
    }

    private struct State {
        var slices: [Slice] = []
        var through: Int64?
        var lastLook: ContinuousClock.Instant?
        var nextID = 1
    }

    /// Looks that are kept, one a second.
    static let mostSlices = 60
    /// Pages ask once a second, and not all at one time.
    private static let pause = Duration.milliseconds(900)
    /// After so long without a page the minute begins again.
    private static let patience = Duration.seconds(5)
    /// Readings of one look: some milliseconds of work.
    private static let mostReadings = 50_000

    private let directory: String
    private let state = Mutex(State())

    /// Of the store in `directory`.
    init(directory: String) { self.directory = directory }

    /// The looks after the one called `former`; all of the last minute when that is nil, or not of this minute. To be
    /// called by one thread at a time.
    ///
    /// - Throws: ``PipelineError`` when the store cannot be read.
    func slices(
        after former: Int?, now: ContinuousClock.Instant = .now, at time: Instant
    ) throws(PipelineError) -> [Slice] {
        let (through, isDue) = state.withLock { state in
            if let last = state.lastLook, now - last > Self.patience { (state.slices, state.through) = ([], nil) }
            return (state.through, state.lastLook.map { now - $0 >= Self.pause } ?? true)
        }
        if isDue { try look(after: through, now, time) }
        return state.withLock { state in
            let oldest = state.slices.first?.id ?? state.nextID
            let known = former.flatMap { (oldest - 1..<state.nextID).contains($0) ? $0 : nil } ?? 0
            return state.slices.filter { $0.id > known }
        }
    }

    private func look(after through: Int64?, _ now: ContinuousClock.Instant, _ time: Instant) throws(PipelineError) {
        let found = try StoreReader(directory: directory).newestReadings(after: through, limit: Self.mostReadings)
        state.withLock { state in
            state.slices.append(
                Slice(
                    id: state.nextID, time: time, readings: found.series, isBeginning: through == nil,
                    // Before the first look, nothing is left out that was asked for.
                    isPartial: found.isPartial && through != nil))
            if state.slices.count > Self.mostSlices { state.slices.removeFirst() }
            state.nextID += 1
            (state.through, state.lastLook) = (found.through, now)
        }
    }
}
