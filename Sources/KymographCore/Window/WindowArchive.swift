/// Where closed windows go, so that late readings find the full content again.
///
/// A reading that is older than everything the archive remembers must not open an empty window: its partial content
/// would replace the full Observation. An archive that drops windows therefore remembers per series how far it did.
package protocol WindowArchive: ~Copyable {
    /// Whether it reads the facts that ``store(series:windowStart:facts:block:)`` and
    /// ``note(series:windowStart:facts:)`` give it; otherwise nobody works them out.
    static var readsFacts: Bool { get }

    /// Tells the archive what a series number stands for, before its first window; numbers do not outlive the process.
    mutating func introduce(series: Int, identity: SeriesIdentity)

    /// The number under which a journal knows `series`.
    func number(of series: Int) -> Int

    /// The series of `device` that earlier runs have introduced, as ``SeriesKey``s.
    mutating func series(ofDevice device: [UInt8]) -> [[UInt8]]

    /// Keeps `block` as the content of a window, in place of what it kept before.
    mutating func store(series: Int, windowStart: Instant, facts: WindowFacts, block: ByteView)

    /// Takes note of what happened to a window whose content is still what the archive keeps.
    mutating func note(series: Int, windowStart: Instant, facts: WindowFacts)

    /// Whether it can tell at which time a reading with an id is; otherwise the machine remembers all that it may have.
    static var keepsIds: Bool { get }

    /// Takes note of the readings with ids of the window that was stored last.
    mutating func name(_ readings: [NamedReading])

    /// The time of the reading of `series` called `id`, in a window that was stored.
    mutating func instant(of id: ByteView, series: Int) -> Instant?

    /// Whether it can tell that of all windows that were stored by now; it may have to wait for that.
    mutating func canTellIds() -> Bool

    /// Whether it remembers retractions; otherwise the machine remembers all.
    static var keepsRetractions: Bool { get }

    /// Whether it remembers any retraction.
    var hasRetractions: Bool { get }

    /// The retractions of `device` that it remembers.
    func retractions(ofDevice device: [UInt8]) -> [Retraction]

    /// Waits until it can tell all retractions that it was given.
    mutating func waitForRetractions()

    /// Keeps a rejected reading until the window at `windowStart`, which holds it, is stored.
    mutating func hold(_ rejection: KeptRejection, windowStart: Instant)

    /// Prefetches the memory that storing a window needs.
    func prefetch(series: Int, windowStart: Instant)

    /// Appends a window's block to `writer`, if the archive has it.
    mutating func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup

    /// What is stored from here on has all readings that come before `place` in the journal.
    mutating func journalReached(_ place: JournalPlace)

    /// Every Observation written so far has been handed over: windows stored from here on belong to later ones.
    mutating func blocksEnded()

    /// The latest start of the windows of `series` that the archive has dropped, or nil when it dropped none.
    func evictedThrough(series: Int) -> Instant?

    /// Bytes kept.
    var storedBytes: Int { get }

    /// Windows dropped so far.
    var evictedWindows: Int { get }
}

extension WindowArchive where Self: ~Copyable {
    /// It does.
    package static var readsFacts: Bool { true }

    /// It cannot.
    package static var keepsIds: Bool { false }

    /// Does nothing.
    package mutating func name(_ readings: [NamedReading]) {}

    /// It does not know.
    package mutating func instant(of id: ByteView, series: Int) -> Instant? { nil }

    /// It does not.
    package static var keepsRetractions: Bool { false }

    /// None.
    package var hasRetractions: Bool { false }

    /// None.
    package func retractions(ofDevice device: [UInt8]) -> [Retraction] { [] }

    /// It was given none.
    package mutating func waitForRetractions() {}

    /// Nobody needs it for that.
    package mutating func canTellIds() -> Bool { true }

    /// None: it remembers no earlier run.
    package mutating func series(ofDevice device: [UInt8]) -> [[UInt8]] { [] }

    /// The same number: there is no journal.
    package func number(of series: Int) -> Int { series }

    /// Does nothing.
    package mutating func note(series: Int, windowStart: Instant, facts: WindowFacts) {}

    /// Does nothing.
    package func prefetch(series: Int, windowStart: Instant) {}

    /// Does nothing.
    package mutating func hold(_ rejection: KeptRejection, windowStart: Instant) {}

    /// Does nothing.
    package mutating func journalReached(_ place: JournalPlace) {}

    /// Does nothing.
    package mutating func blocksEnded() {}
}

/// What an archive knows of a window.
package enum ArchiveLookup: Sendable {
    /// Its block has been appended.
    case found
    /// The archive never had it, or has dropped it.
    case absent
    /// The archive had it, and can no longer read it.
    case damaged
}
