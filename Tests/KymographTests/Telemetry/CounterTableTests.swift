import Foundation
@testable import Kymograph
import KymographCore
import Testing

/// Everything that is counted has a row, and every row is shown and documented.
@Suite struct CounterTableTests {
    /// All numbers of a value, by the names of its properties.
    private func numbers(_ value: Any, _ path: String = "") -> [(path: String, value: Double)] {
        switch value {
        case let number as Int: return [(path, Double(number))]
        case let number as UInt64: return [(path, Double(number))]
        case let number as Double: return [(path, number)]
        default:
            return Mirror(reflecting: value).children.enumerated().flatMap { index, child in
                numbers(child.value, "\(path).\(child.label ?? "\(index)")")
            }
        }
    }

    /// A run in which everything has been counted, each with another number.
    private var run: PipelineSummary {
        var run = PipelineSummary()
        var source = PipelineSummary.Source(name: "unix \"a\"")
        (source.received, source.receiveBufferBytes) = (100_001, 11)
        source.rejected[Int(Rejection.invalidJSON.rawValue)] = 13
        (source.counts.datagrams, source.counts.lines, source.counts.bytes) = (17, 19, 23)
        (source.counts.rejected, source.counts.kernelDrops, source.counts.connections) = (29, 31, 37)
        (source.counts.refusedConnections, source.counts.idleConnections) = (41, 43)
        source.counts.openStreams = 379
        source.counts.missedRecords = 9_301
        source.counts.topic = KafkaProgress(behind: 9_303, halted: 9_305, isUp: true)
        source.counts.tlsFailures = 383
        for (place, reason) in AuthFailure.allCases.enumerated() {
            source.counts.authFailures[reason] = UInt64(9_101 + place)
        }
        for (place, refusal) in AssociationRefusal.allCases.enumerated() {
            source.counts.associations[refusal] = UInt64(9_201 + place)
        }
        (source.counts.proxyFailures, source.certificateExpiry) = (9_001, 9_003.5)
        run.sources = [source]
        (run.shards.accepted, run.shards.duplicate, run.shards.conflict) = (47, 53, 59)
        run.shards.rejected[Int(Rejection.invalidJSON.rawValue)] = 13
        run.shards.rejected[Int(Rejection.clockAhead.rawValue)] = 61
        (run.shards.withdrawn, run.shards.windows, run.shards.amended) = (67, 71, 73)
        run.shards.retractions = 491
        for (cause, count) in zip(WindowCause.allCases, [383, 389, 397, 401, 491, 409]) {
            run.shards.closings[cause] = count
        }
        run.shards.lateReadings = 419
        (run.shards.withheld, run.shards.filtered, run.shards.observations) = (79, 83, 89)
        (run.shards.resources, run.shards.condensed, run.shards.vetoed) = (97, 101, 509)
        (run.rules.refused, run.rules.rewritten) = ([("a", 521)], [("b", 523)])
        (run.rules.entries, run.rules.tagged) = ([("c", 541)], [("d", 547)])
        run.shards.losses.passedOver = 103
        for (place, reason) in UnwrittenReason.allCases.enumerated() {
            run.shards.losses.unwrittenValues[reason] = 9_401 + place
        }
        run.shards.losses.cutTags = 599
        (run.notes.leftOut, run.notes.wrapped) = (109, 113)
        (run.lateFrames, run.suppressedLogEntries) = (126, 421)
        (run.missingFrames, run.bytes, run.bundles, run.undeliveredBundles) = (127, 131, 137, 139)
        (run.reloads.succeeded, run.reloads.failed) = (149, 151)
        run.refusedLists = (499, 503)
        (run.keptPayloads, run.lostPayloads) = (587, 593)
        run.engine.rings = [EngineCounts.Ring(lane: "0", shard: "1", used: 307, slots: 311, waits: 313)]
        run.engine.shards = [EngineCounts.Shard(shard: "1", devices: 317, series: 331, windows: 337)]
        run.engine.lanes = [EngineCounts.Lane(lane: "0", devices: 563, series: 569)]
        (run.engine.mostDevices, run.engine.mostSeries) = (571, 577)
        (run.engine.laneSeconds, run.engine.shardSeconds) = ([431.5], [433.5])
        run.engine.readings = [ReadingCounts.Entry(mapping: "wristband", type: "heartRate", count: 439)]
        (run.engine.commits, run.engine.durable) = (times(347_500), times(443_500))
        run.outputs = [PipelineSummary.Output(name: "files", deliveryTimes: times(449_500))]
        run.deliveries = sinks.compactMap { sink in sink.delivery.map { (sink.name, $0) } }
        run.kernelDropsBySource = [("unix a", 31)]
        return run
    }

