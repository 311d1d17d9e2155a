import GRDB
import KymographCore

/// The row of the outbox that a window left with, and the names of the sinks that get it, each in a line.
struct WindowDeparture {
    var row: Int64
    var sinks: String

    /// With those of the sinks `former` of an earlier version, which left with `row`, that still wait for it. Others of
    /// them have that one, or were ended without it, and get no other.
    func keeping(_ former: String?, of row: Int64, _ db: Database) throws -> WindowDeparture {
        guard let former, former != sinks else { return self }
        let statement = try db.cachedStatement(sql: "SELECT name FROM sink WHERE through < ?")
        let waiting = try Set(String.fetchAll(statement, arguments: [row]))
        let own = sinks.split(separator: "\n").map(String.init)
        let kept = former.split(separator: "\n").map(String.init).compactMap { name -> String? in
            let isGivenUp = name.hasPrefix(OutboxRow.givenUp)
            guard !own.contains(isGivenUp ? String(name.dropFirst()) : name) else { return nil }
            return isGivenUp || waiting.contains(name) ? name : OutboxRow.givenUp + name
        }
        return WindowDeparture(row: self.row, sinks: OutboxRow.stored(own + kept))
    }
}

/// The rows that the windows of one unit left with: those of its blocks.
struct WindowDepartures {
    private let store: Store
    private let sinks: [String]
    private var rows: [BundleRoute: WindowDeparture] = [:]
    /// The newest row that was inserted.
    private var newest: Int64

    /// For a unit; `newest` is the last row before its blocks.
    init(_ store: Store, newest: Int64) {
        (self.store, self.newest) = (store, newest)
        sinks = store.sinks
    }

    /// Notes the row of a block.
    mutating func note(_ row: OutboxRow, of route: BundleRoute) {
        rows[route] = WindowDeparture(row: row.number, sinks: row.sinks ?? OutboxRow.stored(sinks))
        newest = row.number
    }

    /// What a window left with; nil when it gives no Observation, or they do not go through the outbox.
    func departure(of window: WindowFacts) -> WindowDeparture? {
        if !window.isCarrier, let own = rows[window.route] { return own }
        guard window.route != .none, !sinks.isEmpty else { return nil }
        // Its Observations left in this unit or before: none of them with a later row than the newest.
        return WindowDeparture(row: newest, sinks: store.names(of: window.route) ?? OutboxRow.stored(sinks))
    }
}
