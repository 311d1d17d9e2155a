import GRDB
import KymographCore

/// What the archive says of a closed window without its readings. Times are nanoseconds since the epoch.
struct WindowHead: Sendable {
    /// The store's number of the window, in the order of the last changes.
    let number: Int64
    /// The store's number of the series.
    let series: Int
    /// Start; that of correlation windows is the epoch.
    let start: Int64
    /// First and last reading.
    let first, last: Int64
    /// When it was written last.
    let modified: Int64
    /// How often it was written, from 1.
    let revision: Int

    /// What a query of `window` must select.
    static let columns = "number, series, start, first, last, modified, revision"

    init(_ row: Row) {
        (number, series, start, first, last) = (row[0], row[1], row[2], row[3], row[4])
        (modified, revision) = (row[5], row[6])
    }

    /// The window with its readings; nil when it has gone.
    func window(_ db: Database) throws -> ArchivedWindow? {
        try ArchivedWindow.read(ArchiveCursor(start: start, series: series), db)
    }

    /// That of the window of the series `number` that begins at `start`; nil when there is none.
    static func read(start: Int64, series: Int, _ db: Database) throws -> WindowHead? {
        try Row.fetchOne(
            db, sql: "SELECT \(columns) FROM window WHERE start = ? AND series = ?", arguments: [start, series]
        ).map(WindowHead.init)
    }
}
