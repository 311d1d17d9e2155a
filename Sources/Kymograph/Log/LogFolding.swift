import KymographCore

/// Folds repeats: of entries of one kind the first is written, and how many came within ten seconds after it.
struct LogFolding {
    private struct Repeats {
        let began: ContinuousClock.Instant
        var count = 0
        var last: LogEntry
    }

    /// How long repeats of an entry are only counted.
    static let period = Duration.seconds(10)
    /// Kinds that are known at once; entries of further ones are written without a look at repeats, or are repeats of
    /// each other where senders could fill the log with them.
    private static let mostKinds = 512
    /// The kind of those. Others begin with a level.
    private static let further = IdentifierText("further")

    private var known: [IdentifierText: Repeats] = [:]
    /// Kinds in the order in which they began.
    private var order: [IdentifierText] = []

    /// Whether `entry` is to be written; else it is counted. Call ``ended(at:)`` before.
    mutating func admits(_ entry: LogEntry, at now: ContinuousClock.Instant) -> Bool {
        var kind = IdentifierText("\(entry.level.rawValue) \(entry.kind ?? entry.text)")
        if entry.isFolded, known[kind] == nil, order.count >= LogFolding.mostKinds { kind = LogFolding.further }
        if known[kind] != nil {
            known[kind]?.count += 1
            known[kind]?.last = entry
            return false
        }
        if order.count < LogFolding.mostKinds || entry.isFolded {
            known[kind] = Repeats(began: now, last: entry)
            order.append(kind)
        }
        return true
    }

    /// What is to be written of repeats whose time is up, or of all of them at the end (`isLast`).
    mutating func ended(at now: ContinuousClock.Instant, isLast: Bool = false) -> [LogEntry] {
        var entries: [LogEntry] = []
        while let kind = order.first, let repeats = known[kind],
            isLast || repeats.began.duration(to: now) >= LogFolding.period
        {
            order.removeFirst()
            known[kind] = nil
            guard repeats.count > 0 else { continue }
            let seconds = min(LogFolding.period, repeats.began.duration(to: now)).components.seconds
            var entry = repeats.last
            let what = kind == LogFolding.further ? "of this or other kinds" : "like this"
            entry.text = "… \(repeats.count) more \(what) in \(max(1, seconds)) s: \(entry.text)"
            entry.fields.append(("suppressed", .number(repeats.count)))
            entries.append(entry)
        }
        return entries
    }
}
