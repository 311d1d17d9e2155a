/// Has shards count what becomes of the readings of a request, or of each item of its body, by marks between them in
/// the rings.
struct RequestCounts {
    /// Slots of each shard's ring when a count of its readings last ended; nothing before the first.
    private var counted: [UInt64] = []
    /// The number of the last count of all readings of a request, and the last item that was counted by itself.
    private var (lastCount, lastItem) = (0, ItemNumber())
    /// Whether every ring knows where the present count begins.
    private var isCounting = false

    /// Begins to count what becomes of the readings that follow. It waits for no ring: the readings may go to others,
    /// and a count is not worth what other sources of the lane would wait for it.
    mutating func begin(_ rings: inout LaneRings) {
        if counted.isEmpty { counted = Array(repeating: 0, count: rings.shardCount) }
        rings.routeStaged()
        isCounting = true
        for shard in counted.indices where rings.written(to: shard) != counted[shard] {
            guard rings.endCount(0, for: shard, waits: false) else { return isCounting = false }
            counted[shard] = rings.written(to: shard)
        }
    }

    /// Ends the count; gives its number, by which shards tell it, and 0 when there are no readings to be told of. Nil
    /// when a ring was full as it began, and when the pipeline is ended by force.
    mutating func end(_ rings: inout LaneRings) -> Int? {
        guard isCounting else { return nil }
        let number = end(as: lastCount + 1, &rings)
        if number != 0 { lastCount += 1 }
        return number
    }

    /// Begins a body, each item of which is counted by itself.
    mutating func beginItems() { lastItem.nextBody() }

    /// Ends the count of the next item of the body, as ``end(_:)`` does.
    mutating func endItem(_ rings: inout LaneRings) -> Int? {
        guard isCounting else { return nil }
        var next = lastItem
        next.nextItem()
        let number = end(as: next.count, &rings)
        if number != 0 { lastItem = next }
        return number
    }

    /// Ends the count, and calls it `name`.
    private mutating func end(as name: Int, _ rings: inout LaneRings) -> Int? {
        rings.routeStaged()
        var number = 0
        for shard in counted.indices where rings.written(to: shard) != counted[shard] {
            number = name
            guard rings.endCount(number, for: shard, waits: true) else { return nil }
            counted[shard] = rings.written(to: shard)
        }
        return number
    }
}
