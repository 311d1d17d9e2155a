import KymographCore

/// What happened in an instance between two looks at it: `kymo top`.
package struct TopReport: Codable, Sendable {
    /// A look.
    package struct Look: Sendable {
        /// What the instance said.
        package var status: InstanceStatus
        /// When.
        package var at: ContinuousClock.Instant

        /// A look.
        package init(_ status: InstanceStatus, at: ContinuousClock.Instant) {
            self.status = status
            self.at = at
        }
    }

    /// One source; rates are per second.
    package struct Source: Codable, Sendable {
        /// Its name.
        package var name: String
        /// Readings received.
        package var readings: Double
        /// Datagrams, messages, lines and frames.
        package var messages: Double
        /// Bytes received.
        package var bytes: Double
        /// Readings rejected before they came to a window.
        package var rejected: Double
        /// Datagrams that the kernel dropped.
        package var dropped: Double
        /// The same, since the start.
        package var droppedTotal: Int
    }

    /// The ring between a lane and a shard.
    package struct Ring: Codable, Sendable {
        /// Number of the lane.
        package var lane: String
        /// Number of the shard.
        package var shard: String
        /// Slots in use at the moment.
        package var used: Int
        /// Slots.
        package var slots: Int
        /// How often per second the lane has waited for room.
        package var waits: Double
    }

    /// Lanes, shards and windows; rates are per second.
    package struct Engine: Codable, Sendable {
        /// The rings between lanes and shards.
        package var rings: [Ring]
        /// Readings received.
        package var received: Double
        /// Readings in windows.
        package var accepted: Double
        /// Readings that were there already.
        package var duplicate: Double
        /// Readings that replaced others, or were replaced.
        package var conflict: Double
        /// Readings rejected for whatever reason.
        package var rejected: Double
        /// Windows closed.
        package var windows: Double
        /// Observations written, replacements included.
        package var observations: Double
        /// Bundles, or blocks of NDJSON, written.
        package var bundles: Double
        /// Readings on their way, at the moment.
        package var inFlight: Int
        /// Mean time of the commits to the store since the last look, in milliseconds; nil when there were none.
        package var commitMilliseconds: Double?

        /// The ring that is fullest in proportion; nil without any.
        package var fullestRing: Ring? {
            rings.max { $0.used * max(1, $1.slots) < $1.used * max(1, $0.slots) }
        }
        /// Threads that receive and map.
        package var lanes: Int { Set(rings.map(\.lane)).count }
        /// Threads that keep windows and write bundles.
        package var shards: Int { Set(rings.map(\.shard)).count }
    }

    /// One sink; rates are per second.
    package struct Sink: Codable, Sendable {
        /// Its name.
        package var name: String
        /// Bundles of the outbox that it has not taken.
        package var waiting: Int
        /// Entries that a FHIR server has stored; nil for other sinks.
        package var entries: Double?
        /// What a FHIR server is doing.
        package var delivery: DeliverySummary?
    }

    /// The time of the second look, as text in UTC.
    package var time: String
    /// Seconds between the looks.
    package var seconds: Double
    /// The data directory.
    package var directory: String
    /// Process id of the instance.
    package var process: Int32?
    /// When it began to run, as text in UTC.
    package var started: String?
    /// Version of kymo.
    package var version: String
    /// The sources, in their order.
    package var sources: [Source]
    /// Lanes, shards and windows.
    package var engine: Engine
    /// The sinks.
    package var sinks: [Sink]
    /// The store at the second look.
    package var store: StoreStatus

    /// What happened between two looks at one process.
    package init(from first: Look, to second: Look, time: Instant) {
        let seconds = max(first.at.duration(to: second.at) / .seconds(1), 1e-3)
        let rates = Rates(first.status.counters, second.status.counters, seconds)
        let status = second.status
        self.time = time.text
        self.seconds = seconds
        directory = status.directory
        process = status.process
        started = status.started
        version = status.version
        sources = status.sources.map { source in
            let name = source.name
            return Source(
                name: name, readings: rates.of("kymo_readings_received_total", "source", name),
                messages: rates.of("kymo_source_messages_total", "source", name),
                bytes: rates.of("kymo_source_received_bytes_total", "source", name),
                rejected: rates.of("kymo_source_rejected_total", "source", name),
                dropped: rates.of("kymo_source_kernel_dropped_total", "source", name),
                droppedTotal: source.kernelDropped)
        }
        engine = Engine(status, rates)
        let others = (status.outputs ?? []).filter { name in !status.sinks.contains { $0.name == name } }
        sinks = others.map { Sink(name: $0, waiting: 0) }
        sinks += status.sinks.map { sink in
            Sink(
                name: sink.name, waiting: sink.waiting,
                entries: sink.delivery.map { delivery in
                    let former = first.status.sinks.first { $0.name == sink.name }?.delivery?.taken ?? 0
                    return Rates.of(delivery.taken - former, seconds)
                },
                delivery: sink.delivery)
        }
        store = status.store
    }
}

extension TopReport.Engine {
    fileprivate init(_ status: InstanceStatus, _ rates: Rates) {
        rings = rates.rings
        received = rates.of("kymo_readings_received_total")
        accepted = rates.of("kymo_readings_total", "result", "accepted")
        duplicate = rates.of("kymo_readings_total", "result", "duplicate")
        conflict = rates.of("kymo_readings_total", "result", "conflict")
        rejected = rates.of("kymo_rejected_total")
        windows = rates.of("kymo_windows_written_total")
        observations = rates.of("kymo_observations_written_total")
        bundles = rates.of("kymo_output_bundles_total")
        inFlight = status.counters?.total("kymo_readings_in_flight") ?? 0
        let commits = rates.grown("kymo_store_commit_seconds_count")
        let seconds = rates.grown("kymo_store_commit_seconds_sum")
        if commits > 0 { commitMilliseconds = Rates.rounded(seconds / commits * 1_000) }
    }
}

/// How fast counters grow.
private struct Rates {
    let first: CounterSamples?
    let second: CounterSamples?
    let seconds: Double

    init(_ first: CounterSamples?, _ second: CounterSamples?, _ seconds: Double) {
        self.first = first
        self.second = second
        self.seconds = seconds
    }

    /// The counter's growth per second; 0 where it is not counted.
    func of(_ name: String, _ label: String? = nil, _ value: String = "") -> Double {
        Rates.of((second?.total(name, label, value) ?? 0) - (first?.total(name, label, value) ?? 0), seconds)
    }

    /// The growth of a counter without labels.
    func grown(_ name: String) -> Double {
        (second?.of(name).first?.value ?? 0) - (first?.of(name).first?.value ?? 0)
    }

    /// The rings as they are, in the order of lanes and shards.
    var rings: [TopReport.Ring] {
        (second?.of("kymo_ring_used_slots") ?? []).compactMap { used in
            func value(_ samples: CounterSamples?, _ name: String) -> Double {
                samples?.of(name).first { $0.labels == used.labels }?.value ?? 0
            }
            guard let lane = used.labels?["lane"], let shard = used.labels?["shard"] else { return nil }
            let waits = value(second, "kymo_ring_waits_total") - value(first, "kymo_ring_waits_total")
            return TopReport.Ring(
                lane: lane, shard: shard, used: Int(used.value), slots: Int(value(second, "kymo_ring_slots")),
                waits: Rates.rounded(max(0, waits) / seconds))
        }
    }

    /// `grown` per second, to a tenth.
    static func of(_ grown: Int, _ seconds: Double) -> Double { rounded(Double(max(0, grown)) / seconds) }

    /// To a tenth.
    static func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }
}
