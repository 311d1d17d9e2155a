import GRDB
import KymographCore

/// Nanoseconds since the epoch, both included.
struct WalkSpan: Sendable {
    var from = Int64.min
    var to = Int64.max
    /// Numbers of series for which ``to`` does not hold: their Observations may begin before their windows.
    var open: Set<Int> = []

    /// The end for the series of this number.
    func end(of series: Int) -> Int64 { open.contains(series) ? .max : to }
}

/// Goes through the Observations of some series in an exact order, whatever the periods of their windows, and reads no
/// more of the store than what it gives asks for.
///
/// Windows of one period are read start by start, and an Observation is given once no stream of windows can bring one
/// that comes before it. A window is written as Observations when its turn has come.
struct ArchiveWalk {
    /// What comes next.
    enum Step {
        /// A window: ``expand(_:_:)`` takes its Observations.
        case window(WindowHead)
        /// An Observation.
        case part(WalkQueue.Entry)
        /// A few windows were looked for.
        case looked
        /// There is nothing more.
        case end
    }

    /// Series that are read together.
    private struct SlotGroup: Hashable {
        var period: Int64?
        var isOpen: Bool
    }

    private let order: WalkOrder
    private let cursor: WalkPlace?
    private let instances: Set<Int>
    /// Length of windows by series; none of correlations.
    private let periods: [Int: Int64]
    private let span: WalkSpan
    private var streams: [WindowStream]
    private var queue = WalkQueue()
    private var given: WalkPlace?

    /// Goes through the windows of `series` that have a part in `span`, behind `cursor`.
    init(_ series: [StoredSeries], _ order: WalkOrder, _ span: WalkSpan, after cursor: WalkPlace?) {
        (self.order, self.cursor, self.span) = (order, cursor, span)
        instances = Set(series.filter { $0.grouping == .instance }.map(\.number))
        periods = series.reduce(into: [:]) { $0[$1.number] = $1.grouping.archivePeriod }
        switch order.key {
        case .change: streams = [Self.changes(series, order, cursor)]
        case .date: streams = Self.slots(series, order, span, cursor)
        }
    }

    private static func changes(_ series: [StoredSeries], _ order: WalkOrder, _ cursor: WalkPlace?) -> WindowStream {
        let start = cursor.map { order.number($0.rank) } ?? (order.isDescending ? .max : .min)
        return .changes(ChangeStream(SeriesNumbers(series.map(\.number)), order, from: start))
    }

    private static func slots(
        _ series: [StoredSeries], _ order: WalkOrder, _ span: WalkSpan, _ cursor: WalkPlace?
    ) -> [WindowStream] {
        let groups = Dictionary(grouping: series) { one in
            SlotGroup(period: one.grouping.archivePeriod, isOpen: span.open.contains(one.number))
        }
        return groups.map { group, members in
            let numbers = SeriesNumbers(members.map(\.number))
            var (from, to) = (span.from, group.isOpen ? .max : span.to)
            guard let period = group.period else {
                return .correlations(CorrelationStream(numbers, WalkSpan(from: from, to: to)))
            }
            if let cursor {
                let reached = order.number(cursor.rank)
                if order.isDescending { to = min(to, reached) } else { from = max(from, reached) }
            }
            return .slots(
                SlotStream(
                    period: period, numbers, order, low: from.start(of: period), high: to.start(of: period)))
        }
    }

    /// Takes a step, which may be to look at a few windows only.
    ///
    /// - Throws: `DatabaseError`; ``WalkLimit``.
    mutating func step(_ db: Database) throws -> Step {
        let next = streams.indices.filter { streams[$0].frontier != nil }
            .min { streams[$0].frontier ?? .max < streams[$1].frontier ?? .max }
        if let next, let frontier = streams[next].frontier, queue.first.map({ $0.place.rank >= frontier }) ?? true {
            for head in try streams[next].load(db) { add(head) }
            return .looked
        }
        guard let entry = queue.removeFirst() else { return .end }
        guard entry.resource != nil else { return .window(entry.head) }
        given = entry.place
        return .part(entry)
    }

    /// Takes the Observations of a window that ``step(_:)`` has given, each with its last reading.
    mutating func expand(_ head: WindowHead, _ parts: [ArchiveEncoder.Part]) {
        for (number, part) in parts.enumerated() {
            let place = WalkPlace(
                rank: rank(head, part.last.nanoseconds), start: head.start, series: Int64(head.series),
                part: Int64(number))
            if cursor.map({ place > $0 }) ?? true {
                queue.add(WalkQueue.Entry(place: place, head: head, resource: part.resource))
            }
        }
    }

    /// Everything up to this place was given, or passed over; nil when that is nothing.
    var reached: WalkPlace? {
        let ranks = streams.compactMap(\.frontier) + [queue.first?.place.rank].compactMap(\.self)
        let passed = ranks.min().map(WalkPlace.before)
        return [given, passed, cursor].compactMap(\.self).max()
    }

    /// Whether it has got beyond the place that it began at.
    var hasAdvanced: Bool { reached != cursor }

    /// Bytes of the Observations that wait for their turn.
    var queuedBytes: Int { queue.bytes }

    private mutating func add(_ head: WindowHead) {
        let period = periods[head.series]
        guard (period.map { head.start.plus($0) } ?? head.last) >= span.from,
            (period == nil ? head.first : head.start) <= span.end(of: head.series)
        else { return }
        // Of single readings the first may come long before the last.
        let first = instances.contains(head.series) && !order.isDescending ? head.first : head.last
        let place = WalkPlace(rank: rank(head, first), start: head.start, series: Int64(head.series), part: -1)
        if let cursor, end(of: head) < cursor { return }
        queue.add(WalkQueue.Entry(place: place, head: head))
    }

    /// Behind all Observations of a window.
    private func end(of head: WindowHead) -> WalkPlace {
        let last = instances.contains(head.series) && order.isDescending ? head.first : head.last
        return WalkPlace(rank: rank(head, last), start: head.start, series: Int64(head.series), part: .max)
    }

    /// The rank of an Observation whose last reading is at `instant`.
    private func rank(_ head: WindowHead, _ instant: Int64) -> Int64 {
        switch order.key {
        case .change: order.rank(head.number)
        case .date: order.rank(instances.contains(head.series) ? min(max(instant, head.first), head.last) : head.last)
        }
    }
}
