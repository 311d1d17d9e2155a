@testable import KymographCore

/// Fills one bundle after the other by a writer of entries and an assembler, a content at a time.
struct BundleTrial: ~Copyable {
    enum AddOutcome: Equatable {
        case added(condensedValues: Int)
        case skipped(Rejection)
        /// The bundle must end before it: ``finish()``, ``reset()``, and add it again.
        case full
    }

    private var writer: EntryWriter
    private var assembler = BundleAssembler()
    /// The bundle that had to end, and how many contents and entries it has.
    private var ended: (text: String, contents: Int, entries: Int)?
    /// The content that waits in the next block.
    private var moved: (series: SeriesIdentity, start: Instant, condensed: Int)?

    init(_ encoder: consuming ObservationEncoder, limits: BundleLimits) {
        writer = EntryWriter(encoder, limits: limits)
    }

    mutating func add(_ content: borrowing WindowContent) -> AddOutcome {
        if ended != nil { return .full }
        if let waiting = moved {
            moved = nil
            // It is in the block already: its bytes were moved there.
            if waiting.series == content.series, waiting.start == content.start {
                return .added(condensedValues: waiting.condensed)
            }
            writer.reset()
        }
        let (contents, entries) = (writer.contentCount, writer.block.count)
        switch writer.add(content) {
        case .skipped(let reason): return .skipped(reason)
        case .added(let addition):
            losses = addition.losses
            guard addition.isOverfull else { return .added(condensedValues: addition.condensedValues) }
            ended = (text(isOverfull: true), contents, entries)
            writer.begin(with: content)
            moved = (content.series, content.start, addition.condensedValues)
            return .full
        }
    }

    /// What the Observation of the last addition does not say of its readings.
    private(set) var losses = ObservationLosses()

    /// Observations and other resources.
    var contentCount: Int { ended?.contents ?? writer.contentCount }
    /// Entries.
    var entryCount: Int { ended?.entries ?? writer.block.count }

    /// The bundle, or the lines; nothing of none.
    mutating func finish() -> (string: String, array: [UInt8]) {
        let text = ended?.text ?? text(isOverfull: false)
        return (text, Array(text.utf8))
    }

    private mutating func text(isOverfull: Bool) -> String {
        let block = writer.finish(isOverfull: isOverfull)
        return block.count == 0 ? "" : assembler.text(of: block)?.string ?? "unreadable"
    }

    mutating func reset() {
        if ended == nil { writer.reset() }
        ended = nil
    }
}
