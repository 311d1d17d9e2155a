import GRDB
import KymographCore

/// Finds the windows of some series, and leaves those of other devices alone. The one index of windows is by start, and
/// by series within it.
///
/// Starts are multiples of a type's period: each start of the span is looked up for each series. Where all devices
/// together have fewer windows in the span than that would be, these are walked. The window of a correlation is kept
/// under the epoch, and looked up there.
struct SeriesWindows {
    private struct Group {
        /// Nanoseconds; nil of correlations, which have no starts.
        var period: Int64?
        var numbers: [Int]

        var list: String { numbers.map(String.init).joined(separator: ",") }
    }

    private let groups: [Group]

    init(_ series: [StoredSeries]) {
        groups = Dictionary(grouping: series, by: { $0.grouping.archivePeriod }).map { period, members in
            Group(period: period, numbers: members.map(\.number).sorted())
        }.sorted { $0.numbers[0] < $1.numbers[0] }
    }

    /// Hands the rows `columns` of the windows with readings from `from` on and before `to`, nanoseconds since the
    /// epoch, to `body`: of one series in the order of their starts, `limit` at most.
    func forEach(
        _ columns: String, from: Int64, to: Int64, limit: Int? = nil, _ db: Database, _ body: (Row) throws -> Void
    ) throws {
        for group in groups {
            var sql = try sql(columns, of: group, from: from, to: to, db) + " AND last >= \(from) AND first < \(to)"
            if let limit { sql += " LIMIT \(limit)" }
            let rows = try Row.fetchCursor(db, sql: sql)
            while let row = try rows.next() { try body(row) }
        }
    }

    /// What ``forEach(_:from:to:limit:_:_:)`` asks of the database, for each kind of window.
    func queries(from: Int64, to: Int64, _ db: Database) throws -> [String] {
        try groups.map { try sql("series", of: $0, from: from, to: to, db) }
    }

    private func sql(
        _ columns: String, of group: Group, from: Int64, to: Int64, _ db: Database
    ) throws -> String {
        guard let period = group.period else {
            return "SELECT \(columns) FROM window WHERE window.start = 0 AND series IN (\(group.list))"
        }
        let first = from.start(of: period)
        let lookups = max(0, (to - first) / period + 1).multipliedReportingOverflow(by: Int64(group.numbers.count))
        let most = lookups.overflow ? .max : lookups.partialValue
        let walk = "SELECT \(columns) FROM window WHERE window.start >= \(first) AND window.start < \(to)"
        guard try Self.hasMore(than: most / Self.lookup, from: first, to: to, db) else {
            return "\(walk) AND series IN (\(group.list))"
        }
        return """
            WITH RECURSIVE place(at) AS (SELECT \(first) UNION ALL SELECT at + \(period) FROM place
                WHERE at + \(period) < \(to))
            SELECT \(columns) FROM place CROSS JOIN window
            ON window.start = place.at AND window.series IN (\(group.list))
            """
    }

    /// About how many entries of the index are walked in the time of one that is looked up.
    private static let lookup: Int64 = 4

    /// Whether there are more than `count` windows that start from `from` on and before `to`; looks at no more.
    private static func hasMore(than count: Int64, from: Int64, to: Int64, _ db: Database) throws -> Bool {
        let found = try Int64.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM (SELECT 1 FROM window INDEXED BY window_name
                    WHERE start >= ? AND start < ? LIMIT ?)
                """, arguments: [from, to, count &+ 1 < 0 ? .max : count + 1])
        return found ?? 0 > count
    }

    /// The last `limit` windows of each series with readings before `time` and none later, which begin at `earliest` or
    /// later; none of correlations. They begin at `latest` or before, by default that of `time`.
    func last(
        _ limit: Int, _ columns: String, before time: Int64, startingAt latest: Int64? = nil, since earliest: Int64,
        _ db: Database
    ) throws -> [Row] {
        // Nothing is looked for where the store has nothing yet.
        let oldest = try Int64.fetchOne(
            db, sql: "SELECT start FROM window WHERE start >= ? ORDER BY start LIMIT 1", arguments: [earliest])
        guard let oldest else { return [] }
        return try single.flatMap { number, period in
            try Row.fetchAll(
                db,
                sql: """
                    WITH RECURSIVE place(at) AS (SELECT \((latest ?? time).start(of: period)) UNION ALL
                        SELECT at - \(period) FROM place WHERE at - \(period) >= \(oldest))
                    SELECT \(columns) FROM place CROSS JOIN window
                    ON window.start = place.at AND window.series = \(number) WHERE last < \(time) LIMIT \(limit)
                    """)
        }
    }

    /// The first window of each series with readings at `time` or later and none before, of those that begin before
    /// `latest`; none of correlations.
    func first(_ columns: String, from time: Int64, until latest: Int64, _ db: Database) throws -> [Row] {
        try single.flatMap { number, period in
            try Row.fetchAll(
                db,
                sql: """
                    WITH RECURSIVE place(at) AS (SELECT \(time.start(of: period)) UNION ALL
                        SELECT at + \(period) FROM place WHERE at + \(period) < \(latest))
                    SELECT \(columns) FROM place CROSS JOIN window
                    ON window.start = place.at AND window.series = \(number) WHERE first >= \(time) LIMIT 1
                    """)
        }
    }

    /// Series whose windows have starts, each with its period.
    private var single: [(number: Int, period: Int64)] {
        groups.flatMap { group in group.period.map { period in group.numbers.map { ($0, period) } } ?? [] }
    }
}

extension Grouping {
    /// Nanoseconds between the starts under which the archive keeps windows; nil where it keeps all under the epoch.
    var archivePeriod: Int64? {
        guard self != .correlation else { return nil }
        return -archiveStart(around: Instant(nanoseconds: -1)).nanoseconds
    }
}

extension Int64 {
    /// The multiple of `period` at this time or before; the earliest time where there is none.
    func start(of period: Int64) -> Int64 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: period)
        let (start, isBefore) = (rest < 0 ? quotient - 1 : quotient).multipliedReportingOverflow(by: period)
        return isBefore ? .min : start
    }
}
