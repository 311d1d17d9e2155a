import KymographCore
import Synchronization

/// Looks in the store for devices whose readings have gaps by their own rhythm (docs/decisions/0036), as long as a page
/// listens: nothing that is counted says so.
final class GapWatch: Sendable {
    /// A device with gaps in the last hours.
    struct Gap: Sendable, Equatable {
        /// The store's number of one of its series.
        var series: Int
        /// What stands for its identifier.
        var mask: String
        /// Names of the types with gaps.
        var types: [String]
        /// Readings of these that are missing,
        var missing: Int
        /// and those that are there.
        var accepted: Int
    }

    /// What was found so far.
    struct Round: Sendable {
        /// The device with most missing readings first.
        var gaps: [Gap] = []
        /// The place in the list of devices where the next look begins.
        var place = 0
    }

    private struct State {
        var round = Round()
        var isLooking = false
        var nextLook = ContinuousClock.now
    }

    /// How far back it looks.
    static let hours: Int64 = 6
    /// Devices that it looks at: those that came last.
    private static let mostDevices = 500
    /// How long one look may take; the next one goes on where it has ended.
    private static let patience = Duration.milliseconds(500)
    /// Between two looks, and how many times as long as one took: at most a hundredth of a processor's time.
    private static let (rest, restFactor) = (Duration.seconds(30), 100)
    /// Fewer missing readings than this, or than one of twenty, may be on their way, or were rejected, which is told by
    /// itself. The timeline shows them all.
    private static let (leastMissing, leastPercent) = (5, 5)

    private let directory: String
    private let naming: @Sendable (IdentifierText) -> String
    private let state = Mutex(State())

    /// Of the store in `directory`; `naming` gives what stands for an identifier.
    init(directory: String, naming: @escaping @Sendable (IdentifierText) -> String) {
        (self.directory, self.naming) = (directory, naming)
    }

    /// What was found so far; has another look begin, on a thread of its own, when it is time.
    func latest() -> [Gap] {
        let (found, begins) = state.withLock { state in
            let begins = !state.isLooking && ContinuousClock.now >= state.nextLook
            if begins { state.isLooking = true }
            return (state.round.gaps, begins)
        }
        if begins { WorkerThread.start("kymo-gaps") { [self] in look() } }
        return found
    }

    private func look() {
        let start = ContinuousClock.now
        let former = state.withLock { $0.round }
        // That a store cannot be read is told by whoever writes to it; what was found before still holds.
        let round = (try? search(after: former, until: start + Self.patience, at: WallClock.now())) ?? former
        let end = ContinuousClock.now
        state.withLock { state in
            state.round = round
            state.isLooking = false
            state.nextLook = end + max(Self.rest, (end - start) * Self.restFactor)
        }
    }

    /// Goes on after `former` until `deadline`, or until each device was looked at, for the hours before `now`.
    func search(
        after former: Round, until deadline: ContinuousClock.Instant, at now: Instant
    ) throws(PipelineError) -> Round {
        let reader = try StoreReader(directory: directory)
        var known: Set<IdentifierText> = []
        let devices = try reader.subjects(limit: Self.mostDevices).filter { known.insert($0.device).inserted }
        let numbers = Set(devices.map(\.series))
        var round = Round(gaps: former.gaps.filter { numbers.contains($0.series) })
        for step in devices.indices {
            guard ContinuousClock.now < deadline else { break }
            let place = (former.place + step) % devices.count
            let gap = try gap(of: devices[place], reader, at: now)
            round.gaps.removeAll { $0.series == devices[place].series }
            if let gap { round.gaps.append(gap) }
            round.place = (place + 1) % devices.count
        }
        round.gaps.sort { ($0.missing, $1.series) > ($1.missing, $0.series) }
        return round
    }

    private func gap(
        of subject: StoreSubject, _ reader: StoreReader, at now: Instant
    ) throws(PipelineError) -> Gap? {
        let from = Instant(nanoseconds: now.nanoseconds - Self.hours * 3_600_000_000_000)
        var query = TimelineQuery(device: subject.device, patient: nil, from: from, to: now, now: now)
        // Of more, windows are taken as a whole.
        query.limits.readings = 200_000
        query.limits.letters = 1
        var gap = Gap(series: subject.series, mask: naming(subject.device), types: [], missing: 0, accepted: 0)
        for series in try reader.timeline(query).series {
            let (missing, accepted) = (series.missing.reduce(0, +), series.accepted.reduce(0, +))
            let least = max(Self.leastMissing, (missing + accepted) * Self.leastPercent / 100)
            guard missing >= least else { continue }
            if !gap.types.contains(series.type) { gap.types.append(series.type) }
            gap.missing += missing
            gap.accepted += accepted
        }
        return gap.missing > 0 ? gap : nil
    }
}