    /// One time, in milliseconds.
    private func times(_ milliseconds: Int) -> DurationCounts {
        var times = DurationCounts()
        times.add(.milliseconds(milliseconds))
        return times
    }

    private var stored: StoreStatus {
        var stored = StoreStatus()
        (stored.series, stored.windows, stored.journalBlocks, stored.journalReadings) = (157, 163, 167, 173)
        (stored.outboxRows, stored.outboxOldestAge, stored.deadLetters) = (179, 181.5, 191)
        stored.lettersByKind = [LetterCount(kind: "payload", count: 191)]
        stored.paused = [PausedStatus(kind: "type", name: "heartRate", since: "", seconds: 467.5, letters: 479)]
        stored.successes = [TypeSuccess(sink: "server", type: "heartRate", at: "", seconds: 487)]
        (stored.lost, stored.quarantined, stored.usedBytes, stored.limitBytes) = (193, 197, 199, 211)
        return stored
    }

    private var sinks: [SinkStatus] {
        var status = DeliveryStatus()
        (status.inFlight, status.delivered, status.deleted, status.retries) = (223, 227, 557, 233)
        status.undeliverableReasons = ReasonCounts(["serverRefused": 229])
        (status.lookups, status.oldestLookupAge) = (239, 241_000_000_000)
        var sink = SinkStatus(name: "server", settledThrough: 7, waiting: 251)
        sink.lacking = 257
        status.concurrency = 353
        let time = Instant(nanoseconds: 1_800_000_000_500_000_000)
        status.traffic.add(status: 200, bytes: 359, after: .seconds(2), at: time)
        for _ in 0..<367 { status.traffic.add(status: nil, bytes: 0, after: .seconds(1), at: time) }
        sink.delivery = DeliverySummary(status)
        sink.oldestAge = 457.5
        sink.delivery?.certificateExpiry = 373.5
        sink.delivery?.serverCertificateExpiry = 461.5
        sink.delivery?.deliveryTimes = times(463_500)
        return [sink]
    }

    private var process: ProcessFacts {
        var process = ProcessFacts()
        (process.cpuSeconds, process.residentBytes, process.virtualBytes) = (263.5, 269, 271)
        (process.openDescriptors, process.mostDescriptors) = (277, 281)
        (process.startSeconds, process.threads) = (283.5, 293)
        return process
    }

    private var input: CounterInput { CounterInput(run: run, stored: stored, sinks: sinks, process: process) }

    /// Numbers of these paths are told as a part of others, and are no counters of their own.
    private let told = [
        // Together the messages of a source.
        ".sources.0.counts.datagrams", ".sources.0.counts.lines",
        // By source what is counted by source, too.
        ".kernelDropsBySource.0.count",
        // By sink.
        ".outboxOldestAge",
        // One by one, as the store has them; and their letters among all of their kind.
        ".paused", ".paused.some.0.letters",
    ]

    /// The lines of `kymo status` for one of each, and for several.
    @Test(arguments: [
        (1, "journal 1 block with 1 reading", "outbox 1 bundle waits", "lost 1 reading that was acknowledged"),
        (2, "journal 2 blocks with 2 readings", "outbox 2 bundles wait", "lost 2 readings that were acknowledged"),
    ]) func numbersStandBeforeTheRightWord(count: Int, journal: String, outbox: String, lost: String) {
        var stored = StoreStatus()
        (stored.journalBlocks, stored.journalReadings, stored.outboxRows, stored.lost) = (count, count, count, count)
        let input = CounterInput(stored: stored)
        let samples = CounterTable.samples(input)
        #expect(CounterTable.text(.journal, samples, input) == journal)
        #expect(CounterTable.text(.outbox, samples, input) == outbox)
        #expect(CounterTable.text(.lost, samples, input) == lost)
    }

