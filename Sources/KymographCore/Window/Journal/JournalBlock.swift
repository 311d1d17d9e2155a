/// Readings of one shard in the order in which it took them, packed to become durable together.
public struct JournalBlock: Sendable {
    /// Its number, greater than those of the shard's earlier blocks and different from those of other shards.
    public var number: Int64
    /// Readings in it.
    public var count: Int
    /// The readings; see ``JournalWriter``.
    public var bytes: [UInt8]

    /// A block.
    public init(number: Int64, count: Int, bytes: [UInt8]) {
        self.number = number
        self.count = count
        self.bytes = bytes
    }
}

/// A place in the journal: everything before it is included.
public struct JournalPlace: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Number of the block.
    public var block: Int64
    /// Readings of the block that come before.
    public var index: Int

    /// A place.
    public init(block: Int64, index: Int) {
        self.block = block
        self.index = index
    }

    /// Order in the journal of one shard.
    public static func < (left: JournalPlace, right: JournalPlace) -> Bool {
        (left.block, left.index) < (right.block, right.index)
    }
}
