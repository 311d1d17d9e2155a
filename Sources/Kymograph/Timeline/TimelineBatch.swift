import GRDB
import KymographCore

/// Timelines of several devices at one moment. The journal, which has the open readings of all devices, is read once
/// for them.
struct TimelineBatch {
    /// What changes when a device's readings of a span do: while it is equal, so is what the store has of them.
    struct Mark: Hashable, Sendable {
        /// Windows, their readings, and how often they were written.
        var windows = 0
        var readings = 0
        var revisions = 0
        /// Readings of open windows.
        var open = 0
        /// The last reading, in nanoseconds since the epoch.
        var last = Int64.min
        /// What was counted in the hours of the span, such as rejections.
        var counted = 0

        /// Whether there is no reading of the span.
        var isEmpty: Bool { windows == 0 && open == 0 }
    }

    private let db: Database
    private let open: OpenReadings
    /// Those of the devices.
    private let series: [IdentifierText: [StoredSeries]]

    fileprivate init(_ db: Database, _ devices: Set<IdentifierText>) throws {
        let types = try StoredTypes.types(db)
        let all = try StoredSeries.read(devices: devices, subjects: nil, types: types, db)
        self.db = db
        series = Dictionary(grouping: all, by: \.device)
        open = try OpenReadings(db, types: types, of: Set(all.map(\.number)))
    }

    /// The timeline that `query` asks for, which is of one of the devices.
    func timeline(_ query: TimelineQuery) throws -> Timeline { try TimelineReader.read(db, query, open: open) }

    /// The mark of a device's readings from `from` on and before `to`.
    func mark(of device: IdentifierText, from: Instant, to: Instant) throws -> Mark {
        let (from, to) = (from.nanoseconds, to.nanoseconds)
        let series = series[device] ?? []
        var mark = Mark()
        try SeriesWindows(series).forEach("readings, revision, last", from: from, to: to, db) { row in
            mark.windows += 1
            mark.readings += row[0] as Int
            mark.revisions += row[1] as Int
            mark.last = max(mark.last, row[2])
        }
        for one in series {
            let instants = (open.instants[one.number] ?? []).filter { $0 >= from && $0 < to }
            mark.open += instants.count
            mark.last = max(mark.last, instants.max() ?? .min)
        }
        let tallied = TimelineReader.tallied(series, from: from, to: to)
        mark.counted = try Int.fetchOne(db, sql: "SELECT sum(count) FROM tally WHERE \(tallied)") ?? 0
        return mark
    }
}

extension StoreReader {
    /// What `body` makes of the timelines of `devices`, all of them at one moment.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    func withTimelines<Value>(
        of devices: Set<IdentifierText>, _ body: (TimelineBatch) throws -> Value
    ) throws(PipelineError) -> Value {
        try read { try body(TimelineBatch($0, devices)) }
    }
}
