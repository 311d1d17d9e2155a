import KymographCore

/// Makes snapshots of what is counted anyway; keeps what the last one found, for rates.
struct SnapshotMaker {
    private let subject: ConsoleSubject
    private let gaps: GapWatch?
    private var former: TopReport.Look?
    private var next = 1

    /// Of `subject`, and of what `gaps` finds in its store.
    init(_ subject: ConsoleSubject, _ gaps: GapWatch? = nil) { (self.subject, self.gaps) = (subject, gaps) }

    /// Looks once: the totals, and what makes a snapshot of them.
    mutating func look() -> (sample: LiveSample, snapshot: @Sendable () -> LiveSnapshot) {
        let (facts, seen, now) = (subject.view.facts(), subject.seen(), WallClock.now())
        let look = TopReport.Look(status(facts, seen), at: .now)
        let report = TopReport(from: former ?? look, to: look, time: now)
        former = look
        let sample = LiveSample(next, facts.run, at: now)
        next += 1
        return (
            sample,
            { [subject, gaps] in
                subject.snapshot(sample, facts, seen, look.status, report, gaps?.latest() ?? GapWatch.Finding())
            }
        )
    }

    private func status(_ facts: InstanceFacts, _ seen: InstanceWatch.Seen) -> InstanceStatus {
        var status = seen.stored ?? InstanceStatus(directory: subject.directory)
        for (sink, delivery) in facts.deliveries { status.note(delivery, of: sink) }
        status.sources = facts.run.sources.filter { !$0.isRemoved }.map { InstanceStatus.Source($0, framing: nil) }
        status.started = subject.started.text
        status.outputs = subject.settings.outgoingSinks.map(\.name)
        status.count(facts.run, at: WallClock.now())
        return status
    }
}

extension ConsoleSubject {
    fileprivate func snapshot(
        _ sample: LiveSample, _ facts: InstanceFacts, _ seen: InstanceWatch.Seen, _ status: InstanceStatus,
        _ report: TopReport, _ found: GapWatch.Finding
    ) -> LiveSnapshot {
        let run = facts.run
        let sources = zip(run.sources.filter { !$0.isRemoved }, report.sources).map {
            LiveSnapshot.Source($0, $1, seen.counts)
        }
        let sinks = report.sinks.map { LiveSnapshot.Sink($0, run.outputs, status.sinks) }
        let store = LiveSnapshot.Store(status.store, counted: seen.storedAt)
        let balance = LiveSnapshot.Balance(run, imbalance: seen.counts.imbalance)
        let reasons = LiveSnapshot.Reason.all(run)
        let health = InstanceHealth(facts: facts, downSince: seen.downSince, now: .now)
        let silentAfter = Double(settings.log.silentAfter) / 1e9
        let attention = AttentionRules(
            health: health, balance: balance, sources: sources, rates: report.sources, sinks: sinks, reasons: reasons,
            store: store, gaps: found.gaps, silentAfter: silentAfter, started: Double(started.nanoseconds) / 1e9,
            now: sample.time)
        return LiveSnapshot(
            sample: sample, started: started.text, silentAfter: silentAfter, rate: report.engine.received,
            balance: balance, sources: sources,
            sinks: sinks, rejections: reasons, missing: run.missingFrames + run.kernelDropped,
            windows: LiveSnapshot.Windows(run, status.counters), store: store, attention: attention.found,
            gapSearch: found.search)
    }
}

extension LiveSnapshot.Balance {
    fileprivate init(_ run: PipelineSummary, imbalance: Int) {
        self.init(
            received: run.received, accepted: run.accepted, duplicate: run.duplicate, conflict: run.conflict,
            rejected: run.rejectedTotal, inFlight: run.inFlight, imbalance: imbalance)
    }
}

extension LiveSnapshot.Source {
    fileprivate init(_ source: PipelineSummary.Source, _ rates: TopReport.Source, _ watched: WatchedCounts) {
        self.init(
            name: source.name, readings: rates.readings, messages: rates.messages, bytes: rates.bytes,
            received: source.received, rejected: source.rejected.reduce(0, +), dropped: Int(source.counts.kernelDrops),
            connections: source.counts.connections > 0 ? Int(source.counts.openStreams) : nil,
            lastSeen: watched.lastReceived.first { $0.source == source.name }?.seconds)
    }
}

extension LiveSnapshot.Sink {
    fileprivate init(_ sink: TopReport.Sink, _ outputs: [PipelineSummary.Output], _ stored: [SinkStatus]) {
        let delivery = sink.delivery
        let isUp = delivery?.isUp ?? outputs.first { $0.name == sink.name }?.isUp ?? true
        self.init(
            name: sink.name, isUp: isUp, entries: sink.entries, waiting: sink.waiting,
            oldestAge: stored.first { $0.name == sink.name }?.oldestAge, delivered: delivery?.delivered,
            undeliverable: delivery?.undeliverable, circuit: delivery?.circuit, trouble: delivery?.trouble?.reason,
            troubleSince: delivery?.trouble?.since)
    }
}

extension LiveSnapshot.Reason {
    /// Those that readings were rejected for, the most frequent first.
    fileprivate static func all(_ run: PipelineSummary) -> [LiveSnapshot.Reason] {
        let counts = run.shards.rejected
        return Rejection.allCases.compactMap { reason in
            let place = Int(reason.rawValue)
            guard counts.indices.contains(place), counts[place] > 0 else { return nil }
            return LiveSnapshot.Reason(
                reason: reason.name, count: counts[place], meaning: reason.explanation, cause: reason.plainCause,
                fate: reason.fate)
        }.sorted { $0.count > $1.count }
    }
}

extension LiveSnapshot.Windows {
    fileprivate init(_ run: PipelineSummary, _ counters: CounterSamples?) {
        self.init(
            open: counters?.total("kymo_windows_open") ?? 0, written: run.windows, amended: run.amended,
            late: run.lateReadings, observations: run.observations)
    }
}

extension LiveSnapshot.Store {
    fileprivate init(_ store: StoreStatus, counted: Instant?) {
        self.init(
            usedBytes: store.usedBytes, limitBytes: store.limitBytes, windows: store.windows,
            outboxRows: store.outboxRows, deadLetters: store.deadLetters, quarantined: store.quarantined,
            lost: store.lost, counted: counted.map { Double($0.nanoseconds / 1_000_000) / 1_000 })
    }
}
