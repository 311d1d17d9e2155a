import KymographCore

/// What became of everything that was received: the balance that `kymo run` prints. Its lines are made by
/// ``CounterTable``; what shards count is found under its own name.
@dynamicMemberLookup
package struct PipelineSummary: Sendable {
    /// One source of the configuration, whichever lanes read it.
    package struct Source: Sendable {
        /// Its name.
        package var name: String
        /// Readings received: mapped ones, and payloads that gave none.
        package var received = 0
        /// Readings rejected before they came to a window, indexed by the reason's raw value.
        package var rejected: [Int] = Array(repeating: 0, count: Rejection.placeCount)
        /// What its lanes read.
        package var counts = SourceCounts()
        /// Bytes of receive buffer that the kernel granted all of its sockets.
        package var receiveBufferBytes = 0
        /// When the first of the certificates ends that clients, or a broker, are shown, in seconds since 1970; nil
        /// without any.
        package var certificateExpiry: Double?
        /// When a reload has removed it; nil while it is read.
        package var removedAt: Instant?

        /// Whether a reload has removed it.
        package var isRemoved: Bool { removedAt != nil }

        /// A source that has received nothing.
        package init(name: String) { self.name = name }
    }

    /// A sink that blocks of entries are brought to, such as files.
    package struct Output: Sendable {
        /// Its name.
        package var name: String
        /// Whether it takes what there is.
        package var isUp = true
        /// Times from the making of entries to when the sink had them for good: of each block the oldest.
        package var deliveryTimes = DurationCounts()
    }

    /// The sources, in the order of the configuration.
    package var sources: [Source] = []
    /// What shards have counted; rejections of sources are among its own.
    package var shards = ShardTally()
    /// What happened to readings that are not rejected.
    package var notes = MappingNotes()
    /// Datagrams that the kernel dropped, for each socket that has any.
    package var kernelDropsBySource: [(source: String, count: Int)] = []
    /// Frames of bridges that did not come when it was their turn, by their numbers.
    package var missingFrames = 0
    /// Those of them that came late.
    package var lateFrames = 0
    /// Payloads that were kept as they came (`store.keepRaw`).
    package var keptPayloads = 0
    /// Payloads that gave readings and were not kept, as there was no room.
    package var lostPayloads = 0
    /// Bytes of output before compression.
    package var bytes = 0
    /// Bundles, or blocks of NDJSON.
    package var bundles = 0
    /// Bundles that could not be delivered before the end.
    package var undeliveredBundles = 0
    /// How often the mappings were loaded again.
    package var reloads = ReloadCounts()
    /// The last of them, where it was refused.
    package var refusedReload: RefusedReload?
    /// How often rules have decided, and which tags readings got.
    package var rules = RuleCounts.Facts()
    /// How many types and sources are paused.
    package var paused = 0
    /// Of the patient map; nil without one.
    package var patients: PatientMapFacts?
    /// Files of rules, and of peers, whose errors keep former ones in use.
    package var refusedLists: (rules: Int, peers: Int) = (0, 0)
    /// Sinks that blocks of entries are brought to.
    package var outputs: [Output] = []
    /// Sinks that take entries from the outbox by themselves.
    package var deliveries: [(sink: String, summary: DeliverySummary)] = []
    /// Entries of the log that were repeats, and not written by themselves; nil when that is not known.
    package var suppressedLogEntries: Int?
    /// What is at hand.
    package var engine = EngineCounts()

    /// Nothing received.
    package init() {}

    /// What shards have counted, by its name in ``ShardTally``.
    package subscript<Value>(dynamicMember path: WritableKeyPath<ShardTally, Value>) -> Value {
        get { shards[keyPath: path] }
        set { shards[keyPath: path] = newValue }
    }

    /// Readings received: mapped ones, and payloads that gave none.
    package var received: Int { sources.reduce(0) { $0 + $1.received } }

    /// Datagrams that the kernel dropped before anybody could read them.
    package var kernelDropped: Int { sources.reduce(0) { $0 + Int($1.counts.kernelDrops) } }

    /// Readings rejected for whatever reason.
    package var rejectedTotal: Int { shards.rejected.reduce(0, +) }

    /// Readings that entered and have not ended anywhere: on their way while the pipeline runs, lost when it has ended.
    package var inFlight: Int {
        received - shards.accepted - shards.duplicate - shards.conflict - shards.retractions - rejectedTotal
    }

    /// At least so many readings are unaccounted for, or were counted twice where they end.
    ///
    /// Readings on their way are in the rings, or were received since `former`, about a second ago: a lane and a shard
    /// count no later than that. At the worst they hide a few that are lost, until less comes.
    func imbalance(since former: PipelineSummary) -> Int {
        let new = received - former.received
        return max(0, inFlight - engine.usedSlots - new, -former.inFlight - new)
    }

    /// The balance, with the part `inFlight` that must be zero at the end.
    package var balance: String { text(.balance) ?? "" }

    /// All lines of the summary.
    package var lines: [String] {
        let input = CounterInput(run: self)
        let samples = CounterTable.samples(input)
        return CounterLine.summary.compactMap { CounterTable.text($0, samples, input) }
    }

    /// All counters of the run, so that whatever the lines tell is among them, and a count that is new, too.
    package var counters: CounterSamples {
        let input = CounterInput(run: self)
        return CounterSamples(
            CounterTable.rows.filter { $0.kind == .counter || $0.isInSummary }.flatMap { $0.samples(input) })
    }

    /// One line for a terminal that is watched.
    package var liveLine: String { text(.live) ?? "" }

    private func text(_ line: CounterLine) -> String? {
        let input = CounterInput(run: self)
        return CounterTable.text(line, CounterTable.samples(input), input)
    }
}

/// How often mappings were loaded again while a pipeline ran.
package struct ReloadCounts: Hashable, Sendable {
    /// Took effect.
    package var succeeded = 0
    /// Had errors: the former mappings stayed in use.
    package var failed = 0

    /// None.
    package init() {}
}

/// A reload that changed nothing.
package struct RefusedReload: Codable, Hashable, Sendable {
    /// When, as text in UTC.
    package var at: String
    /// What asked for it, why it was refused, and what is in use.
    package var reason: String
}
