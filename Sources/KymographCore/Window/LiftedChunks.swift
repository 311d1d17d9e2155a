/// A chunk of a long window that has been unpacked for late readings: a re-sent day goes through each chunk reading by
/// reading, and to pack it anew for each would cost a hundred times as much.
struct LiftedChunk: BitwiseCopyable {
    /// ``OpenWindow/pack`` of its window.
    let pack: UInt32
    /// Its place among the chunks of the window.
    let place: Int
    /// First slot of its readings.
    var readings: UInt32
    /// Readings in use there.
    var count: UInt32
    /// Size class of the run.
    var sizeClass: UInt8
}

/// The chunks that are unpacked, one of a window: so many at most that memory stays as it is, however many windows get
/// late readings.
struct LiftedChunks {
    /// At most, of 4 to 8 KiB each.
    static var most: Int { 512 }

    /// Nil where one has been packed again.
    private var chunks: [LiftedChunk?] = []
    /// Where the next one goes.
    private var next = 0

    /// The one that must be packed before another can be noted, if any: the oldest.
    var inTheWay: LiftedChunk? { next < chunks.count ? chunks[next] : nil }

    /// The chunk at `place`.
    func chunk(_ place: Int) -> LiftedChunk? { chunks[place] }

    /// Notes a chunk, where none is in the way; gives its place.
    mutating func append(_ chunk: LiftedChunk) -> Int {
        let place = next
        precondition(inTheWay == nil, "the oldest is packed first")
        if place == chunks.count { chunks.append(chunk) } else { chunks[place] = chunk }
        next = (place + 1) % LiftedChunks.most
        return place
    }

    /// Notes that the chunk at `place` has other readings.
    mutating func update(_ place: Int, _ chunk: LiftedChunk) { chunks[place] = chunk }

    /// Notes that the chunk at `place` is packed again.
    mutating func remove(_ place: Int) { chunks[place] = nil }
}
