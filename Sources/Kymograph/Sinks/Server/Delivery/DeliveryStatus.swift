package import KymographCore

/// How delivery to a server stands.
package struct DeliveryStatus: Hashable, Sendable {
    /// Whether the server is asked.
    package enum Circuit: String, Hashable, Sendable {
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
    package var base = ""
    /// What the server can do and what is done with it, or why nothing is.
    package var verdict = ""
    /// Whether the server is asked.
    package var circuit = Circuit.probing
    /// Requests under way.
    package var inFlight = 0
    /// Requests that may be under way now.
    package var concurrency = 0
    /// Rows in memory that are not done.
    package var rows = 0
    /// Entries in memory that are not done.
    package var waiting = 0
    /// Entries that the server has stored, in this run; Patients and Devices included.
    package var delivered = 0
    /// Entries whose resources it has deleted, in this run.
    package var deleted = 0
    /// Entries that the server will not take, in this run, by reason.
    package var undeliverableReasons = ReasonCounts()
    /// All of them.
    package var undeliverable: Int { undeliverableReasons.total }
    /// Attempts after the first of their request, in this run.
    package var retries = 0
    /// What was asked, and how it was answered, in this run.
    package var traffic = SinkTraffic()
    /// Whether a server that gets nothing has answered as it does where nothing is wrong.
    package var hasAnswered = false
    /// Times from the making of entries to when the server had them: of each row the oldest.
    package var deliveryTimes = DurationCounts()
    /// What went wrong last, empty when nothing did; never with secrets.
    package var lastError = ""
    /// When that was.
    package var lastErrorTime: Instant?
    /// Why it takes nothing at present, if that has lasted or will not pass by itself.
    package var trouble: DeliveryTrouble?
    /// When something is sent next, if nothing is under way and something waits.
    package var nextAttempt: Instant?
    /// How long the oldest row in memory has been there, in nanoseconds.
    package var oldestRowAge: Int64?
    /// Devices, with what their readings name, whose ids the server was asked for and that are remembered.
    package var lookups = 0
    /// How long ago the oldest of these answers was given, in nanoseconds; nil when there is none.
    package var oldestLookupAge: Int64?
    /// The last row that is done with all before it.
    package var settledThrough: Int64 = 0

    /// Nothing yet.
    package init() {}
}

extension DeliveryStatus {
    /// How the rows of a sink and the requests of its server stand; something is done next at `nextWake`.
    init(_ channel: ServerChannel, _ rows: OutboxConsumer, clock: DeliveryClock, nextWake: Instant?) {
        let now = clock.elapsed()
        circuit = Circuit(channel.circuit.state)
        inFlight = channel.inFlight
        concurrency = channel.limit.count
        self.rows = rows.count
        waiting = rows.openEntries
        (delivered, deleted) = (rows.delivered, rows.deleted)
        undeliverableReasons = ReasonCounts(rows.undeliverable)
        retries = channel.retries
        traffic = channel.traffic
        deliveryTimes = rows.deliveryTimes
        lastError = channel.lastError?.text ?? ""
        lastErrorTime = channel.lastError?.time
        trouble = channel.trouble
        oldestRowAge = rows.oldest.map { now.nanoseconds - $0.nanoseconds }
        if channel.inFlight == 0, let nextWake {
            nextAttempt = clock.civil().advanced(by: max(0, nextWake.nanoseconds - now.nanoseconds))
        }
        settledThrough = rows.settledThrough
    }
}

extension DeliveryStatus.Circuit {
    fileprivate init(_ state: Kymograph.Circuit.State) {
        self =
            switch state {
            case .closed: .closed
            case .open: .open
            case .halfOpen: .halfOpen
            }
    }
}
