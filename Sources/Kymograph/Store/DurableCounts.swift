import KymographCore

/// What became of readings that lanes have counted, and that are durable, until the replies to their senders tell it.
struct DurableCounts {
    /// The counts of one lane.
    private struct Lane {
        /// Of requests as a whole, by the lane's numbers, of all shards together.
        var outcomes: [Int: ReadingOutcomes] = [:]
        /// The highest number that was forgotten; lower ones are forgotten, too.
        var forgottenThrough = 0
        /// Of bodies whose items are counted by themselves.
        var items = DurableItems()

        mutating func add(_ part: ReadingOutcomes, number: Int) {
            guard number > forgottenThrough else { return }
            outcomes[number, default: ReadingOutcomes()].add(part)
            let oldest = number - DurableCounts.most
            guard oldest > forgottenThrough else { return }
            for forgotten in forgottenThrough + 1...oldest { outcomes[forgotten] = nil }
            forgottenThrough = oldest
        }
    }

    /// A lane's last numbers whose counts are kept. Who asks for an older one has waited for very long, or has gone.
    static let most = 65_536

    private var lanes: [Int: Lane] = [:]

    /// Adds a shard's part of a count. A count that was forgotten stays so: its other parts are gone.
    mutating func add(_ count: CountedReadings) {
        if let item = ItemNumber(count: count.number) {
            lanes[count.lane, default: Lane()].items.add(count, of: item.body)
        } else {
            lanes[count.lane, default: Lane()].add(count.outcomes, number: count.number)
        }
    }

    /// Takes the count of `lane` called `number`; nil when it is forgotten.
    mutating func take(_ number: Int, lane: Int) -> ReadingOutcomes? {
        lanes[lane]?.outcomes.removeValue(forKey: number)
    }

    /// Takes the counts of all items of the body of `lane` called `body`; nil when they are forgotten.
    mutating func takeItems(ofBody body: Int, lane: Int) -> [DurableItems.Part]? { lanes[lane]?.items.take(body) }
}
