/// Stands for "no window" where a 32-bit window index is stored.
let noWindow = UInt32.max

/// State of an open window.
struct WindowFlags: OptionSet, BitwiseCopyable {
    var rawValue: UInt16

    /// Holds readings of instance grouping, each of which is emitted by itself.
    static let carrier = WindowFlags(rawValue: 1)
    /// Is in the queue of due windows.
    static let queued = WindowFlags(rawValue: 2)
    /// Is complete as far as lateness or quiet tell: leaves memory once emitted.
    static let closing = WindowFlags(rawValue: 4)
    /// Has content that no `final` or `amended` emission has shown.
    static let dirty = WindowFlags(rawValue: 8)
    /// Was emitted as `final` or `amended` before.
    static let emitted = WindowFlags(rawValue: 16)
    /// Reached the next multiple of readings for a preliminary emission.
    static let preliminaryDue = WindowFlags(rawValue: 32)
    /// Is being encoded by the owner; any change takes this away.
    static let sending = WindowFlags(rawValue: 64)
    /// The archive's copy has the same content.
    static let stored = WindowFlags(rawValue: 128)
    /// Some reading has a block of its own.
    static let blocks = WindowFlags(rawValue: 256)
    /// Was opened by a late reading and waits for more until ``OpenWindow/heldUntil``.
    static let held = WindowFlags(rawValue: 512)
    /// Its older readings are in ``WindowTable/packs``.
    static let packed = WindowFlags(rawValue: 1_024)
    /// Some reading was received again since the archive's copy was made: receive times are no content, but decide
    /// later conflicts.
    static let restamped = WindowFlags(rawValue: 2_048)
}

/// State of one reading of a window, in ``StoredReading/mark``.
enum ReadingMark {
    /// Instance grouping: not yet emitted as it is now.
    static let unsent: UInt8 = 1
    /// Instance grouping: was emitted before.
    static let emitted: UInt8 = 2
    /// Of a record of the journal, where it is no state of a window's: it took the place of another reading, which was
    /// counted and kept as a dead letter then.
    static let supersedes: UInt8 = 1
    /// Of a record of the journal: the reading, which was there, has moved to another time, and the next record is what
    /// it became.
    static let moves: UInt8 = 2
    /// Of a record of the journal: a dead letter that was taken again. What is there was there after it.
    static let returned: UInt8 = 4
    /// Instance grouping: is being encoded by the owner; any change takes this away.
    static let sending: UInt8 = 4
    /// Its values were received at different times, which follow the payload.
    static let mixedReceipt: UInt8 = 8
    /// The upper four bits name the source, see ``ReadingSource``.
    static let source: UInt8 = 0xF0
}

/// One window in memory.
struct OpenWindow: BitwiseCopyable {
    /// What it covers.
    var span: WindowSpan
    /// Instant of its latest reading.
    var last = Instant.distantPast
    /// Receive-clock time until which it is ``WindowFlags/held``.
    var heldUntil = Instant.distantPast
    /// The journal's block that its first reading since it was opened is in; ``JournalWriter/noBlock`` when closed.
    var journal = JournalWriter.noBlock
    /// Readings that were there already, since it was opened.
    var duplicates: UInt32 = 0
    /// Readings whose values differed from what was there, since it was opened.
    var conflicts: UInt32 = 0
    /// Readings that added values to one that was there, since it was opened.
    var merged: UInt32 = 0
    /// Owner.
    var series: UInt32
    /// The next later window of the series.
    var newer = noWindow
    /// The next earlier window of the series; of a free record, the next free one.
    var older = noWindow
    /// First slot of its readings.
    var readings: UInt32
    /// Readings in use there.
    var count: UInt32 = 0
    /// Readings at which the next preliminary emission is due.
    var nextPreliminary: UInt32
    /// With ``WindowFlags/packed``: how many readings are packed; otherwise 0.
    var packedCount: UInt32 = 0
    /// With ``WindowFlags/packed``: which of ``WindowTable/packs`` has them.
    var pack: UInt32 = 0
    /// Of a ``WindowFlags/carrier``: readings with ``ReadingMark/unsent``. None of them is packed.
    var unsent: UInt32 = 0
    /// Of a ``WindowFlags/carrier``: no reading before this place of the run is unsent.
    var firstUnsent: UInt32 = 0
    /// Size class of the readings' block.
    var sizeClass: UInt8
    /// Who gets the Observations that have shown it since it was opened.
    var route = BundleRoute.none
    /// State.
    var flags: WindowFlags

    /// All its readings.
    @inline(__always)
    var total: Int { Int(count) + Int(packedCount) }

    /// The rest of its run that readings can go into which come behind all others of a series whose latest is at
    /// `newest`, without a look at the window; none where each reading needs one. At most `limit` readings are in a
    /// window.
    func runEnd(newest: Instant, limit: Int) -> RunEnd {
        guard count > 0, count < 1 &<< UInt32(sizeClass), flags.isDisjoint(with: [.carrier, .queued]), last <= newest
        else { return .none }
        // At what is due next, the window must be looked at.
        let most = nextPreliminary > count &+ packedCount ? min(limit, Int(nextPreliminary) - 1) : limit
        let room = min(1 &<< Int(sizeClass), most - Int(packedCount))
        guard Int(count) < room else { return .none }
        return RunEnd(through: span.through, slot: readings + count, end: readings + UInt32(room))
    }

    /// Counts the readings that have come into its run up to `slot`, the latest at `newest`.
    mutating func settle(_ slot: UInt32, newest: Instant) {
        guard slot != readings &+ count else { return }
        count = slot - readings
        last = newest
        flags.subtract([.sending, .stored])
        flags.insert(.dirty)
    }
}

/// The event time that a window covers, ends included, and the name under which it is archived.
struct WindowSpan: BitwiseCopyable {
    /// First instant.
    var start: Instant
    /// Last instant.
    var through: Instant
    /// Start in the archive; differs from `start` for correlation windows only, which cover all time.
    var key: Instant

    /// First instant after the window.
    var end: Instant { through.advanced(by: 1) }

    /// Whether `instant` is in the window.
    @inline(__always)
    func contains(_ instant: Instant) -> Bool {
        instant >= start && instant <= through
    }

    /// The whole of time.
    static let always = WindowSpan(start: .distantPast, through: .distantFuture, key: Instant(nanoseconds: 0))

    /// The UTC-aligned window of `period` nanoseconds around `instant`, held at the ends of the representable range.
    static func aligned(around instant: Instant, period: Int64) -> WindowSpan {
        let remainder = instant.nanoseconds % period
        let into = remainder < 0 ? remainder + period : remainder
        let start = instant.advanced(by: -into)
        return WindowSpan(start: start, through: instant.advanced(by: period - 1 - into), key: start)
    }
}
