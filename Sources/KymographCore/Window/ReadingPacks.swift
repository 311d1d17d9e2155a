/// The packed readings of all long windows: of each its chunks, which lie among the readings that are not packed.
struct ReadingPacks: ~Copyable {
    /// By ``OpenWindow/pack``.
    private var packs: [PackedReadings] = []
    /// Those that no window uses.
    private var free: [UInt32] = []
    /// Size class of runs from which on readings are packed.
    let sizeClass: Int
    /// Where a chunk is on its way to memory and back.
    private var writer = ByteWriter(capacity: 2_048)

    /// Readings that a window keeps as they are when it packs the others.
    var keptReadings: Int { 1 << (sizeClass - 2) }
    /// Most readings that are packed as one.
    var chunkReadings: Int { 3 * keptReadings }

    init(sizeClass: Int) { self.sizeClass = sizeClass }

    /// Bytes of memory beside the blocks.
    var byteCount: Int {
        let chunk = MemoryLayout<PackedReadings.Chunk>.stride
        return packs.reduce(0) { $0 + $1.chunks.capacity * chunk }
    }

    /// Gives a window a pack, if it has none.
    mutating func begin(_ window: inout OpenWindow) {
        guard !window.isPacked else { return }
        if let unused = free.popLast() {
            window.pack = unused
        } else {
            window.pack = UInt32(packs.count)
            packs.append(PackedReadings())
        }
    }

    /// Forgets what is packed of a window.
    @inline(__always)
    mutating func forget(_ window: inout OpenWindow) {
        if window.isPacked { release(&window) }
    }

    private mutating func release(_ window: inout OpenWindow) {
        packs[Int(window.pack)].chunks.removeAll(keepingCapacity: true)
        free.append(window.pack)
        window.pack = OpenWindow.noPack
        window.packedCount = 0
    }

    // MARK: Chunks

    func chunkCount(of window: OpenWindow) -> Int { packs[Int(window.pack)].chunks.count }

    func chunk(_ place: Int, of window: OpenWindow) -> PackedReadings.Chunk { packs[Int(window.pack)].chunks[place] }

    /// The chunk that a reading at `instant` goes into.
    func place(of instant: Instant, in window: OpenWindow) -> Int { packs[Int(window.pack)].place(of: instant) }

    /// Readings in the chunks before `place`.
    func readings(before place: Int, of window: OpenWindow) -> Int {
        packs[Int(window.pack)].chunks[..<place].reduce(0) { $0 + Int($1.count) }
    }

    /// Packs `readings`, which are in `slots`, as the last chunk of a window.
    mutating func append(_ readings: WindowReadings, to window: OpenWindow, _ slots: inout ReadingSlab) {
        packs[Int(window.pack)].chunks.append(chunk(of: readings, &slots))
    }

    /// Packs `readings`, which are in `slots`, in place of chunk `place`, whose block has been taken.
    mutating func replace(
        _ place: Int, of window: OpenWindow, with readings: WindowReadings, _ slots: inout ReadingSlab
    ) {
        packs[Int(window.pack)].chunks[place] = chunk(of: readings, &slots)
    }

    /// Packs `readings`, which are in `slots`, as chunk `place`.
    mutating func insert(
        _ readings: WindowReadings, at place: Int, of window: OpenWindow, _ slots: inout ReadingSlab
    ) {
        packs[Int(window.pack)].chunks.insert(chunk(of: readings, &slots), at: place)
    }

    private mutating func chunk(of readings: WindowReadings, _ slots: inout ReadingSlab) -> PackedReadings.Chunk {
        writer.removeAll()
        WindowBlockEncoder.append(readings, to: &writer)
        return PackedReadings.Chunk(
            first: readings[0].instant, count: UInt32(readings.count), block: slots.keep(writer.view))
    }

    /// Takes the block of a chunk out of `slots`; valid until a chunk is next packed or taken.
    mutating func take(_ chunk: PackedReadings.Chunk, from slots: inout ReadingSlab) -> ByteView {
        writer.removeAll()
        slots.take(chunk.block, to: &writer)
        return writer.view
    }

    /// Forgets the chunks from `place` on, which have been taken, and the pack with the last of them.
    mutating func remove(from place: Int, of window: inout OpenWindow) {
        packs[Int(window.pack)].chunks.removeSubrange(place...)
        if place == 0 { release(&window) }
    }
}
