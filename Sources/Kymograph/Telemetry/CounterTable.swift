import KymographCore

/// Every counter. The summary at exit, `kymo status` and its JSON, the metrics and docs/metrics.md are made from it.
enum CounterTable {
    /// All rows, in the order in which they are shown.
    static let rows: [Counter] =
        received + readings + sources + engine + windows + output + mapping + store + sinks + watched + process

    /// The values of `input`.
    static func samples(_ input: CounterInput) -> CounterSamples {
        CounterSamples(rows.flatMap { $0.samples(input) })
    }

    /// The line that the counters' phrases make; nil when none says anything. `source` is whom it is about.
    static func text(
        _ line: CounterLine, _ samples: CounterSamples, _ input: CounterInput = CounterInput(), source: String? = nil
    ) -> String? {
        var text: String?
        for row in rows {
            for phrase in row.phrases where phrase.line == line {
                let context = CounterPhrase.Context(name: row.name, samples: samples, input: input, source: source)
                if let found = phrase.text(context) { text = (text ?? "") + found }
            }
        }
        return text
    }

    // MARK: Rows

    private static let received: [Counter] = [
        ofSources(
            "kymo_readings_received_total", unit: "readings",
            "Readings received: mapped ones, and payloads that gave none",
            [.always(.balance, "received "), .always(.live, "received "), .always(.source, ": received ")]
        ) { $0.received },
        Counter(
            name: "kymo_source_rejected_total", kind: .counter, unit: "readings", labels: ["source", "reason"],
            help: "Readings, and payloads that gave none, rejected before they came to a window",
            phrases: [.always(.source, ", rejected ")]
        ) { input in
            (input.run?.sources ?? []).flatMap { source in
                Rejection.allCases.compactMap { reason in
                    let count = source.rejected[Int(reason.rawValue)]
                    return count > 0 ? ([source.name, reason.name], Double(count)) : nil
                }
            }
        },
    ]

    private static let sources: [Counter] = [
        ofSources(
            "kymo_source_messages_total", unit: "messages",
            "Datagrams, messages, lines and frames, those that are too long or broken included"
        ) { Int($0.counts.datagrams + $0.counts.lines) },
        ofSources(
            "kymo_source_broken_messages_total", unit: "messages",
            "Datagrams, messages, lines and frames that were too long, broken or not complete"
        ) { Int($0.counts.rejected) },
        ofSources(
            "kymo_source_received_bytes_total", unit: "bytes",
            "Bytes of datagrams, or of streams with everything between payloads"
        ) { Int($0.counts.bytes) },
        ofSources(
            "kymo_source_kernel_dropped_total", unit: "datagrams",
            "Datagrams that the kernel dropped, mostly because the receive buffer was full",
            [
                .custom(.kernelDropped, kernelDrops), .custom(.live) { ", kernel-dropped \($0.value)" },
                .always(.source, ", kernel-dropped "),
            ]
        ) { Int($0.counts.kernelDrops) },
        ofSources(
            "kymo_source_connections_total", unit: "connections",
            "Clients accepted; for a stream that goes and comes back, how often it came back"
        ) { Int($0.counts.connections) },
        ofSources(
            "kymo_source_connections_refused_total", unit: "connections",
            "Clients refused because too many were connected",
            [.ifAny(.connections, "refused connections "), .ifAny(.source, ", refused connections ")]
        ) { Int($0.counts.refusedConnections) },
        ofSources(
            "kymo_source_connections_idle_total", unit: "connections",
            "Clients disconnected because they were silent for too long",
            [
                .custom(.connections) { context in
                    guard context.value > 0 else { return nil }
                    let before = context.total("kymo_source_connections_refused_total") > 0 ? ", " : ""
                    return "\(before)idle connections \(context.value)"
                }, .ifAny(.source, ", idle connections "),
            ]
        ) { Int($0.counts.idleConnections) },
        ofSources(
            "kymo_source_receive_buffer_bytes", .gauge, unit: "bytes", "Receive buffer that the kernel granted"
        ) { $0.receiveBufferBytes },
    ]

