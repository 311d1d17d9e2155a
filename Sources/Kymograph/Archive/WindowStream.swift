import GRDB
import KymographCore

/// The windows of some series, a few at a time, in rising ranks of an order.
enum WindowStream {
    /// Of one period, start after start.
    case slots(SlotStream)
    /// Of correlations, which have no starts: all at once.
    case correlations(CorrelationStream)
    /// Of any period, in the order of their last changes.
    case changes(ChangeStream)

    /// The least rank that what is still to come can have; nil when that is nothing.
    var frontier: Int64? {
        switch self {
        case .slots(let stream): stream.frontier
        case .correlations(let stream): stream.isLoaded ? nil : .min
        case .changes(let stream): stream.frontier
        }
    }

    /// The next few, perhaps none.
    ///
    /// - Throws: `DatabaseError`; ``WalkLimit`` when there are too many correlations.
    mutating func load(_ db: Database) throws -> [WindowHead] {
        switch self {
        case .slots(var stream):
            defer { self = .slots(stream) }
            return try stream.load(db)
        case .correlations(var stream):
            defer { self = .correlations(stream) }
            return try stream.load(db)
        case .changes(var stream):
            defer { self = .changes(stream) }
            return try stream.load(db)
        }
    }
}

/// There are more windows in no order than can be put into one.
struct WalkLimit: Error {
    /// Most correlations that are sorted.
    static let mostCorrelations = 100_000
}

/// Numbers of series, as a condition of a query.
struct SeriesNumbers {
    let all: Set<Int>
    /// SQL that follows AND. Nothing where they are too many for a list: what is found is looked at then.
    let condition: String

    /// Most numbers of a list.
    private static let mostListed = 500

    init(_ numbers: some Sequence<Int>) {
        all = Set(numbers)
        let list = all.sorted().map(String.init).joined(separator: ",")
        condition = all.count <= Self.mostListed ? "AND series IN (\(list))" : ""
    }

    /// The heads that `sql`, which may have ``condition``, finds of these series.
    ///
    /// - Throws: `DatabaseError`; ``WalkLimit`` when there are more than `most`.
    func heads(
        _ sql: String, _ arguments: StatementArguments, most: Int = .max, _ db: Database
    ) throws -> [WindowHead] {
        var found: [WindowHead] = []
        let rows = try Row.fetchCursor(db, sql: "SELECT \(WindowHead.columns) FROM window \(sql)", arguments: arguments)
        while let row = try rows.next() {
            let head = WindowHead(row)
            guard all.contains(head.series) else { continue }
            guard found.count < most else { throw WalkLimit() }
            found.append(head)
        }
        return found
    }
}

/// Windows of one period. Their starts are multiples of it, so that all readings of one start come before all of the
/// next; starts without windows are leapt over.
struct SlotStream {
    private let period: Int64
    private let numbers: SeriesNumbers
    private let order: WalkOrder
    /// The last start to look at.
    private let end: Int64
    /// The next one; nil behind ``end``.
    private var position: Int64?

    /// Windows of the series `numbers` that begin from `low` up to `high`.
    init(period: Int64, _ numbers: SeriesNumbers, _ order: WalkOrder, low: Int64, high: Int64) {
        (self.period, self.numbers, self.order) = (period, numbers, order)
        end = order.isDescending ? low : high
        position = low <= high ? (order.isDescending ? high : low) : nil
    }

    var frontier: Int64? {
        position.map { order.rank(order.isDescending ? $0.plus(period - 1) : $0) }
    }

    mutating func load(_ db: Database) throws -> [WindowHead] {
        guard let position else { return [] }
        let sql =
            order.isDescending
            ? "SELECT start FROM window WHERE start <= ? AND start >= ? ORDER BY start DESC LIMIT 1"
            : "SELECT start FROM window WHERE start >= ? AND start <= ? ORDER BY start LIMIT 1"
        guard let found = try Int64.fetchOne(db, sql: sql, arguments: [position, end]) else {
            self.position = nil
            return []
        }
        let rest = (found % period + period) % period
        guard rest == 0 else {
            // A start of another period: the next multiple of this one.
            go(to: order.isDescending ? found.minus(rest) : found.plus(period - rest))
            return []
        }
        go(to: order.isDescending ? found.minus(period) : found.plus(period))
        return try numbers.heads("WHERE start = ? \(numbers.condition)", [found], db)
    }

    private mutating func go(to start: Int64) {
        position = (order.isDescending ? start >= end : start <= end) ? start : nil
    }
}

/// Windows of correlations.
struct CorrelationStream {
    private let numbers: SeriesNumbers
    private let span: WalkSpan
    private(set) var isLoaded = false

    init(_ numbers: SeriesNumbers, _ span: WalkSpan) { (self.numbers, self.span) = (numbers, span) }

    mutating func load(_ db: Database) throws -> [WindowHead] {
        isLoaded = true
        return try numbers.heads(
            "WHERE start = 0 \(numbers.condition) AND last >= ? AND first <= ?", [span.from, span.to],
            most: WalkLimit.mostCorrelations, db)
    }
}

/// Windows in the order of their last changes: that of their numbers.
struct ChangeStream {
    private let numbers: SeriesNumbers
    private let order: WalkOrder
    /// The next number; nil at the end.
    private var position: Int64?

    /// Rows that are read at a time.
    private static let page = 500

    init(_ numbers: SeriesNumbers, _ order: WalkOrder, from position: Int64) {
        (self.numbers, self.order, self.position) = (numbers, order, position)
    }

    var frontier: Int64? { position.map(order.rank) }

    mutating func load(_ db: Database) throws -> [WindowHead] {
        guard let position else { return [] }
        let sql = order.isDescending ? "<= ? ORDER BY number DESC" : ">= ? ORDER BY number"
        let rows = try Row.fetchAll(
            db, sql: "SELECT \(WindowHead.columns) FROM window WHERE number \(sql) LIMIT \(Self.page)",
            arguments: [position])
        let heads = rows.map(WindowHead.init)
        self.position = heads.count < Self.page ? nil : heads.last.map { $0.number + (order.isDescending ? -1 : 1) }
        return heads.filter { numbers.all.contains($0.series) }
    }
}
