/// The older readings of a long window, as blocks of the archive's format: a sixth of the memory.
///
/// Late readings are rare, and mostly little late: what a device sends next goes behind the latest readings, which are
/// not packed. One that belongs further back costs the unpacking of the chunk that it goes into, which then stays
/// unpacked for those behind it (``LiftedChunk``).
struct PackedReadings {
    /// Readings that follow each other.
    struct Chunk: BitwiseCopyable {
        /// Instant of the first one.
        var first: Instant
        /// How many they are.
        var count: UInt32
        /// A block as ``WindowBlockDecoder`` reads it.
        var block: ReadingSlab.Bytes
    }

    /// In time order.
    var chunks: [Chunk] = []
    /// Which of the ``LiftedChunks`` is one of these: its block has been taken.
    var lifted: Int?

    /// The chunk that a reading at `instant` goes into: the last one that begins no later, or the first one.
    func place(of instant: Instant) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle].first <= instant { low = middle + 1 } else { high = middle }
        }
        return max(low - 1, 0)
    }
}