    private static let readings: [Counter] = [
        Counter(
            name: "kymo_readings_total", kind: .counter, unit: "readings", labels: ["result"],
            help: "Readings in windows (`accepted`), there already (`duplicate`), or replaced or replacing "
                + "(`conflict`)",
            phrases: [
                .custom(.balance) { context in
                    let counts = ["accepted", "duplicate", "conflict"].map {
                        "\($0) \(context.samples.total(context.name, "result", $0))"
                    }
                    return " = \(counts.joined(separator: " + "))"
                }
            ]
        ) { input in
            input.run.map { run in
                [
                    (["accepted"], Double(run.accepted)), (["duplicate"], Double(run.duplicate)),
                    (["conflict"], Double(run.conflict)),
                ]
            } ?? []
        },
        Counter(
            name: "kymo_rejected_total", kind: .counter, unit: "readings", labels: ["reason"],
            help: "Readings, and payloads that gave none, rejected by reason",
            phrases: [
                .always(.balance, " + rejected "), .always(.live, ", rejected "),
                .custom(.rejected) { context in
                    let reasons = context.samples.of(context.name).map {
                        "\($0.labels?["reason"] ?? "") \(Int($0.value))"
                    }
                    return reasons.isEmpty ? nil : "rejected: \(reasons.joined(separator: ", "))"
                },
            ]
        ) { input in
            guard let run = input.run else { return [] }
            return Rejection.allCases.compactMap { reason in
                let count = run.rejected[Int(reason.rawValue)]
                return count > 0 ? ([reason.name], Double(count)) : nil
            }
        },
        ofRun(
            "kymo_readings_in_flight", .gauge, unit: "readings",
            "Readings that entered and have not ended anywhere: on their way; lost, when the instance has ended",
            [.ifAny(.balance, " + in flight ")]
        ) { $0.inFlight },
        ofRun(
            "kymo_readings_withdrawn_total", unit: "readings",
            "Readings of an earlier run's journal that this run has rejected",
            [.ifAny(.withdrawn, "rejected ", " readings of an earlier run: see the dead letters")]
        ) { $0.withdrawn },
        ofRun(
            "kymo_sequence_missing", .gauge, unit: "frames",
            "Frames of bridges that never came, by their numbers; a frame that comes late is taken off",
            [.ifAny(.missing, "missing frames ", ", by the numbers of bridges")]
        ) { $0.missingFrames },
    ]

    private static let engine: [Counter] = [
        ofRings("kymo_ring_used_slots", .gauge, "slots", "Slots in use of the ring between a lane and a shard") {
            $0.used
        },
        ofRings("kymo_ring_slots", .gauge, "slots", "Slots of the ring") { $0.slots },
        ofRings("kymo_ring_waits_total", .counter, "waits", "How often the lane has waited for room in the ring") {
            $0.waits
        },
        ofShards("kymo_devices", "devices", "Devices that a shard has met since the start") { $0.devices },
        ofShards("kymo_series", "series", "Series that a shard has met since the start") { $0.series },
        ofShards("kymo_windows_open", "windows", "Windows in memory: filling, or waiting to be written") { $0.windows },
        Counter(
            name: "kymo_store_commit_seconds", kind: .histogram, unit: "seconds", labels: [],
            help: "How long commits of the store took", phrases: [], read: { _ in [] },
            durations: { input in input.run?.engine.commits.map { [([], $0)] } ?? [] }),
    ]

