/// Stands for "no window" where a 32-bit window index is stored.
let noWindow = UInt32.max

/// One window in memory: what it covers, where its readings are, and how far it has come.
struct OpenWindow: BitwiseCopyable {
    /// How far a window has come to its end.
    enum Phase: BitwiseCopyable {
        /// Takes readings until its series' event time, or silence, closes it.
        case open
        /// Was opened by a late reading, and waits for more of them until this receive-clock time.
        case held(until: Instant)
        /// Is complete as far as lateness or quiet tell: leaves memory once emitted.
        case closing
    }

    /// What of a window's content a `final` or `amended` emission has shown.
    enum Content: BitwiseCopyable {
        /// All of it, or there is nothing to show. Always of carriers, whose readings are emitted one by one.
        case shown
        /// Not all of it.
        case changed
        /// Not all of it, and the owner is encoding it as it is now.
        case sending
    }

    /// What of a window was emitted.
    enum Shown: UInt8, BitwiseCopyable {
        case nothing
        /// It may have been, and as `preliminary` alone.
        case preliminary
        /// As `final` or `amended`.
        case whole
        /// Nothing: rules have kept all its versions, a `final` one at least, from every sink.
        case unshown
    }

    /// What the archive has of a window.
    enum ArchiveCopy: BitwiseCopyable {
        /// Nothing, or other content.
        case other
        /// The same content, with receive times from before some reading came again: they are no content, but decide
        /// later conflicts.
        case olderReceipts
        /// The same.
        case same
    }

    /// What it covers.
    var span: WindowSpan
    /// Instant of its latest reading.
    var last = Instant.distantPast
    /// The journal's block that its first reading since it was opened is in; ``JournalWriter/noBlock`` when closed.
    var journal: Int64
    private(set) var phase = Phase.open
    private(set) var content = Content.shown
    private(set) var archiveCopy: ArchiveCopy
    /// Whether it is in the queue of due windows.
    private(set) var isQueued = false
    /// Whether it has enough readings for the next preliminary emission.
    private(set) var isPreliminaryDue = false
    /// Whether it holds readings of instance grouping, each of which is emitted by itself.
    let isCarrier: Bool
    /// How it was emitted before.
    private var shown: Shown
    /// Whether an earlier run may have sent of it what the archive does not know: it was opened for that run's journal.
    private(set) var isInDoubt = false
    /// Whether some reading may have a block of its own.
    var hasBlocks = false
    /// Size class of the readings' block.
    var sizeClass: UInt8
    /// Who gets the Observations that have shown it since it was opened.
    private(set) var route = BundleRoute.none
    /// Readings that were there already, since it was opened.
    var duplicates: UInt32 = 0
    /// Readings whose values differed from what was there, since it was opened.
    var conflicts: UInt32 = 0
    /// Readings that added values to one that was there, since it was opened.
    var merged: UInt32 = 0
    /// Owner.
    let series: UInt32
    /// The next later window of the series.
    var newer = noWindow
    /// The next earlier window of the series; of a free record, the next free one.
    var older = noWindow
    /// First slot of its readings.
    var readings: UInt32
    /// Readings in use there.
    var count: UInt32 = 0
    /// Readings at which the next preliminary emission is due.
    private var nextPreliminary: UInt32
    /// Which of the packs has its older readings; ``noPack`` when none are packed.
    var pack = noPack
    /// How many readings are packed.
    var packedCount: UInt32 = 0
    /// Of a carrier: readings with ``ReadingMark/unsent``. None of them is packed.
    private(set) var unsent: UInt32 = 0
    /// Of a carrier: no reading before this place of the run is unsent.
    private(set) var firstUnsent: UInt32 = 0

    /// Stands for "nothing is packed".
    static var noPack: UInt32 { .max }

