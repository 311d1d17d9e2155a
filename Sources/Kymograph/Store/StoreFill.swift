/// How full a store is.
package struct StoreFill: Hashable, Sendable {
    /// Bytes of the database in use.
    package var bytes: Int
    /// ``StoreSettings/maxBytes``.
    package var limit: Int

    /// Percent of the limit, rounded down.
    package var percent: Int { limit > 0 ? bytes * 100 / limit : 0 }

    /// Percent at which the operator is warned.
    package static let alarms = [50, 80]

    /// The last of ``alarms`` that is reached, or 0.
    package var alarm: Int { StoreFill.alarms.last { percent >= $0 } ?? 0 }
}

/// Warns once each time that a store's fill reaches one of ``StoreFill/alarms`` or its limit.
struct StoreAlarm {
    private var announced = 0
    /// Whether old windows are being dropped to stay within the limit.
    private var isDropping = false
    /// The same of payloads.
    private var isDroppingPayloads = false

    /// Percent that the fill must fall below an alarm before the alarm may come again: at its edge it would come with
    /// each commit.
    private static let slack = 5

    /// What to tell the operator of `fill`, if anything.
    mutating func note(_ fill: StoreFill) -> LogEntry? {
        if fill.alarm > announced {
            announced = fill.alarm
            return entry(
                .warning, fill,
                "the store uses \(fill.percent) % of store.maxBytes (\(fill.bytes) of \(fill.limit) bytes); "
                    + "when it is full, the oldest windows are dropped")
        }
        let former = announced
        while announced > 0, fill.percent < announced - StoreAlarm.slack {
            announced = StoreFill.alarms.last { $0 < announced } ?? 0
        }
        guard announced < former else { return nil }
        return entry(.info, fill, "the store uses \(fill.percent) % of store.maxBytes, after more than \(former) %")
    }

    /// What to tell when windows begin, or no longer need, to be dropped for their size.
    mutating func note(drops: Bool, _ fill: StoreFill) -> LogEntry? {
        if drops, !isDropping {
            isDropping = true
            return entry(
                .error, fill,
                "the store is full (store.maxBytes, \(fill.limit) bytes): dropping the oldest windows; raise "
                    + "store.maxBytes, or lower store.archiveAge")
        }
        if !drops, fill.percent < 100 - StoreAlarm.slack { isDroppingPayloads = false }
        guard isDropping, !drops, fill.percent < 100 - StoreAlarm.slack else { return nil }
        isDropping = false
        return entry(.info, fill, "the store has room again")
    }

    /// What to tell when payloads begin to be dropped for their size.
    mutating func noteDroppedPayloads(_ fill: StoreFill) -> LogEntry? {
        guard !isDroppingPayloads else { return nil }
        isDroppingPayloads = true
        return entry(
            .warning, fill,
            "the store is full (store.maxBytes, \(fill.limit) bytes): dropping the oldest payloads that store.keepRaw "
                + "keeps; raise store.maxBytes, or lower store.keepRaw")
    }

    private func entry(_ level: LogLevel, _ fill: StoreFill, _ text: String) -> LogEntry {
        let fields = [("event", LogEntry.Value.text("store.fill")), ("percent", .number(fill.percent))]
        return LogEntry(level, text, fields: fields)
    }
}
