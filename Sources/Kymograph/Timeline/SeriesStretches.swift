/// When a device has readings of a type, in all of its series: single ones, or stretches of several. A device goes on
/// with another patient or encounter, and what it sends then is not missing before. Times are nanoseconds since the
/// epoch.
struct SeriesStretches {
    /// Names the series: its place in the timeline, or ``others``.
    typealias Owner = Int32

    /// Stands for series that are not in the timeline.
    static let others: Owner = -1

    private struct Stretch {
        var first: Int64
        var last: Int64
        var readings: Int32
        var owner: Owner
    }

    private var stretches: [Stretch] = []
    /// The last reading before the span, and the first one behind it, as far as they are known.
    private var before: (time: Int64, owner: Owner)?
    private var behind: Int64?
    /// Readings before the span that say how often a series has any where the span has too few.
    private var earlier: [Owner: [Int64]] = [:]

    /// Adds a reading of the span, or beside it in a window that the span has a part of.
    mutating func add(_ instant: Int64, _ owner: Owner) { add(instant, instant, 1, owner) }

    /// Adds `readings` from `first` to `last`.
    mutating func add(_ first: Int64, _ last: Int64, _ readings: Int, _ owner: Owner) {
        stretches.append(Stretch(first: first, last: last, readings: Int32(clamping: readings), owner: owner))
    }

    /// Notes a reading before the span.
    mutating func noteBefore(_ time: Int64, _ owner: Owner) {
        if before.map({ $0.time < time }) ?? true { before = (time, owner) }
    }

    /// Notes a reading behind the span.
    mutating func noteBehind(_ time: Int64) { behind = min(behind ?? time, time) }

    /// Notes readings before the span, in order.
    mutating func noteEarlier(_ instants: [Int64], _ owner: Owner) {
        earlier[owner] = instants
        if let last = instants.last { noteBefore(last, owner) }
    }

    /// Brings what was added into order, and finds the rhythm of each series: its own, or that of the device where it
    /// has too few readings.
    mutating func settle() -> [Owner: SeriesRhythm] {
        if !zip(stretches, stretches.dropFirst()).allSatisfy({ $0.first <= $1.first }) {
            stretches.sort { ($0.first, $0.last) < ($1.first, $1.last) }
        }
        let owners = Set(stretches.map(\.owner)).union(earlier.keys)
        var rhythms = owners.reduce(into: [Owner: SeriesRhythm]()) { rhythms, owner in
            rhythms[owner] = rhythm(of: owner)
        }
        // With one series there is nothing more to be known.
        guard owners.count > 1, rhythms.count < owners.count, let shared = rhythm(of: nil) else { return rhythms }
        for owner in owners where rhythms[owner] == nil { rhythms[owner] = shared }
        return rhythms
    }

    /// The rhythm of the readings of `owner`, or of all.
    private func rhythm(of owner: Owner?) -> SeriesRhythm? {
        let distances = distances(of: owner, after: nil)
        guard distances.count < SeriesRhythm.fewest else { return SeriesRhythm(distances) }
        let known = owner.map { earlier[$0] ?? [] } ?? earlier.values.joined().sorted()
        let former = zip(known, known.dropFirst()).map { $1 - $0 }
        return SeriesRhythm(former + self.distances(of: owner, after: known.last))
    }

    /// How far readings are apart: within a stretch on average, else from the one before.
    private func distances(of owner: Owner?, after earlier: Int64?) -> [Int64] {
        var distances: [Int64] = []
        var former = earlier
        for stretch in stretches where owner == nil || stretch.owner == owner {
            if stretch.readings > 1, stretch.last > stretch.first {
                distances.append((stretch.last - stretch.first) / Int64(stretch.readings - 1))
            } else if let former, stretch.first > former {
                distances.append(stretch.first - former)
            }
            former = max(former ?? stretch.last, stretch.last)
        }
        return distances
    }

    /// Calls `body` with each gap that the rhythm of the series in front of it finds, and with that series; at the end,
    /// what is not there before `horizon`.
    func forEachGap(
        _ rhythms: [Owner: SeriesRhythm], until horizon: Int64, _ body: (RhythmGap, Owner) -> Void
    ) {
        var former = before
        for stretch in stretches {
            if let former, let gap = rhythms[former.owner]?.gap(from: former.time, to: stretch.first) {
                body(gap, former.owner)
            }
            if stretch.readings > 1,
                let gap = rhythms[stretch.owner]?.lack(
                    from: stretch.first, to: stretch.last, readings: Int64(stretch.readings))
            {
                body(gap, stretch.owner)
            }
            if former.map({ $0.time <= stretch.last }) ?? true { former = (stretch.last, stretch.owner) }
        }
        guard let former, let rhythm = rhythms[former.owner] else { return }
        if let behind {
            if let gap = rhythm.gap(from: former.time, to: behind) { body(gap, former.owner) }
        } else if let gap = rhythm.silence(after: former.time, until: horizon) {
            body(gap, former.owner)
        }
    }
}