    /// An empty window that opens in block `journal` of the journal, with a run of `sizeClass` at slot `readings`.
    /// `isStored` when the archive has it and it was emitted; a preliminary emission is due at each multiple of
    /// `preliminaryEvery` readings, with 0 never.
    init(
        span: WindowSpan, series: Int, isCarrier: Bool, isStored: Bool, readings: Int, sizeClass: Int, journal: Int64,
        preliminaryEvery: Int
    ) {
        self.span = span
        self.series = UInt32(series)
        self.isCarrier = isCarrier
        archiveCopy = isStored ? .same : .other
        shown = isStored ? .whole : .nothing
        self.readings = UInt32(readings)
        self.sizeClass = UInt8(sizeClass)
        self.journal = journal
        let hasPreliminary = preliminaryEvery > 0 && !isCarrier && !isStored
        nextPreliminary = hasPreliminary ? UInt32(clamping: preliminaryEvery) : .max
    }

    /// All its readings.
    @inline(__always)
    var total: Int { Int(count) + Int(packedCount) }

    /// Whether its older readings are packed.
    @inline(__always)
    var isPacked: Bool { pack != OpenWindow.noPack }

    /// Whether its run has no room for another reading.
    @inline(__always)
    var isFull: Bool { count == 1 &<< UInt32(sizeClass) }
}

// MARK: Content

extension OpenWindow {
    /// Notes that its content is another than before.
    @inline(__always)
    mutating func change() {
        archiveCopy = .other
        if !isCarrier { content = .changed }
    }

    /// Whether it was emitted as `final` or `amended` before.
    private var wasEmitted: Bool { shown == .whole || shown == .unshown }

    /// Notes that a reading has gone. An empty window that nobody has seen is nothing to show.
    mutating func changeByRemoval() {
        archiveCopy = .other
        if !isCarrier { content = total > 0 || mayHaveBeenSeen ? .changed : .shown }
    }

    /// Whether any emission, if only a preliminary one, may have shown it. What an earlier run has sent of a window
    /// that was opened for its journal is not known; of a carrier, the readings say that themselves.
    var mayHaveBeenSeen: Bool { shown == .preliminary || shown == .whole || isInDoubt && !isCarrier }

    /// Whether what it emits next may have been shown before, other than as the status of that says: of a single
    /// reading, that others of its carrier were says nothing.
    @inline(__always)
    var mayHaveShownBefore: Bool { isCarrier ? isInDoubt : mayHaveBeenSeen }

    /// Whether rules have kept all its versions from every sink, or it has none and no readings, so that no sink has to
    /// hear that it was an error. Of a carrier, its readings say that, by ``ReadingMark/emitted``.
    var isUnshown: Bool { shown == .unshown || !isCarrier && total == 0 && !mayHaveBeenSeen }

    /// Notes that it was restored as one of which the archive says that.
    mutating func noteUnshown() { if !isCarrier { shown = total > 0 ? .unshown : .nothing } }

    /// Notes that it was opened for the journal of an earlier run.
    mutating func noteDoubt() { isInDoubt = true }

    /// Notes that an earlier run may have shown it, which it loses a reading of now.
    mutating func noteMayHaveBeenSeen() {
        noteSeen()
        if !isCarrier { content = .changed }
    }

    /// Notes that it may have been shown, if only as preliminary.
    private mutating func noteSeen() {
        switch shown {
        case .nothing: shown = .preliminary
        case .unshown: shown = .whole
        case .preliminary, .whole: break
        }
    }

    /// Notes that a reading was received at another time than before.
    @inline(__always)
    mutating func restamp() {
        if case .same = archiveCopy { archiveCopy = .olderReceipts }
    }

    /// Counts what became of a reading that was merged with one that was there.
    mutating func count(_ outcome: ReadingOutcome) {
        switch outcome {
        case .duplicate: duplicates &+= 1
        case .accepted: merged &+= 1
        // Whoever added the reading rejects the one of which nothing, or not all, is left.
        case .conflict, .replaced, .rejected: break
        }
    }

    /// Notes that the reading at `place` of the run is to be sent, which it was not.
    mutating func noteUnsent(_ place: Int) {
        firstUnsent = unsent == 0 ? UInt32(place) : min(firstUnsent, UInt32(place))
        unsent += 1
    }

