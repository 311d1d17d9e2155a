import CSQLite
import GRDB
import KymographCore

/// A statement by SQLite's own interface, for what is done once a window: binding values and reading columns through
/// GRDB takes several times as long as SQLite itself.
///
/// For one thread at a time, the one that uses its connection.
@safe
struct WindowStatement: ~Copyable, @unchecked Sendable {
    private let statement: OpaquePointer
    private let connection: OpaquePointer

    /// Prepares `sql`, one statement, for `db`, on whose thread all else happens, or which nobody else uses.
    ///
    /// - Throws: `DatabaseError` when SQLite does not take it.
    init(_ sql: String, _ db: Database) throws {
        // Safe: the connection lives as long as the database. One that is closed first waits for its statements.
        guard let connection = unsafe db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        var prepared: OpaquePointer?
        // Safe: the text outlives the call.
        let code = unsafe sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let statement = unsafe prepared else {
            throw unsafe WindowStatement.lastError(of: connection)
        }
        unsafe (self.statement, self.connection) = (statement, connection)
    }

    deinit {
        // Safe: made by init, and finalised once.
        unsafe sqlite3_finalize(statement)
    }

    // MARK: Parameters, from 1

    /// Binds a number. Only a statement that was reset takes this.
    @inline(__always)
    func bind(_ number: Int64, to parameter: Int) {
        // Safe: the statement is there until deinit.
        let code = unsafe sqlite3_bind_int64(statement, Int32(parameter), number)
        precondition(code == SQLITE_OK)
    }

    /// Binds bytes, which must stay as they are until the statement has run.
    @inline(__always)
    func bind(_ bytes: ByteView, to parameter: Int) {
        let buffer = unsafe bytes.unsafeBuffer
        // Safe: the bytes outlive the run, as the caller says, and are bound anew before the next one.
        let code = unsafe sqlite3_bind_blob64(
            statement, Int32(parameter), buffer.baseAddress, UInt64(buffer.count), nil)
        precondition(code == SQLITE_OK)
    }

    /// Binds UTF-8, which must stay as it is until the statement has run.
    @inline(__always)
    func bind(text: ByteView, to parameter: Int) {
        let buffer = unsafe text.unsafeBuffer
        // Safe: as for bytes.
        let code = unsafe sqlite3_bind_text(
            statement, Int32(parameter), buffer.assumingMemoryBound(to: CChar.self).baseAddress, Int32(buffer.count),
            nil)
        precondition(code == SQLITE_OK)
    }

    /// Binds NULL.
    func unbind(_ parameter: Int) {
        // Safe: the statement is there until deinit.
        let code = unsafe sqlite3_bind_null(statement, Int32(parameter))
        precondition(code == SQLITE_OK)
    }

    // MARK: Running

    /// Runs it to its end, and resets it.
    ///
    /// - Throws: `DatabaseError` when SQLite fails.
    func run() throws { _ = try withRow { _ in } }

    /// Runs it up to its first row, which `body` reads, and resets it; nil when there is no row.
    ///
    /// - Throws: `DatabaseError` when SQLite fails.
    func withRow<Value>(_ body: (borrowing WindowStatement) -> Value) throws -> Value? {
        // Safe: the statement was reset.
        let code = unsafe sqlite3_step(statement)
        // Asked before anything else happens to the connection.
        let failure = unsafe code == SQLITE_ROW || code == SQLITE_DONE ? nil : WindowStatement.lastError(of: connection)
        defer { unsafe sqlite3_reset(statement) }
        if let failure { throw failure }
        return code == SQLITE_ROW ? body(self) : nil
    }

    /// What went wrong with the last call.
    private static func lastError(of connection: OpaquePointer) -> DatabaseError {
        // Safe: the connection is open, and the text is copied before it can change.
        let extended = unsafe sqlite3_extended_errcode(connection)
        let text = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: extended), message: text)
    }

    // MARK: Columns of a row, from 0

    /// A number; 0 for what is none.
    func number(_ column: Int) -> Int64 {
        // Safe: called while there is a row; SQLite takes any number of a column.
        unsafe sqlite3_column_int64(statement, Int32(column))
    }

    /// Bytes, valid until `body` of ``withRow(_:)`` returns.
    func bytes(_ column: Int) -> ByteView {
        // Safe: called while there is a row, and the bytes stay until it is left.
        guard let base = unsafe sqlite3_column_blob(statement, Int32(column)) else { return ByteView("") }
        let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
        return unsafe ByteView(base: base.assumingMemoryBound(to: UInt8.self), count: count)
    }
}
