import KymographCore

/// Counters of the store.
enum StoreRows {
    static let rows: [Counter] = [
        .ofStore("kymo_store_windows", "windows", "Closed windows in the archive", [.always(.windows, "windows ")]) {
            Double($0.windows)
        },
        .ofStore("kymo_store_series", "series", "Series in the archive", [.always(.windows, " of ", " series")]) {
            Double($0.series)
        },
        .ofStore(
            "kymo_store_journal_blocks", "blocks", "Blocks of the journal",
            [.counting(.journal, "journal ", one: "block", many: "blocks")]
        ) { Double($0.journalBlocks) },
        .ofStore(
            "kymo_store_journal_readings", "readings", "Readings of the journal",
            [.counting(.journal, " with ", one: "reading", many: "readings")]
        ) { Double($0.journalReadings) },
        .ofStore(
            "kymo_store_outbox_rows", "rows", "Rows of the outbox that wait for some sink",
            [.counting(.outbox, "outbox ", one: "bundle waits", many: "bundles wait")]
        ) { Double($0.outboxRows) },
        .ofStore(
            "kymo_readings_lost", "readings",
            "Readings that were acknowledged and are lost, since the store was damaged; there may be more",
            [
                .custom(.lost) { context in
                    let isAtLeast = context.input.stored?.isLostAtLeast ?? false
                    guard context.value > 0 || isAtLeast else { return nil }
                    let readings = CountText.of(context.value, one: "reading that was", many: "readings that were")
                    return "lost \(isAtLeast ? "at least " : "")\(readings) acknowledged"
                }
            ]
        ) { Double($0.lost) },
        Counter(
            name: "kymo_dead_letters", kind: .gauge, unit: "letters", labels: ["kind"],
            help: "Dead letters that were not replayed: payloads of sources (`payload`), readings that no window took "
                + "(`measurement`), entries that a server has refused (`entry`)",
            phrases: [.always(.deadLetters, "dead letters ")]
        ) { input in
            (input.stored?.lettersByKind ?? []).map { ([$0.kind], Double($0.count)) }
        },
        .ofStore(
            "kymo_quarantined", "rows", "Damaged rows that were put aside",
            [.always(.deadLetters, ", quarantined ")]
        ) { Double($0.quarantined) },
        .ofStore("kymo_store_bytes", "bytes", "Disk space in use", [.always(.disk, "disk ")]) { Double($0.usedBytes) },
        .ofStore(
            "kymo_store_limit_bytes", "bytes", "Disk space that may be used",
            [.always(.disk, " of ", " bytes"), .custom(.disk, share)]
        ) { Double($0.limitBytes) },
        Counter(
            name: "kymo_store_commit_seconds", kind: .histogram, unit: "seconds", labels: [],
            help: "How long commits of the store took", phrases: [], read: { _ in [] },
            durations: { input in input.run?.engine.commits.map { [([], $0)] } ?? [] }),
        Counter(
            name: "kymo_ingest_to_durable_seconds", kind: .histogram, unit: "seconds", labels: [],
            help:
                "Time from receiving a reading to its commit; of each block of the journal the first reading, and each "
                + "1,024th behind it",
            phrases: [], read: { _ in [] },
            durations: { input in input.run?.engine.durable.map { [([], $0)] } ?? [] }),
    ]

    /// Of the disk space that may be used.
    @Sendable private static func share(_ context: CounterPhrase.Context) -> String? {
        context.value > 0 ? " (\(context.total("kymo_store_bytes") * 100 / context.value) %)" : nil
    }
}
