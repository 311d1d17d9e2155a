public import KymographCore

/// How delivery to a server stands.
public struct DeliveryStatus: Hashable, Sendable {
    /// Whether the server is asked.
    public enum Circuit: String, Hashable, Sendable {
        /// It has not been asked yet what it can do.
        case probing
        /// It is sent what there is.
        case closed
        /// Several requests in a row have failed: it is left alone for a while.
        case open
        /// One request finds out whether it answers again.
        case halfOpen
        /// It cannot take what there is; it is asked again now and then. ``DeliveryStatus/verdict`` says why.
        case refused
    }

    /// The server.
    public var base = ""
    /// What the server can do and what is done with it, or why nothing is.
    public var verdict = ""
    /// Whether the server is asked.
    public var circuit = Circuit.probing
    /// Requests under way.
    public var inFlight = 0
    /// Requests that may be under way now.
    public var concurrency = 0
    /// Rows in memory that are not done.
    public var rows = 0
    /// Entries in memory that are not done.
    public var waiting = 0
    /// Entries that the server has stored, in this run; Patients and Devices included.
    public var delivered = 0
    /// Entries that the server will not take, in this run, by reason.
    public var undeliverableReasons = ReasonCounts()
    /// All of them.
    public var undeliverable: Int { undeliverableReasons.total }
    /// Attempts after the first of their request, in this run.
    public var retries = 0
    /// What went wrong last, empty when nothing did; never with secrets.
    public var lastError = ""
    /// When that was.
    public var lastErrorTime: Instant?
    /// When something is sent next, if nothing is under way and something waits.
    public var nextAttempt: Instant?
    /// How long the oldest row in memory has been there, in nanoseconds.
    public var oldestRowAge: Int64?
    /// Devices, with what their readings name, whose ids the server was asked for and that are remembered.
    public var lookups = 0
    /// How long ago the oldest of these answers was given, in nanoseconds; nil when there is none.
    public var oldestLookupAge: Int64?
    /// The last row that is done with all before it.
    public var settledThrough: Int64 = 0

    /// Nothing yet.
    public init() {}
}