    private static let windows: [Counter] = [
        ofRun(
            "kymo_windows_closed_total", unit: "windows",
            "Windows, or in instance grouping readings, that were written, replacements included",
            [.always(.output, "windows "), .always(.live, ", windows ")]
        ) { $0.windows },
        ofRun(
            "kymo_observations_written_total", unit: "Observations", "Observations written, replacements included",
            [.always(.output, ", observations "), .always(.live, ", observations ")]
        ) { $0.observations },
        ofRun(
            "kymo_resources_written_total", unit: "resources", "Other resources written, replacements included",
            [.ifAny(.output, ", other resources ")]
        ) { $0.resources },
        ofRun(
            "kymo_windows_amended_total", unit: "windows", "Windows written again because they changed",
            [.ifAny(.output, " (", " amended)")]
        ) { $0.amended },
        ofRun(
            "kymo_readings_condensed_total", unit: "readings",
            "Values that SampledData series have less than readings, because readings share a slot as their template "
                + "asks",
            [.ifAny(.output, ", condensed readings ")]
        ) { $0.condensed },
        ofRun(
            "kymo_windows_withheld_total", unit: "windows",
            "Windows that changed after they were written and could not be written again",
            [.ifAny(.withheld, "withheld ", ": changed windows whose numbers no longer fit 18 digits")]
        ) { $0.withheld },
        ofRun(
            "kymo_windows_filtered_total", unit: "windows", "Windows that no sink is to get",
            [.ifAny(.filtered, "filtered ", ": windows that no sink is to get")]
        ) { $0.filtered },
        ofRun(
            "kymo_readings_passed_over_total", unit: "readings",
            "Readings without a number among others of their Observation",
            [.ifAny(.passedOver, "passed over ", ": readings without a number among others of their Observation")]
        ) { $0.losses.passedOver },
        ofRun(
            "kymo_values_unwritten_total", unit: "values", "Values that could not be written, beside others that were",
            [.ifAny(.unwritten, "unwritten ", ": values that could not be written, beside others that were")]
        ) { $0.losses.unwritten },
    ]

    private static let output: [Counter] = [
        ofRun(
            "kymo_output_bundles_total", unit: "bundles", "Bundles, or blocks of NDJSON",
            [.always(.output, ", bundles ")]
        ) { $0.bundles },
        ofRun(
            "kymo_output_bytes_total", unit: "bytes", "Bytes of output before compression",
            [.always(.output, ", bytes "), .custom(.output, bytesPerReading)]
        ) { $0.bytes },
        ofRun(
            "kymo_output_undelivered_total", unit: "bundles", "Bundles that could not be delivered before the end",
            [.ifAny(.undelivered, "undelivered bundles ")]
        ) { $0.undeliveredBundles },
    ]

    private static let mapping: [Counter] = [
        ofRun(
            "kymo_mapping_left_out_total", unit: "values",
            "Optional values left out because their expression selected several tokens",
            [.ifAny(.leftOut, "left out ", ": optional values whose expression selected several tokens")]
        ) { $0.notes.leftOut },
        ofRun(
            "kymo_mapping_wrapped_total", unit: "values", "Integer results beyond 64 bits, which were wrapped around",
            [.ifAny(.wrapped, "wrapped ", ": integer results beyond 64 bits")]
        ) { $0.notes.wrapped },
        Counter(
            name: "kymo_mapping_reloads_total", kind: .counter, unit: "reloads", labels: ["result"],
            help: "How often the mappings were loaded again, and took effect (`succeeded`) or had errors (`failed`)",
            phrases: [
                .custom(.reloads) { context in
                    guard context.value > 0 else { return nil }
                    let succeeded = context.samples.total(context.name, "result", "succeeded")
                    return "reloads \(succeeded), failed \(context.value - succeeded)"
                }
            ]
        ) { input in
            input.run.map { run in
                [(["succeeded"], Double(run.reloads.succeeded)), (["failed"], Double(run.reloads.failed))]
            } ?? []
        },
    ]

