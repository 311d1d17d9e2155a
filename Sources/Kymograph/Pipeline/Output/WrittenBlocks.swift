import KymographCore

/// What is known of blocks that are written, and not in their file for good.
struct WrittenBlocks: ~Copyable {
    /// When they were made.
    private var since: [Instant] = []
    private var types = ReadingTypes()
    private var index = EntryIndex()

    /// Notes a block of entries, made at `time` if that is known.
    mutating func note(_ block: [UInt8], since time: Instant?) {
        if let time { since.append(time) }
        block.withByteView { types.note($0, &index) }
    }

    /// When the blocks were made, and the types whose readings they show.
    mutating func take() -> (since: [Instant], types: Set<String>) {
        defer { since = [] }
        return (since, types.take())
    }
}