    private func check(_ value: Any) {
        let samples = CounterTable.samples(input).all.map(\.value)
        for (path, number) in numbers(value)
        where !told.contains(path) && ![".rejected.", ".buckets."].contains(where: path.contains) {
            #expect(number != 0, "\(path) is new: give it a number in this test")
            #expect(samples.contains(number), "\(path) has no row in CounterTable")
        }
    }

    @Test func allThatAPipelineCountsHasARow() {
        check(run)
        #expect(CounterTable.samples(input).total("kymo_source_messages_total") == 36)
        #expect(CounterTable.samples(input).total("kymo_rejected_total", "reason", "clockAhead") == 61)
    }

    /// What programs get of a run has each number of the lines for people.
    @Test func theSummaryForProgramsHasWhatItsLinesHave() {
        let (all, sums) = (run.counters, Set(run.counters.all.map(\.name)).map { run.counters.total($0) })
        for row in CounterTable.rows where row.isInSummary {
            #expect(!all.of(row.name).isEmpty, "\(row.name)")
            #expect(all.total(row.name) == CounterTable.samples(input).total(row.name))
        }
        let values = Set(all.all.map { Int($0.value) } + sums)
        let known = values.union([
            // Missing frames without those that came late, of which both numbers are there.
            run.missingFrames - run.lateFrames
        ])
        #expect(run.lines.count == CounterLine.summary.count, "all lines say something: \(run.lines)")
        for line in run.lines {
            // A rate of two of them, and the digits of a form.
            let text = line.replacing(/[0-9.]+ bytes per reading/, with: "").replacing("18 digits", with: "")
                .replacing("64 bits", with: "")
            for number in text.matches(of: /\b[0-9]+\b/) {
                #expect(known.contains(Int(number.output) ?? -1), "\(number.output) of: \(line)")
            }
        }
    }

    @Test func allThatAStoreAndItsSinksTellHasARow() {
        check(stored)
        check(sinks)
    }

    @Test func allThatTheSystemTellsHasARow() { check(process) }

    /// What the status of a source tells is in the counters of that source.
    @Test func theStatusOfASource() throws {
        let source = InstanceStatus.Source(run.sources[0], framing: nil)
        let samples = CounterTable.samples(input).all.filter { $0.labels?["source"] == source.name }.map(\.value)
        for (path, number) in numbers(source) { #expect(samples.contains(number), "\(path)") }
    }

    /// Each row of what people read at the end of a run is in its summary.
    @Test func everyPhraseIsInALine() {
        let lines = run.lines.joined(separator: "\n")
        for row in CounterTable.rows {
            for phrase in row.phrases where CounterLine.summary.contains(phrase.line) {
                let samples = CounterTable.samples(input)
                let context = CounterPhrase.Context(name: row.name, samples: samples, input: input, source: nil)
                #expect(phrase.text(context).map { lines.contains($0) } == true, "\(row.name)")
            }
        }
        #expect(lines.contains("refused connections 41, idle connections 43"))
        #expect(CounterLine.summary.count == run.lines.count)
    }

    @Test func namesAreOfPrometheus() {
        #expect(Set(CounterTable.rows.map(\.name)).count == CounterTable.rows.count)
        for row in CounterTable.rows {
            #expect((row.durations != nil) == (row.kind == .histogram), "\(row.name)")
            #expect(row.name.wholeMatch(of: /(kymo|process)_[a-z]+(_[a-z]+)*/) != nil, "\(row.name)")
            #expect(row.name.hasSuffix("_total") == (row.kind == .counter), "\(row.name)")
            let plain = row.name.replacing("_total", with: "")
            for unit in ["bytes", "seconds"] {
                #expect(plain.hasSuffix("_\(unit)") == (row.unit == unit), "\(row.name)")
            }
            #expect(!row.help.isEmpty && !row.help.hasSuffix("."), "\(row.name)")
            #expect(
                Set(row.labels).isSubset(of: [
                    "rule", "source", "reason", "result", "sink", "version", "commit", "lane", "shard", "code",
                    "mapping",
                    "type",
                    "cause", "kind", "certificate", "name", "tag", "directory",
                ]), "\(row.name)")
        }
    }