    private static let store: [Counter] = [
        ofStore("kymo_store_windows", "windows", "Closed windows in the archive", [.always(.windows, "windows ")]) {
            Double($0.windows)
        },
        ofStore("kymo_store_series", "series", "Series in the archive", [.always(.windows, " of ", " series")]) {
            Double($0.series)
        },
        ofStore(
            "kymo_store_journal_blocks", "blocks", "Blocks of the journal",
            [.always(.journal, "journal ", " blocks")]
        ) { Double($0.journalBlocks) },
        ofStore(
            "kymo_store_journal_readings", "readings", "Readings of the journal",
            [.always(.journal, " with ", " readings")]
        ) { Double($0.journalReadings) },
        ofStore(
            "kymo_outbox_entries", "rows", "Rows of the outbox that wait for some sink",
            [.always(.outbox, "outbox ", " bundles wait")]
        ) { Double($0.outboxRows) },
        ofStore("kymo_outbox_oldest_age_seconds", "seconds", "Age of the oldest of them; 0 when none waits") {
            $0.outboxOldestAge ?? 0
        },
        ofStore(
            "kymo_readings_lost", "readings",
            "Readings that were acknowledged and are lost, since the store was damaged; there may be more",
            [
                .custom(.lost) { context in
                    let isAtLeast = context.input.stored?.isLostAtLeast ?? false
                    guard context.value > 0 || isAtLeast else { return nil }
                    return "lost \(isAtLeast ? "at least " : "")\(context.value) readings that were acknowledged"
                }
            ]
        ) { Double($0.lost) },
        ofStore(
            "kymo_dead_letters", "letters", "Dead letters that were not replayed",
            [.always(.deadLetters, "dead letters ")]
        ) { Double($0.deadLetters) },
        ofStore(
            "kymo_store_quarantined", "rows", "Damaged rows that were put aside",
            [.always(.deadLetters, ", quarantined ")]
        ) { Double($0.quarantined) },
        ofStore("kymo_store_bytes", "bytes", "Disk space in use", [.always(.disk, "disk ")]) { Double($0.usedBytes) },
        ofStore(
            "kymo_store_limit_bytes", "bytes", "Disk space that may be used",
            [.always(.disk, " of ", " bytes"), .custom(.disk, share)]
        ) { Double($0.limitBytes) },
    ]

    private static let sinks: [Counter] = [
        ofSinks("kymo_sink_waiting", .gauge, unit: "rows", "Rows of the outbox that the sink has not taken") {
            $0.waiting
        },
        ofSinks(
            "kymo_sink_lacking", .gauge, unit: "resources",
            "Resources of which a FHIR server has kept an earlier version, and lacks the latest"
        ) { $0.lacking },
        Counter(
            name: "kymo_sink_entries_total", kind: .counter, unit: "entries", labels: ["sink", "result"],
            help: "Entries that a FHIR server has stored (`delivered`), or will not take (`undeliverable`)", phrases: []
        ) { input in
            input.sinks.flatMap { sink in
                sink.delivery.map {
                    [
                        ([sink.name, "delivered"], Double($0.delivered)),
                        ([sink.name, "undeliverable"], Double($0.undeliverable)),
                    ]
                } ?? []
            }
        },
        ofDeliveries(
            "kymo_sink_up", .gauge, unit: "1",
            "1 while the server is sent what there is; 0 while it is not asked, refuses, or is left alone"
        ) { $0.isUp ? 1 : 0 },
        Counter(
            name: "kymo_sink_requests_total", kind: .counter, unit: "requests", labels: ["sink", "code"],
            help: "Requests to a FHIR server by the status of the answer, `failed` when there was none", phrases: []
        ) { input in
            input.sinks.flatMap { sink in
                (sink.delivery?.traffic?.endings ?? []).map { ([sink.name, $0.code], Double($0.count)) }
            }
        },
        Counter(
            name: "kymo_sink_request_seconds", kind: .histogram, unit: "seconds", labels: ["sink"],
            help: "Time from sending a request to its answer, or to the failure", phrases: [], read: { _ in [] },
            durations: { input in
                input.sinks.compactMap { sink in (sink.delivery?.traffic?.durations).map { ([sink.name], $0) } }
            }),
        ofTraffic("kymo_sink_sent_bytes_total", .counter, "bytes", "Bytes of bodies that were sent") {
            Double($0.sentBytes)
        },
        ofTraffic(
            "kymo_sink_last_success_timestamp_seconds", .gauge, "seconds",
            "When the server last answered with a status from 200 to 299, since 1970"
        ) { $0.lastSuccess },
        Counter(
            name: "kymo_sink_concurrency", kind: .gauge, unit: "requests", labels: ["sink"],
            help: "Requests that may be under way now", phrases: []
        ) { input in
            input.sinks.compactMap { sink in (sink.delivery?.concurrency).map { ([sink.name], Double($0)) } }
        },
        Counter(
            name: "kymo_tls_certificate_expiry_timestamp_seconds", kind: .gauge, unit: "seconds", labels: ["sink"],
            help: "When the first client certificate of the sink ends, since 1970", phrases: []
        ) { input in
            input.sinks.compactMap { sink in (sink.delivery?.certificateExpiry).map { ([sink.name], $0) } }
        },
        ofDeliveries("kymo_sink_retries_total", .counter, unit: "requests", "Attempts after the first of their request")
        {
            Double($0.retries)
        },
        ofDeliveries("kymo_sink_requests_in_flight", .gauge, unit: "requests", "Requests under way") {
            Double($0.inFlight)
        },
        ofDeliveries(
            "kymo_sink_lookups", .gauge, unit: "answers",
            "Answers about Devices, Patients and Encounters that are used at present"
        ) { Double($0.lookups) },
        ofDeliveries(
            "kymo_sink_oldest_lookup_age_seconds", .gauge, unit: "seconds", "Age of the oldest of them; 0 without any"
        ) { $0.oldestLookupAge ?? 0 },
    ]

