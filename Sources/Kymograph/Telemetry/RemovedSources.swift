import KymographCore

/// Sources that reloads have removed, and which metrics these still have.
///
/// For an hour those that count, so that rates are right up to its end; then none. What is true of it now is nothing,
/// from the first moment on: alerts about it end. Nor has it a count of zero, which would say that nothing has come by
/// it yet. Totals of the instance have them all.
struct RemovedSources: Codable, Hashable, Sendable {
    /// For how long their counts are given, in nanoseconds.
    static let counted: Int64 = 3_600_000_000_000

    /// Names of those whose counts are given.
    private(set) var recent: [String] = []
    /// Names of the others.
    private(set) var former: [String] = []

    /// None.
    init() {}

    /// Those of `run`, as of `now`.
    init(_ run: PipelineSummary, at now: Instant) {
        for source in run.sources {
            guard let removed = source.removedAt else { continue }
            now < removed.advanced(by: Self.counted) ? recent.append(source.name) : former.append(source.name)
        }
    }

    /// What metrics have of `samples`.
    func given(_ samples: CounterSamples) -> CounterSamples {
        if self == RemovedSources() { return samples }
        let (recent, former) = (Set(recent.map { IdentifierText($0) }), Set(former.map { IdentifierText($0) }))
        let gauges = Set(CounterTable.rows.filter { $0.kind == .gauge }.map(\.name))
        let given = samples.all.filter { sample in
            guard let name = sample.labels?["source"] else { return true }
            let source = IdentifierText(name)
            if former.contains(source) { return false }
            return !recent.contains(source) || sample.value != 0 && !gauges.contains(sample.name)
        }
        return CounterSamples(given)
    }
}
