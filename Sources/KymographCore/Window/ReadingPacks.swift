/// The packed readings of all long windows: of each its chunks, which lie among the readings that are not packed.
struct ReadingPacks: ~Copyable {
    /// By ``OpenWindow/pack``.
    private var packs: [PackedReadings] = []
    /// Those that no window uses.
    private var free: [UInt32] = []
    /// Chunks that late readings go into.
    private var lifts = LiftedChunks()
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
        precondition(packs[Int(window.pack)].lifted == nil, "what is lifted is packed first")
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

    // MARK: Lifted chunks

    /// The chunk of a window that is lifted.
    func lifted(of window: OpenWindow) -> LiftedChunk? { packs[Int(window.pack)].lifted.flatMap { lifts.chunk($0) } }

    /// A chunk of any window that must be packed before another can be lifted.
    var liftInTheWay: LiftedChunk? { lifts.inTheWay }

    /// Notes that a chunk is lifted, whose block has been taken, and whose window has no other.
    mutating func lift(_ chunk: LiftedChunk) { packs[Int(chunk.pack)].lifted = lifts.append(chunk) }

    /// Notes that a lifted chunk has other readings.
    mutating func update(_ chunk: LiftedChunk) {
        guard let place = packs[Int(chunk.pack)].lifted else { preconditionFailure("the chunk was packed before") }
        lifts.update(place, chunk)
    }

    /// Packs `readings`, which are in `slots`, in place of a lifted chunk.
    mutating func lower(_ lifted: LiftedChunk, _ readings: WindowReadings, _ slots: inout ReadingSlab) {
        let pack = Int(lifted.pack)
        if let place = packs[pack].lifted { lifts.remove(place) }
        packs[pack].lifted = nil
        packs[pack].chunks[lifted.place] = chunk(of: readings, &slots)
    }

    /// Packs `readings`, which are in `slots`, as a chunk behind one that has been lowered.
    mutating func insert(_ readings: WindowReadings, behind lowered: LiftedChunk, _ slots: inout ReadingSlab) {
        packs[Int(lowered.pack)].chunks.insert(chunk(of: readings, &slots), at: lowered.place + 1)
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