    private static let watched: [Counter] = [
        Counter(
            name: "kymo_source_last_received_timestamp_seconds", kind: .gauge, unit: "seconds", labels: ["source"],
            help: "When something last came, since 1970, to a second", phrases: []
        ) { input in
            (input.watched?.lastReceived ?? []).map { ([$0.source], $0.seconds) }
        },
        ofWatch(
            "kymo_ledger_imbalance", "readings",
            "At least so many readings are unaccounted for: received, neither counted where they end nor on their way"
        ) { $0.imbalance },
        ofWatch(
            "kymo_store_waiting", "1", "1 while nothing can be committed, since the disk or `store.maxBytes` is full"
        ) { $0.isStoreWaiting ? 1 : 0 },
        ofWatch("kymo_metrics_dropped_series", "series", "Series left out of the metrics, which have at most 5,000") {
            $0.droppedSeries
        },
    ]

    private static let process: [Counter] = [
        Counter(
            name: "kymo_build_info", kind: .gauge, unit: "1", labels: ["version"],
            help: "Always 1; the label is the version of kymo", phrases: []
        ) { input in
            input.run == nil && input.process == nil ? [] : [([KymographVersion.number], 1)]
        },
        ofProcess("process_cpu_seconds_total", .counter, "seconds", "Processor time, of user and system") {
            $0.cpuSeconds
        },
        ofProcess("process_resident_memory_bytes", .gauge, "bytes", "Memory in use") { Double($0.residentBytes) },
        ofProcess("process_virtual_memory_bytes", .gauge, "bytes", "Address space in use") {
            Double($0.virtualBytes)
        },
        ofProcess("process_open_fds", .gauge, "descriptors", "Open descriptors") { Double($0.openDescriptors) },
        ofProcess("process_max_fds", .gauge, "descriptors", "Most open descriptors") { Double($0.mostDescriptors) },
        ofProcess("process_threads", .gauge, "threads", "Threads") { Double($0.threads) },
        ofProcess("process_start_time_seconds", .gauge, "seconds", "When the process began, since 1970") {
            $0.startSeconds
        },
    ]

    // MARK: Phrases

    /// The total, and what each socket has lost.
    @Sendable private static func kernelDrops(_ context: CounterPhrase.Context) -> String? {
        let sockets = context.input.run?.kernelDropsBySource ?? []
        let drops = sockets.map { "\($0.source) \($0.count)" }.joined(separator: ", ")
        let total = context.input.run?.kernelDropped ?? context.value
        return "kernel-dropped \(total)\(drops.isEmpty ? "" : " (\(drops))")"
    }

    @Sendable private static func bytesPerReading(_ context: CounterPhrase.Context) -> String? {
        let accepted = context.samples.total("kymo_readings_total", "result", "accepted")
        guard accepted > 0 else { return nil }
        let tenths = (context.value * 10 + accepted / 2) / accepted
        return ", \(tenths / 10).\(tenths % 10) bytes per reading"
    }

    /// Of the disk space that may be used.
    @Sendable private static func share(_ context: CounterPhrase.Context) -> String? {
        context.value > 0 ? " (\(context.total("kymo_store_bytes") * 100 / context.value) %)" : nil
    }
}
