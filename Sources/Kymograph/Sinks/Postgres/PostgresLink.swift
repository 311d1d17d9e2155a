import CPostgres
import Glibc
import KymographCore

/// A connection to PostgreSQL by libpq. Belongs to one thread, which waits for answers no longer than it is to.
@safe
final class PostgresLink {
    /// How long answers are waited for.
    struct Patience {
        /// Longest time of one answer, in milliseconds.
        var milliseconds: Int
        /// Whether nothing is to be waited for any more.
        var isStopped: @Sendable () -> Bool
        /// Whether nothing is but what may have been committed.
        var isCeasing: @Sendable () -> Bool = { false }
    }

    /// How often a wait looks whether it is to go on, in milliseconds.
    private static let interval = 50

    private let link: OpaquePointer
    private let patience: Patience
    private var (began, end) = (Instant.distantPast, Instant.distantFuture)
    private var isCommitting = false

    /// Why libpq cannot be used, if it cannot; loads it, if it was not before.
    static var loadingProblem: String? {
        // Safe: a C string that lives on.
        unsafe kymo_pg_load().map { unsafe String(cString: $0) }
    }

    /// libpq's version, such as `150012`; it must be loaded.
    static var libraryVersion: Int { Int(kymo_pg_version()) }

    /// Connects as `parameters` say, which are libpq's, within so many milliseconds.
    init(
        _ parameters: [(key: String, value: String)], connecting milliseconds: Int, _ patience: Patience
    ) throws(PostgresFault) {
        self.patience = patience
        unsafe link = try PostgresLink.start(parameters)
        var isWriting = true
        beginWait(milliseconds)
        while true {
            try wait(forWriting: isWriting)
            switch unsafe kymo_pg_poll(link) {
            case 1: isWriting = false
            case 2: isWriting = true
            case 3: return
            default: throw PostgresFault(connecting: problem)
            }
        }
    }

    deinit {
        // Safe: nobody uses it any more. What was not committed is undone by the server.
        unsafe kymo_pg_finish(link)
    }

    private static func start(_ parameters: [(key: String, value: String)]) throws(PostgresFault) -> OpaquePointer {
        // Safe: libpq copies the texts, which live until the call has returned; both lists end with null.
        let keys = unsafe parameters.map { unsafe strdup($0.key) } + [nil]
        let values = unsafe parameters.map { unsafe strdup($0.value) } + [nil]
        defer { unsafe (keys + values).forEach { unsafe free($0) } }
        let started = unsafe keys.map { unsafe UnsafePointer($0) }.withUnsafeBufferPointer { keys in
            unsafe values.map { unsafe UnsafePointer($0) }.withUnsafeBufferPointer { values in
                unsafe kymo_pg_start(keys.baseAddress, values.baseAddress)
            }
        }
        guard let started = unsafe started else { throw PostgresFault(.unreachable, "no memory for a connection") }
        return unsafe started
    }

    // MARK: Statements

    /// Does `statements`, and gives the rows of the last that has any.
    @discardableResult
    func run(_ statements: String) throws(PostgresFault) -> [[String?]] {
        try send(statements)
        return try results().rows
    }

    /// Does `statements`, the last of which is COMMIT. Whether it was done is unknown after a fault of another kind
    /// than ``PostgresFault/Kind/data``.
    func commit(_ statements: String) throws(PostgresFault) {
        isCommitting = true
        defer { isCommitting = false }
        try send(statements)
        let last = try results().done
        guard last == "COMMIT" else { throw PostgresFault(.unable, "the server has not committed, and says \(last)") }
    }

    /// Does `statement`, a COPY from here, with `bytes`.
    func copy(_ statement: String, _ bytes: ByteView) throws(PostgresFault) {
        try send(statement)
        guard try results(untilCopy: true).isCopy else { throw PostgresFault(.unfit, "the server takes no COPY") }
        var place = 0
        while place < bytes.count {
            let next = min(place + 65_536, bytes.count)
            // Safe: libpq copies the bytes, or takes none.
            let part = bytes[place..<next]
            try put { unsafe kymo_pg_put(link, part.unsafeBuffer.baseAddress, Int32(part.count)) }
            place = next
        }
        try put { unsafe kymo_pg_end_copy(link) }
        try flush()
        _ = try results()
    }

