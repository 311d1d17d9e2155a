/// Counters of the whole instance and its process.
enum InstanceRows {
    static let rows: [Counter] = [
        Counter(
            name: "kymo_source_last_received_timestamp_seconds", kind: .gauge, unit: "seconds", labels: ["source"],
            help: "When something last came, since 1970, to a second", phrases: []
        ) { input in
            (input.watched?.lastReceived ?? []).map { ([$0.source], $0.seconds) }
        },
        .ofWatch(
            "kymo_ledger_imbalance", "readings",
            "At least so many readings are unaccounted for: received, neither counted where they end nor on their way"
        ) { $0.imbalance },
        .ofWatch(
            "kymo_store_waiting", "1",
            "1 while nothing can be committed, mostly since the disk or `store.maxBytes` is full"
        ) { $0.isStoreWaiting ? 1 : 0 },
        .ofDisk(
            "kymo_disk_free_bytes",
            "Bytes that kymo may still fill on the file system of a directory that it writes to"
        ) { $0.freeBytes },
        .ofDisk("kymo_disk_size_bytes", "Bytes of that file system, without what is kept for root") { $0.totalBytes },
        .ofWatch("kymo_metrics_dropped_series", "series", "Series left out of the metrics, which have at most 5,000") {
            $0.droppedSeries
        },
        Counter(
            name: "kymo_admin_certificate_expiry_timestamp_seconds", kind: .gauge, unit: "seconds", labels: [],
            help: "When the first of the certificates ends that `http.admin` would show now, since 1970", phrases: []
        ) { input in
            input.watched?.certificateExpiry.map { [([], $0)] } ?? []
        },
        .ofAudit(
            "kymo_audit_events_total", .counter, "events", "AuditEvents that `audit.url` has taken since the start"
        ) {
            $0.sent
        },
        .ofAudit(
            "kymo_audit_refused_total", .counter, "events",
            "AuditEvents that it will never take: they are in the audit trail alone"
        ) { $0.refused },
        .ofAudit(
            "kymo_audit_up", .gauge, "1", "1 while `audit.url` takes AuditEvents, as far as there were some to send"
        ) { $0.isUp ? 1 : 0 },
        Counter(
            name: "kymo_log_suppressed_total", kind: .counter, unit: "entries", labels: [],
            help: "Entries of the log that repeat others and were counted instead of written", phrases: []
        ) { input in
            input.run?.suppressedLogEntries.map { [([], Double($0))] } ?? []
        },
        Counter(
            name: "kymo_build_info", kind: .gauge, unit: "1", labels: ["version", "commit"],
            help: "Always 1; the labels are the version of kymo, and the commit that it was built from", phrases: []
        ) { input in
            input.run == nil && input.process == nil ? [] : [([KymographVersion.number, KymographVersion.commit], 1)]
        },
        .ofProcess("process_cpu_seconds_total", .counter, "seconds", "Processor time, of user and system") {
            $0.cpuSeconds
        },
        .ofProcess("process_resident_memory_bytes", .gauge, "bytes", "Memory in use") { Double($0.residentBytes) },
        .ofProcess("process_virtual_memory_bytes", .gauge, "bytes", "Address space in use") {
            Double($0.virtualBytes)
        },
        .ofProcess("process_open_fds", .gauge, "descriptors", "Open descriptors") { Double($0.openDescriptors) },
        .ofProcess("process_max_fds", .gauge, "descriptors", "Most open descriptors") { Double($0.mostDescriptors) },
        .ofProcess("process_threads", .gauge, "threads", "Threads") { Double($0.threads) },
        .ofProcess("process_start_time_seconds", .gauge, "seconds", "When the process began, since 1970") {
            $0.startSeconds
        },
    ]
}
