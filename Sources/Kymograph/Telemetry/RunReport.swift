import KymographCore

/// The summary of a run for programs: what `kymo run --summary json` writes at its end.
package struct RunReport: Encodable {
    /// What one source gave.
    private struct Source: Encodable {
        var name: String
        var received: Int
        /// By the name of the reason, of what was rejected before it came to a window.
        var rejected: [String: Int]
        var kernelDropped: Int
    }

    /// What became of entries at a sink that answers for each.
    private struct Sink: Encodable {
        var name: String
        var delivered: Int
        var deleted: Int
        var undeliverable: ReasonCounts
        var retries: Int
    }

    /// All that a run counts.
    private struct Counts: Encodable {
        var received: Int
        var accepted: Int
        var duplicate: Int
        var conflict: Int
        var retractions: Int
        /// By the name of the reason.
        var rejected: [String: Int]
        /// Readings that have ended nowhere.
        var lost: Int
        var kernelDropped: Int
        var windows: Int
        var observations: Int
        var resources: Int
        var bundles: Int
        var bytes: Int
        var undelivered: Int
        var sources: [Source]
        var sinks: [Sink]
        /// All that is counted, by the names of docs/metrics.md.
        var counters: CounterSamples
    }

    private let summary: Counts

    /// The summary of `run`, at its end.
    package init(_ run: PipelineSummary) {
        summary = Counts(
            received: run.received, accepted: run.accepted, duplicate: run.duplicate, conflict: run.conflict,
            retractions: run.retractions, rejected: Self.byName(run.shards.rejected), lost: run.inFlight,
            kernelDropped: run.kernelDropped, windows: run.windows, observations: run.observations,
            resources: run.resources, bundles: run.bundles, bytes: run.bytes, undelivered: run.undeliveredBundles,
            sources: run.sources.map { source in
                Source(
                    name: source.name, received: source.received, rejected: Self.byName(source.rejected),
                    kernelDropped: Int(source.counts.kernelDrops))
            },
            sinks: run.deliveries.map { sink, delivery in
                Sink(
                    name: sink, delivered: delivery.delivered, deleted: delivery.deleted ?? 0,
                    undeliverable: delivery.undeliverableReasons, retries: delivery.retries)
            }, counters: run.counters)
    }

    /// Counts, which are in the places of the reasons, by the names of those that have any.
    private static func byName(_ counts: [Int]) -> [String: Int] {
        let reasons = Rejection.allCases.filter { counts[Int($0.rawValue)] > 0 }
        return Dictionary(reasons.map { ($0.name, counts[Int($0.rawValue)]) }, uniquingKeysWith: +)
    }
}
