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
        /// Of the devices that were looked at.
        var looks: [IdentifierText: Look] = [:]
        /// The place in the list of devices where the next look begins.
        var place = 0
        /// Devices in the list.
        var devices = 0
        /// Whether the store has devices that are not in the list.
        var isCut = false

        /// Those with gaps, the one with most missing readings first.
        var gaps: [Gap] {
            looks.values.compactMap(\.gap).sorted { ($0.missing, $1.series) > ($1.missing, $0.series) }
        }
    }

    /// What a device had.
    struct Look: Sendable {
        var mark: TimelineBatch.Mark
        var time: Instant
        var gap: Gap?

        /// Whether it still has that: nothing has come since, and of a device that is silent not much more is missing.
        func holds(_ mark: TimelineBatch.Mark, at now: Instant) -> Bool {
            let seconds: Int64 = mark.isEmpty ? 3_600 : 600
            return self.mark == mark && (0..<seconds * 1_000_000_000).contains(now.nanoseconds - time.nanoseconds)
        }
    }

    /// What a page is told.
    struct Finding: Sendable {
        /// The device with most missing readings first.
        var gaps: [Gap] = []
        /// How much of the store was looked at.
        var search = LiveSnapshot.GapSearch(looked: 0, devices: 0, isCut: false)
    }

    private struct State {
        var round = Round()
        var finding = Finding()
        var isLooking = false
        var nextLook = ContinuousClock.now
    }

    /// How far back it looks.
    static let hours: Int64 = 6
    /// Devices that it looks at: those that the store has got to know last.
    private static let mostDevices = 2_000
    /// Devices that one look is for: the journal is read once for them, and what it has of them kept meanwhile.
    private static let batch = 64
    /// How long one look may take; the next one goes on where it has ended.
    private static let patience = Duration.milliseconds(500)
    /// Between two looks, and how many times as long as one took: at most a hundredth of a processor's time.
    private static let (rest, restFactor) = (Duration.seconds(10), 100)
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
    func latest() -> Finding {
        let (found, begins) = state.withLock { state in
            let begins = !state.isLooking && ContinuousClock.now >= state.nextLook
            if begins { state.isLooking = true }
            return (state.finding, begins)
        }
        if begins { WorkerThread.start("kymo-gaps") { [self] in look() } }
        return found
    }

    private func look() {
        let start = ContinuousClock.now
        let former = state.withLock { $0.round }
        // That a store cannot be read is told by whoever writes to it; what was found before still holds.
        let round = (try? search(after: former, for: Self.patience, at: WallClock.now())) ?? former
        let finding = Finding(
            gaps: round.gaps, search: .init(looked: round.looks.count, devices: round.devices, isCut: round.isCut))
        let end = ContinuousClock.now
        state.withLock { state in
            (state.round, state.finding) = (round, finding)
            state.isLooking = false
            state.nextLook = end + max(Self.rest, (end - start) * Self.restFactor)
        }
    }

    /// Goes on after `former` with the next devices, for the hours before `now`, and ends after `patience`, which does
    /// not count the time for the journal: it would be the same for one device.
    func search(after former: Round, for patience: Duration, at now: Instant) throws(PipelineError) -> Round {
        let reader = try StoreReader(directory: directory)
        let listed = try reader.subjects(limit: Self.mostDevices + 1)
        var known: Set<IdentifierText> = []
        let devices = listed.prefix(Self.mostDevices).filter { known.insert($0.device).inserted }
        var round = former
        round.looks = former.looks.filter { known.contains($0.key) }
        (round.devices, round.isCut) = (devices.count, listed.count > Self.mostDevices)
        guard !devices.isEmpty else { return round }
        let next = (0..<min(Self.batch, devices.count)).map { devices[(former.place + $0) % devices.count] }
        round = try reader.withTimelines(of: Set(next.map(\.device))) { [round] batch in
            var round = round
            let deadline = ContinuousClock.now + patience
            for (step, device) in next.enumerated() where ContinuousClock.now < deadline {
                round.looks[device.device] = try look(at: device, round.looks[device.device], batch, now)
                round.place = (former.place + step + 1) % devices.count
            }
            return round
        }
        return round
    }

    private func look(
        at subject: StoreSubject, _ former: Look?, _ batch: TimelineBatch, _ now: Instant
    ) throws -> Look {
        let from = Instant(nanoseconds: now.nanoseconds - Self.hours * 3_600_000_000_000)
        let mark = try batch.mark(of: subject.device, from: from, to: now)
        if let former, former.holds(mark, at: now) { return former }
        return Look(mark: mark, time: now, gap: try gap(of: subject, batch, from: from, at: now))
    }

    private func gap(
        of subject: StoreSubject, _ batch: TimelineBatch, from: Instant, at now: Instant
    ) throws -> Gap? {
        var query = TimelineQuery(device: subject.device, patient: nil, from: from, to: now, now: now)
        // Of more, windows are taken as a whole.
        query.limits.readings = 200_000
        query.limits.letters = 1
        var gap = Gap(series: subject.series, mask: naming(subject.device), types: [], missing: 0, accepted: 0)
        for series in try batch.timeline(query).series {
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
