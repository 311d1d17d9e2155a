/// What a lane tells its owner. Called per batch and per rejected reading; per good one only while a tap is open.
package protocol LaneEvents: AnyObject {
    /// A reading of `source` was rejected, received at `received` by the wall clock; others of its payload are stamped
    /// `lead` nanoseconds later.
    func rejected(
        _ reason: Rejection, bytes: ByteView, source: Int, received: Instant, lead: Int64, detail: RejectionDetail)
    /// `count` readings of `source` were received since the last time; rejected ones are among them.
    func received(_ count: Int, source: Int)
    /// Something happened to readings of `source` since the last time that their owner should know.
    func noted(_ notes: MappingNotes, source: Int)
    /// Numbers of a bridge's frames to `source` were passed over since the last time, or have come late.
    func missed(_ gaps: [FrameGap], source: Int)
    /// `count` readings were put into rings since the last time.
    func routed(_ count: Int)
    /// Nanoseconds by which readings received at `received`, by the wall clock, are to be stamped later, so that what
    /// comes later never has an earlier receive time. Asked once for all that came at the same time.
    func lead(at received: Instant) -> Int64
    /// As ``lead(at:)``, for a document that has retractions: later than all that came before, also at the same time,
    /// and earlier than all that comes behind. Of a retraction it is known what came before it, and with it.
    func ownLead(at received: Instant) -> Int64
    /// Where the readings of each template of `set` are counted from here on, by the template's number.
    func readingCounts(for set: MappingSet) -> SharedCounts
    /// The lane has met others than at the last time, or goes by other limits.
    func met(_ introductions: Introductions)
    /// The ring to `shard` has something new.
    func wake(shard: Int)
    /// The ring to `shard` is full and everything in it is published: block until it may have room. False when the
    /// pipeline is being ended by force and the reading must be given up.
    func waitForRoom(shard: Int) -> Bool
    /// The reading that is rejected next, for `reason`, is rejected by the rule called `rule`; `detail` says why.
    func ruled(_ reason: Rejection, by rule: String, detail: String)
    /// Rules have rewritten readings, and readings got tags (``ReadingTags``), since the last time.
    func rewrote(_ rewritten: [(rule: String, count: Int)], tagged: [(tags: [UInt8], count: Int)])
    /// The reading that is rejected next is of type number `type`, of which its source takes nothing now.
    func limited(type: Int)
    /// A reading of `source` was mapped and routed, while ``ReadingLane/isTapped``. `payload` and `key` (a
    /// ``SeriesKey``) are valid during the call, which must not block.
    func tapped(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int)
}

extension LaneEvents {
    /// Default: ignored.
    package func tapped(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int) {}

    /// Default: ignored.
    package func ruled(_ reason: Rejection, by rule: String, detail: String) {}

    /// Default: ignored.
    package func rewrote(_ rewritten: [(rule: String, count: Int)], tagged: [(tags: [UInt8], count: Int)]) {}

    /// Default: ignored.
    package func limited(type: Int) {}

    /// Default: ignored.
    package func met(_ introductions: Introductions) {}

    /// None: the wall clock is trusted.
    package func lead(at received: Instant) -> Int64 { 0 }

    /// No other.
    package func ownLead(at received: Instant) -> Int64 { lead(at: received) }

    /// Nobody reads them.
    package func readingCounts(for set: MappingSet) -> SharedCounts { SharedCounts(count: set.templates.count) }

    /// Forgets it.
    package func missed(_ gaps: [FrameGap], source: Int) {}
}

/// One source as a lane sees it.
package struct LaneInput: Sendable {
    /// Templates that apply, as numbers of the mapping set.
    package var templates: [Int]
    /// What the source contributes.
    package var context: SourceContext
    /// The source's number for the ledger (``ReadingSource``).
    package var ledgerNumber = 0
    /// Whether readings that find a ring full are rejected; otherwise the lane waits for room, and its sources with it.
    package var dropsWhenFull = false
    /// Whether payloads like others before are read without a scan; the readings are the same.
    package var usesFastPath = true

    /// Makes an input.
    package init(templates: [Int], context: SourceContext) {
        self.templates = templates
        self.context = context
    }
}

/// Of whom a payload is, by what is not in it; each nil where that is not told.
package struct PayloadOwner: Sendable {
    /// The device of readings that name none; one that names another is rejected.
    package var device: [UInt8]?
    /// The patient, in the same way.
    package var patient: [UInt8]?

    /// An owner.
    package init(device: [UInt8]?, patient: [UInt8]?) { (self.device, self.patient) = (device, patient) }
}
