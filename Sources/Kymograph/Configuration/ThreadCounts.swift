/// How many threads of each kind a pipeline has when unspecified.
package struct ThreadCounts: Hashable, Sendable {
    /// Threads that receive and map.
    package var lanes: Int
    /// Threads that keep windows and write bundles.
    package var shards: Int

    /// For `processors`: half of them for lanes, because receiving and mapping a reading takes two to three times as
    /// much as its window and its part of an Observation; a quarter for shards; the rest for store, sinks and kernel.
    package init(processors: Int) {
        lanes = max(1, processors / 2)
        shards = max(1, processors / 4)
    }
}

extension PipelineSettings {
    /// Decides about threads that nobody stated, for a machine of `processors`.
    package mutating func settleThreads(processors: Int) {
        let usual = ThreadCounts(processors: processors)
        if lanes == 0 { lanes = usual.lanes }
        if shards == 0 { shards = usual.shards }
    }

    /// The processor of the thread at `place` among lanes and shards, lanes first; nil to leave it to the system.
    func processor(at place: Int) -> Int? {
        processors.isEmpty ? nil : processors[place % processors.count]
    }
}
