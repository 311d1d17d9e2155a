import KymographCore

/// What the overview shows: rates, the balance, and what needs attention, of one moment.
struct LiveSnapshot: Encodable, Sendable {
    /// Where readings end, since the start; `inFlight` is what is left.
    struct Balance: Encodable, Sendable {
        var received: Int
        var accepted: Int
        var duplicate: Int
        var conflict: Int
        var rejected: Int
        var inFlight: Int
        /// At least so many are unaccounted for; anything but 0 is a bug.
        var imbalance: Int
    }

    /// Rates are per second; counts are since the start.
    struct Source: Encodable, Sendable {
        var name: String
        var readings: Double
        var messages: Double
        var bytes: Double
        var received: Int
        var rejected: Int
        /// Datagrams that the kernel dropped.
        var dropped: Int
        /// Streams that are open; nil for a source that has none.
        var connections: Int?
        /// When it last brought something, in seconds since 1970; nil when it has not.
        var lastSeen: Double?
    }

    struct Sink: Encodable, Sendable {
        var name: String
        /// Whether it takes what there is.
        var isUp: Bool
        /// Entries a second that a server has stored; nil for others.
        var entries: Double?
        /// Rows of the outbox that it has not taken, and how old the oldest is, in seconds.
        var waiting: Int
        var oldestAge: Double?
        var delivered: Int?
        var undeliverable: Int?
        var circuit: String?
        /// Why it takes nothing, and since when.
        var trouble: String?
        var troubleSince: String?
    }

    /// Readings rejected for one reason since the start.
    struct Reason: Encodable, Sendable {
        var reason: String
        var count: Int
        var meaning: String
        /// Why, in plain words.
        var cause: String
        /// What can be done about them.
        var fate: Rejection.Fate
    }

    /// Windows since the start, and those that are open.
    struct Windows: Encodable, Sendable {
        var open: Int
        var written: Int
        var amended: Int
        /// Readings that came after the time of their window.
        var late: Int
        var observations: Int
    }

    /// What the store holds.
    struct Store: Encodable, Sendable {
        var usedBytes: Int
        var limitBytes: Int
        var windows: Int
        var outboxRows: Int
        var deadLetters: Int
        var quarantined: Int
        var lost: Int
        /// When it was counted, in seconds since 1970; nil before the first count.
        var counted: Double?
    }

    /// How much of the store was looked at for gaps.
    struct GapSearch: Encodable, Sendable {
        /// Devices that were looked at,
        var looked: Int
        /// of so many;
        var devices: Int
        /// and whether the store has more that are not looked at.
        var isCut: Bool
    }

    /// The sample of the same moment.
    var sample: LiveSample
    var version = KymographVersion.number
    var started: String
    /// Seconds after which a source that brings nothing needs attention; 0 for never.
    var silentAfter: Double
    /// Readings received a second.
    var rate: Double
    var balance: Balance
    var sources: [Source]
    var sinks: [Sink]
    var rejections: [Reason]
    /// Frames that bridges have numbered and that did not come, and datagrams that the kernel dropped.
    var missing: Int
    var windows: Windows
    var store: Store
    var attention: [Attention]
    var gapSearch: GapSearch
}

/// Totals of one moment, of which the console keeps those of the last minutes.
struct LiveSample: Encodable, Sendable {
    /// Counts upwards by one a second.
    var id: Int
    /// Seconds since 1970.
    var time: Double
    /// Since the start of the instance.
    var received: Int
    var accepted: Int
    var rejected: Int
    var late: Int

    /// Totals of `run`.
    init(_ id: Int, _ run: PipelineSummary, at time: Instant) {
        self.id = id
        self.time = Double(time.nanoseconds / 1_000_000) / 1_000
        (received, accepted, rejected, late) = (run.received, run.accepted, run.rejectedTotal, run.lateReadings)
    }
}
