/// What lanes, shards and the store's thread have at hand at one moment.
package struct EngineCounts: Sendable {
    /// The ring between a lane and a shard.
    package struct Ring: Sendable {
        /// Number of the lane.
        package var lane: String
        /// Number of the shard.
        package var shard: String
        /// Slots in use.
        package var used = 0
        /// Slots.
        package var slots = 0
        /// How often the lane has waited for room.
        package var waits = 0
    }

    /// What a shard keeps.
    package struct Shard: Sendable {
        /// Number of the shard.
        package var shard: String
        /// Devices.
        package var devices = 0
        /// Series.
        package var series = 0
        /// Windows in memory: filling, or waiting to be written.
        package var windows = 0
    }

    /// What a lane has met since the start.
    package struct Lane: Sendable {
        /// Number of the lane.
        package var lane: String
        /// Devices.
        package var devices = 0
        /// Series.
        package var series = 0
    }

    /// Every ring.
    package var rings: [Ring] = []
    /// Every lane that has begun.
    package var lanes: [Lane] = []
    /// Most devices, and most series, that a lane or a shard takes; nil while that is not known.
    package var (mostDevices, mostSeries): (Int?, Int?) = (nil, nil)
    /// Every shard that has counted.
    package var shards: [Shard] = []
    /// Processor time of each lane's thread, in seconds.
    package var laneSeconds: [Double] = []
    /// Processor time of each shard's thread, in seconds.
    package var shardSeconds: [Double] = []
    /// Readings by mapping and type.
    package var readings: [ReadingCounts.Entry] = []
    /// How long commits of the store took; nil without a store.
    package var commits: DurationCounts?
    /// How long readings took from when they were received until they were durable; nil without a store.
    package var durable: DurationCounts?

    /// Nothing at hand.
    package init() {}

    /// Slots in use of all rings.
    var usedSlots: Int { rings.reduce(0) { $0 + $1.used } }
}

/// What only shows when an instance is looked at again and again.
struct WatchedCounts: Sendable {
    /// When each source last brought something, in seconds since 1970, to a second.
    var lastReceived: [(source: String, seconds: Double)] = []
    /// At least so many readings are unaccounted for.
    var imbalance = 0
    /// Whether the store takes nothing.
    var isStoreWaiting = false
    /// The file systems that are written to.
    var disks: [DiskFacts] = []
    /// Series that were left out of the metrics.
    var droppedSeries = 0
    /// When the first of the certificates of the listener for metrics ends, in seconds since 1970; nil without TLS.
    var certificateExpiry: Double?
}
