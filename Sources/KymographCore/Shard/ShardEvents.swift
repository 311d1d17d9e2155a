/// What a shard tells its owner. Called per block, per batch and per rejected reading, never per good one.
package protocol ShardEvents: AnyObject {
    /// A block of entries (``EntryBlock``) is complete, the oldest of which was made at `since`. `block` is valid
    /// during the call, which may block.
    func block(_ block: ByteView, for route: BundleRoute, since: Instant)
    /// Blocks of entries (``EntryBlock``) are handed to the store, which gives them to sinks. Must not block.
    func handedOver(_ blocks: [ShardUnit.Block])
    /// A reading was rejected after it had been mapped. `payload` is valid during the call.
    func rejected(_ reading: RejectedReading, payload: ByteView)
    /// Readings were counted since the last time.
    func counted(_ tally: ShardTally)
    /// Rules have vetoed, patched or kept so many resources since the last time.
    func ruled(_ counts: [(rule: String, count: Int)])
}

extension ShardEvents {
    /// Default: ignored.
    package func handedOver(_ blocks: [ShardUnit.Block]) {}

    /// Default: ignored.
    package func ruled(_ counts: [(rule: String, count: Int)]) {}
}
