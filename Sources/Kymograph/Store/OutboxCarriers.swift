import GRDB
import KymographCore

/// The row of the outbox that a window left with, and the names of the sinks that get it, each in a line.
struct OutboxCarrier {
    var row: Int64
    var sinks: String

    /// With those of the sinks `former` of an earlier version, which left with `row`, that still wait for it, or were
    /// ended without it.
    func keeping(_ former: String?, of row: Int64, _ db: Database) throws -> OutboxCarrier {
        guard let former, former != sinks else { return self }
        let statement = try db.cachedStatement(sql: "SELECT name FROM sink WHERE through < ?")
        let waiting = try Set(String.fetchAll(statement, arguments: [row]))
        let own = sinks.split(separator: "\n").map(String.init)
        let kept = former.split(separator: "\n").map(String.init).filter { name in
            guard name.hasPrefix(OutboxRow.givenUp) else { return waiting.contains(name) && !own.contains(name) }
            return !own.contains(String(name.dropFirst()))
        }
        return OutboxCarrier(row: self.row, sinks: OutboxRow.stored(own + kept))
    }
}

/// What carries the Observations of the windows of a batch.
struct OutboxCarriers {
    private let store: Store
    private let sinks: [String]
    private var carriers: [BundleRoute: OutboxCarrier] = [:]
    /// The newest row that was inserted.
    private var newest: Int64

    /// For a batch; none of its bundles is inserted yet.
    init(_ store: Store) {
        self.store = store
        sinks = store.sinks
        newest = store.tail.newest
    }

    /// What is inserted from here on is of another unit.
    mutating func beginUnit() { carriers.removeAll(keepingCapacity: true) }

    /// Notes a bundle of the present unit.
    mutating func note(_ row: OutboxRow, of route: BundleRoute) {
        carriers[route] = OutboxCarrier(row: row.number, sinks: row.sinks ?? OutboxRow.stored(sinks))
        newest = row.number
    }

    /// What carries a window of the present unit; nil when it gives no Observation, or they do not go through the
    /// outbox.
    func carrier(of window: WindowFacts) -> OutboxCarrier? {
        if !window.isCarrier, let own = carriers[window.route] { return own }
        guard window.route != .none, !sinks.isEmpty else { return nil }
        // Its Observations left in this unit or before: none of them with a later row than the newest.
        let names = store.names(of: window.route) ?? OutboxRow.stored(sinks)
        return OutboxCarrier(row: newest, sinks: names)
    }
}