    /// Notes that the reading at `place` of the run, which has gone, is not to be sent.
    mutating func forgetUnsent(_ place: Int, wasUnsent: Bool) {
        if wasUnsent { unsent -= 1 }
        if place < Int(firstUnsent) { firstUnsent -= 1 }
    }

    /// Notes that no reading before `place` of the run is unsent.
    mutating func passSent(to place: Int) { firstUnsent = UInt32(place) }

    /// Notes that a reading was sent, or kept from all sinks.
    mutating func noteSent() {
        unsent -= 1
        // Those of an earlier run's journal are the first to leave.
        if unsent == 0 { isInDoubt = false }
    }

    /// Notes who gets an Observation that shows it, or one of its readings: those of a carrier may be for different
    /// sinks; of another window, the last Observation counts.
    mutating func leaves(by route: BundleRoute) {
        if isCarrier { self.route.formUnion(route) } else { self.route = route }
    }
}

// MARK: What is due

extension OpenWindow {
    /// What is to be done with a window.
    enum Due: Equatable {
        case nothing
        /// One of its readings is to be emitted.
        case reading
        /// It is to be emitted with this status.
        case emission(ObservationStatus)
        /// It has nothing more to show: its content goes to the archive and it leaves memory.
        case retirement
    }

    /// What is to be done with it now.
    var due: Due {
        if unsent > 0 { return .reading }
        if isClosing {
            guard content != .shown else { return .retirement }
            return .emission(total == 0 ? .enteredInError : wasEmitted ? .amended : .final)
        }
        return isPreliminaryDue && total > 0 ? .emission(.preliminary) : .nothing
    }

    /// Whether it belongs into the queue.
    @inline(__always)
    var isDue: Bool { unsent > 0 || isPreliminaryDue || isClosing }

    @inline(__always)
    var isClosing: Bool { if case .closing = phase { true } else { false } }

    @inline(__always)
    var isHeld: Bool { if case .held = phase { true } else { false } }

    /// Waits for more late readings until `time` of the receive clock.
    mutating func hold(until time: Instant) { phase = .held(until: time) }

    /// Waits no longer.
    mutating func close() { phase = .closing }

    /// Enters the queue; false when it is there.
    @inline(__always)
    mutating func enqueue() -> Bool {
        defer { isQueued = true }
        return !isQueued
    }

    /// Leaves the queue, where there was nothing to show.
    mutating func dequeue() { (isQueued, isPreliminaryDue) = (false, false) }

    /// Notes that it has a reading more, with which a preliminary emission may become due.
    @inline(__always)
    mutating func noteGrowth(preliminaryEvery: Int) {
        guard total == Int(nextPreliminary) else { return }
        nextPreliminary = UInt32(clamping: Int(nextPreliminary) + preliminaryEvery)
        isPreliminaryDue = true
    }

    /// Notes that the owner begins to encode it.
    mutating func beginEmission() {
        if content == .changed { content = .sending }
    }

    /// Notes that the owner has encoded it with `status`, or that rules keep that from all sinks (`isVetoed`), which
    /// shows nothing. What has changed since is due again.
    mutating func settleEmission(_ status: ObservationStatus, isVetoed: Bool = false) {
        let isShown = !isVetoed || isInDoubt
        guard status != .preliminary else {
            if isShown { noteSeen() }
            isPreliminaryDue = false
            return
        }
        shown = isShown || mayHaveBeenSeen ? .whole : .unshown
        if content == .sending { content = .shown }
    }
}

// MARK: The run's end

extension OpenWindow {
    /// The rest of its run that readings can go into which come behind all others of a series whose latest is at
    /// `newest`, without a look at the window; none where each reading needs one. At most `limit` readings are in a
    /// window.
    func runEnd(newest: Instant, limit: Int) -> RunEnd {
        guard count > 0, !isFull, !isCarrier, !isQueued, last <= newest else { return .none }
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
        change()
    }
}