    private func page(_ name: String) -> String { text("docs/\(name)") }

    private func text(_ file: String) -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        return String(
            decoding: FileManager.default.contents(atPath: root.appending(path: file).path) ?? Data(), as: UTF8.self)
    }

    @Test func thePageListsThem() {
        let table = CounterReference.table
        #expect(page("metrics.md").contains(table), "replace the table of metrics by:\n\(table)")
    }

    /// Names of samples: of a histogram those of its parts.
    private var sampleNames: Set<String> {
        var known: Set<String> = []
        for row in CounterTable.rows {
            let parts = row.kind == .histogram ? ["_bucket", "_sum", "_count"] : [""]
            known.formUnion(parts.map { row.name + $0 })
        }
        return known
    }

    /// Every metric that the alerts and the dashboard name exists, and so does every one that code asks for by name.
    @Test(arguments: [
        "docs/monitoring/alerts.yml", "docs/monitoring/kymograph.json", "Sources/Kymograph/Top/TopReport.swift",
        "Sources/Kymograph/Console/Live/SnapshotMaker.swift",
    ])
    func whatIsNamedIsThere(file: String) {
        let named = Set(text(file).matches(of: /\b(kymo|process)_[a-z_]+/).map { String($0.output.0) })
        #expect(!named.isEmpty && named.isSubset(of: sampleNames), "\(named.subtracting(sampleNames))")
    }

    /// In OpenMetrics the family of a counter has no suffix, and the text has an end.
    @Test func textForOpenMetrics() {
        let text = PrometheusText.text(CounterTable.samples(input), .openMetrics)
        #expect(text.contains("# TYPE kymo_readings_received counter\nkymo_readings_received_total{source="))
        #expect(text.contains("# TYPE kymo_store_outbox_rows gauge\nkymo_store_outbox_rows 179\n"))
        #expect(text.hasSuffix("\n# EOF\n"))
    }

    @Test(arguments: [
        ([], false), (["text/plain;version=0.0.4"], false), (["*/*"], false),
        (["application/openmetrics-text; version=1.0.0,text/plain;q=0.5"], true),
        (["text/plain", "Application/OpenMetrics-Text;q=0.5"], true), (["application/openmetrics-text; q=0"], false),
    ]) func formatByAccept(accept: [String], isOpen: Bool) {
        #expect((MetricsFormat.wanted(by: accept) == .openMetrics) == isOpen)
    }

    /// Each bucket has those below it, too.
    @Test func textOfHistograms() {
        let text = PrometheusText.text(CounterTable.samples(input))
        #expect(
            text.contains(
                """
                # TYPE kymo_sink_request_seconds histogram
                kymo_sink_request_seconds_bucket{sink="server",le="0.0005"} 0

                """))
        #expect(
            text.contains(
                """
                kymo_sink_request_seconds_bucket{sink="server",le="1.0"} 367
                kymo_sink_request_seconds_bucket{sink="server",le="2.5"} 368

                """))
        #expect(
            text.contains(
                """
                kymo_sink_request_seconds_bucket{sink="server",le="+Inf"} 368
                kymo_sink_request_seconds_sum{sink="server"} 369
                kymo_sink_request_seconds_count{sink="server"} 368

                """))
        #expect(text.contains("kymo_store_commit_seconds_bucket{le=\"30.0\"} 0\n"))
        #expect(text.contains("kymo_store_commit_seconds_bucket{le=\"+Inf\"} 1\n"))
    }

    /// What is on its way is not missing; what is counted nowhere is, and what is counted twice.
    @Test func readingsThatAreUnaccountedFor() {
        func run(received: Int, accepted: Int, used: Int = 0) -> PipelineSummary {
            var run = PipelineSummary()
            run.sources = [PipelineSummary.Source(name: "a")]
            run.sources[0].received = received
            run.shards.accepted = accepted
            run.engine.rings = [EngineCounts.Ring(lane: "0", shard: "0", used: used)]
            return run
        }
        let former = run(received: 100, accepted: 100)
        #expect(run(received: 100, accepted: 100).imbalance(since: former) == 0)
        #expect(run(received: 110, accepted: 100).imbalance(since: former) == 0)
        #expect(run(received: 110, accepted: 95, used: 5).imbalance(since: former) == 0)
        #expect(run(received: 100, accepted: 93, used: 5).imbalance(since: former) == 2)
        #expect(run(received: 100, accepted: 103).imbalance(since: run(received: 100, accepted: 103)) == 3)
        #expect(run(received: 105, accepted: 105).imbalance(since: run(received: 100, accepted: 103)) == 0)
    }

    @Test func seriesAreLimited() {
        let samples = CounterTable.samples(input)
        let (some, dropped) = samples.limited(to: 10)
        #expect(some.all.count <= 10 && !some.all.isEmpty && dropped == samples.all.count - some.all.count)
        // A counter is there with all of its values, or with none.
        for name in Set(some.all.map(\.name)) { #expect(some.of(name) == samples.of(name)) }
        #expect(samples.limited(to: 5_000).dropped == 0)
    }

    /// Counters of many sources go, as few as must, and the others stay as they are, the number of what went among them.
    @Test func ofManySeriesTheLongestGo() throws {
        var many = input
        many.run?.sources = (0..<1_000).map { PipelineSummary.Source(name: "ward-\($0)") }
        many.watched = WatchedCounts()
        let samples = CounterTable.samples(many)
        let (some, dropped) = samples.limited(to: 5_000)
        #expect(some.all.count <= 5_000 && dropped > 0 && dropped == samples.all.count - some.all.count)
        let kept = Set(some.all.map(\.name))
        #expect(some.all == samples.all.filter { kept.contains($0.name) })
        #expect(kept.contains("kymo_metrics_dropped_series"))
        let sizes = Dictionary(grouping: samples.all, by: \.name).mapValues(\.count)
        let least = try #require(sizes.filter { !kept.contains($0.key) }.values.min())
        #expect(kept.allSatisfy { sizes[$0, default: 0] <= least } && some.all.count + least > 5_000, "\(sizes)")
    }

    /// A line feed in a label ends no line, wherever it is.
    @Test func namesAreEscaped() {
        var named = CounterInput(run: PipelineSummary())
        named.run?.sources = [PipelineSummary.Source(name: "a\r\nb\\c\nd\"é")]
        let text = PrometheusText.text(CounterTable.samples(named))
        #expect(text.contains("\nkymo_source_messages_total{source=\"a\r\\nb\\\\c\\nd\\\"é\"} 0\n"), "\(text)")
    }

    @Test func textForPrometheus() throws {
        let text = PrometheusText.text(CounterTable.samples(input))
        #expect(
            text.contains(
                """
                # HELP kymo_readings_received_total Readings received: mapped ones, and payloads that gave none
                # TYPE kymo_readings_received_total counter
                kymo_readings_received_total{source="unix \\"a\\""} 100001

                """))
        #expect(text.contains("\nkymo_outbox_oldest_age_seconds{sink=\"server\"} 457.5\n"))
        #expect(text.contains("\nkymo_sink_entries_total{sink=\"server\",result=\"undeliverable\"} 229\n"))
        let form = /(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^\n]*"(,[a-z]+="[^\n]*")*\})? -?[0-9.]+)/
        for line in text.split(separator: "\n") { #expect(line.wholeMatch(of: form) != nil, "\(line)") }
        // Its value is 1, and the label says the rest.
        #expect(
            text.contains(
                "\nkymo_build_info{version=\"\(KymographVersion.number)\",commit=\"\(KymographVersion.commit)\"} 1\n"))
        // Without an instance there is the store.
        let idle = PrometheusText.text(CounterTable.samples(CounterInput(stored: stored)))
        #expect(!idle.contains("kymo_readings_received_total") && idle.contains("kymo_store_windows 163\n"))
    }
}
