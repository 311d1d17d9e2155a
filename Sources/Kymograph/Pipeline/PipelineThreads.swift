import CKymographLinux

/// The lanes and shards of a pipeline as threads: which of them have begun, work, and have ended.
final class PipelineThreads: Sendable {
    /// What is seen of one thread.
    struct Life: Sendable {
        let pulse = Pulse()
        let clock = ThreadClock()
    }

    private let lanes: [Life]
    private let shards: [Life]
    /// The lanes that have not ended.
    let runningLanes: RunningThreads
    private let runningShards: RunningThreads
    /// Lanes and shards that are not ready yet.
    private let starting: RunningThreads

    /// None of them has begun.
    init(lanes: Int, shards: Int) {
        self.lanes = (0..<lanes).map { _ in Life() }
        self.shards = (0..<shards).map { _ in Life() }
        (runningLanes, runningShards) = (RunningThreads(lanes), RunningThreads(shards))
        starting = RunningThreads(lanes + shards)
    }

    // MARK: Their threads

    /// Begins lane `index`, on its thread.
    func beginLane(_ index: Int) -> Pulse {
        lanes[index].clock.begin()
        return lanes[index].pulse
    }

    /// Ends lane `index`, on its thread, which does nothing for the pipeline after this.
    func endLane(_ index: Int) {
        lanes[index].pulse.end()
        lanes[index].clock.end()
        runningLanes.leave()
    }

    /// The pulse of shard `index`.
    func pulse(ofShard index: Int) -> Pulse { shards[index].pulse }

    /// Runs shard `index` by `body`, on its thread.
    func runShard(_ index: Int, _ body: () -> Void) {
        shards[index].clock.begin()
        body()
        shards[index].pulse.end()
        shards[index].clock.end()
        runningShards.leave()
    }

    /// Called by each lane and shard when it is ready; the last one ends the start.
    func noteStarted() {
        // Of 23 MiB then, 18 are code and constants, most of which reading mappings and arguments has used.
        if starting.leave() { kymo_memory_forget_unused() }
    }

    // MARK: For others

    /// Whether not all of them are ready.
    var areStarting: Bool { !starting.isZero }

    /// Whether all of them have ended.
    var haveEnded: Bool { runningLanes.isZero && runningShards.isZero }

    /// Processor time of the lanes, in seconds.
    var laneSeconds: [Double] { lanes.map(\.clock.seconds) }

    /// Processor time of the shards, in seconds.
    var shardSeconds: [Double] { shards.map(\.clock.seconds) }

    /// What they have done up to now. `isWaiting` says of a shard whether it waits for room.
    func progress(isWaiting: (Int) -> Bool) -> [ThreadProgress] {
        let ofLanes = lanes.enumerated().map { number, lane in
            ThreadProgress(name: "lane \(number)", rounds: lane.pulse.count, isWaitingForRoom: false)
        }
        return ofLanes
            + shards.enumerated().map { number, shard in
                ThreadProgress(
                    name: "shard \(number)", rounds: shard.pulse.count, isWaitingForRoom: isWaiting(number))
            }
    }
}