    private func put(_ body: () -> Int32) throws(PostgresFault) {
        beginWait()
        while true {
            switch body() {
            case 1: return
            case 0: try flush()
            default: throw lost
            }
        }
    }

    private func send(_ statements: String) throws(PostgresFault) {
        // Safe: Swift lends the text for the call.
        guard unsafe kymo_pg_send(link, statements) == 1 else { throw lost }
        beginWait()
        try flush()
    }

    /// Hands all to the system; what the server says meanwhile is read, or it might read no more.
    private func flush() throws(PostgresFault) {
        while true {
            switch unsafe kymo_pg_flush(link) {
            case 0: return
            case 1:
                try wait(forWriting: true)
                guard unsafe kymo_pg_consume(link) == 1 else { throw lost }
            default: throw lost
            }
        }
    }

    private struct Results {
        var rows: [[String?]] = []
        var done = ""
        var isCopy = false
    }

    /// Reads all results, and throws the first failure among them.
    private func results(untilCopy: Bool = false) throws(PostgresFault) -> Results {
        var (found, failure): (Results, PostgresFault?) = (Results(), nil)
        beginWait()
        while let result = unsafe try next() {
            defer { unsafe kymo_pg_clear(result) }
            switch unsafe kymo_pg_kind(result) {
            case KYMO_PG_ROWS: found.rows = unsafe PostgresLink.rows(result)
            case KYMO_PG_DONE: found.done = unsafe String(cString: kymo_pg_done(result))
            case KYMO_PG_COPY where untilCopy && failure == nil:
                found.isCopy = true
                return found
            case KYMO_PG_COPY: _ = unsafe kymo_pg_end_copy(link)
            default: failure = failure ?? (unsafe fault(result))
            }
            // Each statement has its time.
            beginWait()
        }
        if let failure { throw failure }
        return found
    }

    private func next() throws(PostgresFault) -> OpaquePointer? {
        while unsafe kymo_pg_is_busy(link) != 0 {
            try wait(forWriting: false)
            guard unsafe kymo_pg_consume(link) == 1 else { throw lost }
        }
        return unsafe kymo_pg_next(link)
    }

    private static func rows(_ result: OpaquePointer) -> [[String?]] {
        unsafe (0..<kymo_pg_rows(result)).map { row in
            unsafe (0..<kymo_pg_columns(result)).map { column in
                // Safe: the value lives until the result is cleared.
                unsafe kymo_pg_value(result, row, column).map { unsafe String(cString: $0) }
            }
        }
    }

    // MARK: Faults

    private func fault(_ result: OpaquePointer) -> PostgresFault {
        // Safe: the texts live until the result is cleared.
        guard let state = unsafe kymo_pg_state(result), unsafe kymo_pg_is_up(link) == 1 else { return lost }
        let message = unsafe kymo_pg_message(result).map { unsafe String(cString: $0) } ?? ""
        return unsafe PostgresFault(state: String(cString: state), saying: message)
    }

    /// That there is no connection any more.
    private var lost: PostgresFault { PostgresFault(connecting: problem) }

    // Safe: libpq's text lives until the next call, and is copied.
    private var problem: String { unsafe String(cString: kymo_pg_problem(link)) }

    // MARK: Waiting

    private func beginWait(_ milliseconds: Int? = nil) {
        let length = Int64(milliseconds ?? patience.milliseconds)
        (began, end) = (elapsed, elapsed.advanced(by: length * 1_000_000))
    }

    private var elapsed: Instant { DeliveryClock.system.elapsed() }

    private func wait(forWriting: Bool) throws(PostgresFault) {
        let socket = unsafe kymo_pg_socket(link)
        guard socket >= 0 else { throw lost }
        while true {
            let isOver = patience.isStopped() || !isCommitting && patience.isCeasing()
            if isOver { throw PostgresFault(.stopped, "the sink ends") }
            var asked = pollfd(fd: socket, events: Int16(POLLIN | (forWriting ? POLLOUT : 0)), revents: 0)
            // Safe: one struct, which is ours.
            if unsafe poll(&asked, 1, Int32(PostgresLink.interval)) > 0 { return }
            guard elapsed < end else {
                let length = (end.nanoseconds - began.nanoseconds) / 1_000_000
                throw PostgresFault(.unreachable, "no answer within \(length) ms")
            }
        }
    }
}
