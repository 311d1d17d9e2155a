import KymographCore

/// What ``EntryMigration`` could not make entries of.
struct MigrationOutcome: Sendable {
    /// Rows of the outbox that were put into quarantine.
    private(set) var unreadRows = 0
    /// When the first and the last of them were written.
    private var span: ClosedRange<Instant>?
    /// Dead letters of entries that stay text.
    var textLetters = 0

    /// Counts a row that was written at `created`.
    mutating func noteUnread(created: Instant) {
        unreadRows += 1
        span = min(span?.lowerBound ?? created, created)...max(span?.upperBound ?? created, created)
    }

    /// What the operator should know and do, one message each.
    var notes: [String] { [rowNote, letterNote].compactMap { $0 } }

    private var rowNote: String? {
        guard let span else { return nil }
        let (noun, verb, pronoun) = unreadRows == 1 ? ("bundle", "was", "it") : ("bundles", "were", "them")
        // Whole seconds, as people type them: what is sent twice has the same identity.
        let start = Instant(seconds: span.lowerBound.nanoseconds / 1_000_000_000)
        let end = Instant(seconds: span.upperBound.nanoseconds / 1_000_000_000 + 1)
        return "\(unreadRows) \(noun) that an earlier version wrote cannot be read by this one and \(verb) put into "
            + "quarantine: no sink gets \(pronoun). "
            + "'kymo export --modified-from \(start.text) --modified-to \(end.text)', with the mappings of "
            + "'kymo run', writes what they held from the archive: send what a sink lacks"
    }

    private var letterNote: String? {
        guard textLetters > 0 else { return nil }
        let noun = textLetters == 1 ? "letter" : "letters"
        return "\(textLetters) dead \(noun) that an earlier version wrote cannot be sent again by this one: "
            + "'kymo dead replay --all' gives the numbers, and 'kymo dead show NUMBER --bytes' prints the content"
    }
}
