import KymographCore

/// What a program that embeds the pipeline hears of readings, on the threads of lanes, shards and the store. A call
/// that blocks is back-pressure.
protocol ReadingObserver: AnyObject, Sendable {
    /// A lane has counted `count` further readings of source `source`, by its place in the settings; rejected ones are
    /// among them.
    func received(_ count: Int, source: Int)

    /// A reading was rejected: by the lane that reads source `source`, or later, by a shard (nil).
    func rejected(_ reason: Rejection, _ letter: StoredDeadLetter, source: Int?)

    /// What sinks have settled is durable.
    func settled(_ settlements: [Settlement])
}
