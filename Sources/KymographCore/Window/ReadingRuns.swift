/// The readings of windows: each window has a run of slots, and the older ones of long windows are packed.
///
/// Everything is addressed by slot and lives in memory that is reused: after warm-up nothing is allocated.
struct ReadingRuns: ~Copyable {
    private var slots: ReadingSlab
    /// Readings in all windows.
    private(set) var count = 0
    /// The packed readings of long windows.
    var packs: ReadingPacks

    /// Size class of the readings of a series' first window: one of them. Where there are a million series, most
    /// have few.
    private static var initialSizeClass: Int { 0 }
    /// Size class up to which windows grow by a factor of four, and then by two: 64 readings, 2 KiB.
    private static var largestSwiftSizeClass: Int { 6 }

    /// With room in `memory`; runs of `packingSizeClass` are packed (``WindowSettings/packingSizeClass``).
    init(memory: TableMemory, packingSizeClass: Int) {
        slots = ReadingSlab(memory: memory)
        packs = ReadingPacks(sizeClass: packingSizeClass)
    }

    /// Bytes of memory of the readings, packed or not.
    var byteCount: Int { slots.usedBytes + packs.byteCount }

    // MARK: Looking

    /// The reading at `slot`.
    subscript(slot: Int) -> StoredReading {
        @inline(__always) get { slots[slot] }
        @inline(__always) _modify { yield &slots[slot] }
    }

    /// Prefetches a slot.
    @inline(__always)
    func prefetch(_ slot: Int) { slots.prefetch(slot) }

    /// Prefetches the first readings of a window.
    func prefetchFirst(of window: OpenWindow) {
        var slot = Int(window.readings)
        let end = slot &+ Int(min(window.count, 48))
        while slot < end {
            slots.prefetch(slot)
            slot &+= 2
        }
    }

    /// The readings of a window's run.
    @inline(__always)
    func readings(of window: OpenWindow) -> WindowReadings {
        slots.readings(from: Int(window.readings), count: Int(window.count))
    }

    /// The reading at `slot` alone.
    @inline(__always)
    func reading(_ slot: Int) -> WindowReadings { slots.readings(from: slot, count: 1) }

    /// The reading at `slot` and its payload.
    func content(_ slot: Int) -> ReadingKey.Content {
        let stored = slots.readings(from: slot, count: 1)
        return ReadingKey.Content(reading: stored.measurement(0), payload: stored.payload(0))
    }

    /// The first place in a window's run whose reading is not before `instant`.
    func lowerBound(_ window: OpenWindow, _ instant: Instant) -> Int {
        var low = 0
        var high = Int(window.count)
        while low < high {
            let middle = (low + high) / 2
            if slots[Int(window.readings) + middle].instant < instant { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Runs

    /// The size class for the readings of a new window of a series whose latest one is `latest`: for one after all
    /// others, the one from which it becomes as large as the latest one is by growing once. Until then that one has
    /// closed and left its block.
    static func sizeClass(for room: Int, at span: WindowSpan, latest: OpenWindow?) -> Int {
        let least = max(initialSizeClass, ReadingSlab.sizeClass(for: room))
        guard let latest, latest.span.start < span.start else { return least }
        return max(least, min(Int(latest.sizeClass), largestSwiftSizeClass) - 2)
    }

    /// Takes room for 2^`sizeClass` readings, and returns the slot of the first.
    mutating func allocate(sizeClass: Int) -> Int { slots.allocate(sizeClass: sizeClass) }

    /// Gives a window four times the room, and twice from 64 readings on: the small blocks that growing leaves behind
    /// are memory that nobody needs for long.
    private mutating func enlarge(_ window: inout OpenWindow) {
        let sizeClass = max(
            Int(window.sizeClass) + 1, min(Int(window.sizeClass) + 2, ReadingRuns.largestSwiftSizeClass))
        let block = slots.allocate(sizeClass: sizeClass)
        slots.move(Int(window.count), from: Int(window.readings), to: block)
        slots.release(Int(window.readings), sizeClass: Int(window.sizeClass))
        window.readings = UInt32(block)
        window.sizeClass = UInt8(sizeClass)
    }

    /// Frees the memory of a window, which is forgotten.
    mutating func discard(_ window: inout OpenWindow) {
        lower(window)
        count -= window.total
        releaseBlocks(of: window, 0..<Int(window.count))
        packs.forget(&window)
        slots.release(Int(window.readings), sizeClass: Int(window.sizeClass))
    }

    /// Frees what the readings in `places` of a window's run have besides.
    @inline(__always)
    private mutating func releaseBlocks(of window: OpenWindow, _ places: Range<Int>) {
        if window.hasBlocks { releaseAllBlocks(of: window, places) }
    }

    private mutating func releaseAllBlocks(of window: OpenWindow, _ places: Range<Int>) {
        for place in places { slots.releaseBlock(at: Int(window.readings) + place) }
    }

    // MARK: Readings

    /// Keeps a reading that is in no window, and gives its slot.
    mutating func keepApart(_ reading: Measurement, _ payload: ByteView) -> Int {
        let slot = slots.allocate(sizeClass: 0)
        _ = slots.put(reading, payload, at: slot)
        return slot
    }

    /// Forgets such a reading.
    mutating func forgetApart(_ slot: Int) {
        slots.releaseBlock(at: slot)
        slots.release(slot, sizeClass: 0)
    }

    /// Writes a plain reading to `slot` of a run that its window has given to its series.
    @inline(__always)
    mutating func putNext(_ reading: PlainReading, at slot: Int) {
        slots.put(reading, at: slot)
        count &+= 1
    }

    /// Writes a reading without payload there; whether it has a block.
    @inline(never)
    mutating func putNext(_ reading: Measurement, at slot: Int) -> Bool {
        let hasBlock = slots.put(reading, ByteView(""), at: slot)
        slots[slot].mark &= ReadingMark.source
        count &+= 1
        return hasBlock
    }

    /// Writes a reading that was not there before to `place` of the run of `window`, which may be full.
    @inline(__always)
    mutating func insert(_ reading: Measurement, _ payload: ByteView, at place: Int, in window: inout OpenWindow) -> Int
    {
        var place = place
        if window.isFull { makeRoom(behind: &place, in: &window) }
        let slot = Int(window.readings) + place
        let behind = Int(window.count) - place
        if behind > 0 { slots.move(behind, from: slot, to: slot + 1) } else { window.last = reading.instant }
        putNew(reading, payload, at: slot, in: &window)
        window.count += 1
        count += 1
        return place
    }

    /// Makes room for a reading at `place` of a full run: one that comes behind all others may let those be packed.
    private mutating func makeRoom(behind place: inout Int, in window: inout OpenWindow) {
        if place == Int(window.count), !window.isQueued, packOlder(&window) {
            place = Int(window.count)
        } else {
            enlarge(&window)
        }
    }

    @inline(__always)
    private mutating func putNew(
        _ reading: Measurement, _ payload: ByteView, at slot: Int, in window: inout OpenWindow
    ) {
        if reading.isPlain { return slots.put(PlainReading(reading), at: slot) }
        putNewApart(reading, payload, at: slot, in: &window)
    }

    @inline(never)
    private mutating func putNewApart(
        _ reading: Measurement, _ payload: ByteView, at slot: Int, in window: inout OpenWindow
    ) {
        put(reading, payload, at: slot, in: &window)
        slots[slot].mark &= ReadingMark.source
    }

    private mutating func put(_ reading: Measurement, _ bytes: ByteView, at slot: Int, in window: inout OpenWindow) {
        if slots.put(reading, bytes, at: slot) { window.hasBlocks = true }
    }

    /// Writes a reading and its payload, which receive times may follow, in place of that at `slot`.
    mutating func replace(
        at slot: Int, in window: inout OpenWindow, with reading: Measurement, _ bytes: ByteView
    ) {
        slots.releaseBlock(at: slot)
        put(reading, bytes, at: slot, in: &window)
    }

    /// Writes a reading and its payload, which receive times may follow, behind those of a window's run, where there is
    /// room; it is not counted.
    private mutating func append(_ reading: Measurement, _ bytes: ByteView, to window: inout OpenWindow) {
        put(reading, bytes, at: Int(window.readings + window.count), in: &window)
        window.count += 1
    }

    /// Writes a reading of an archive block behind those of a window's run, where there is room.
    mutating func restore(_ reading: Measurement, _ bytes: ByteView, to window: inout OpenWindow) {
        append(reading, bytes, to: &window)
        window.last = reading.instant
        count += 1
    }

    /// Takes the reading at `place` out of a window's run.
    mutating func remove(at place: Int, from window: inout OpenWindow) {
        let slot = Int(window.readings) + place
        slots.releaseBlock(at: slot)
        slots.move(Int(window.count) - place - 1, from: slot + 1, to: slot)
        window.count -= 1
        count -= 1
        if window.count > 0 { window.last = slots[Int(window.readings + window.count) - 1].instant }
    }

    /// Exchanges two readings.
    mutating func exchange(_ one: Int, _ other: Int) { slots.exchange(one, other) }
}

// MARK: Packing

extension ReadingRuns {
    /// Packs the older readings of a window, where they are many. Whether it did.
    ///
    /// Those of instance grouping when all have been sent: nobody would find the others. Must not be called while the
    /// window is shown.
    mutating func packOlder(_ window: inout OpenWindow) -> Bool {
        let kept = packs.keptReadings
        guard Int(window.sizeClass) >= packs.sizeClass, window.unsent == 0, Int(window.count) > 2 * kept else {
            return false
        }
        let packed = boundary(Int(window.count) - kept, in: window)
        guard packed > 0 else { return false }
        pack(packed, of: &window)
        return true
    }

    /// The last place up to `place` of a window's run where readings may be parted: those of one instant stay together,
    /// since one that comes to them must find them all.
    private func boundary(_ place: Int, in window: OpenWindow) -> Int {
        boundary(place, of: Int(window.count), from: Int(window.readings))
    }

    /// The same for the run of `count` readings from slot `first`.
    private func boundary(_ place: Int, of count: Int, from first: Int) -> Int {
        var place = place
        while place > 0, place < count, slots[first + place].instant == slots[first + place - 1].instant {
            place -= 1
        }
        return place
    }

    private mutating func pack(_ packed: Int, of window: inout OpenWindow) {
        packs.begin(&window)
        let first = Int(window.readings)
        var start = 0
        while start < packed {
            let end = boundary(min(start + packs.chunkReadings, packed), in: window)
            let count = (end > start ? end : packed) - start
            packs.append(slots.readings(from: first + start, count: count), to: window, &slots)
            start += count
        }
        releaseBlocks(of: window, 0..<packed)
        window.packedCount += UInt32(packed)
        let kept = Int(window.count) - packed
        window.count = UInt32(kept)
        moveLatest(kept, from: first + packed, in: &window)
    }

    /// Moves the readings that a window keeps to the begin of a run of the usual size.
    private mutating func moveLatest(_ count: Int, from slot: Int, in window: inout OpenWindow) {
        let (run, sizeClass) = (Int(window.readings), Int(window.sizeClass))
        guard sizeClass > packs.sizeClass, count <= 1 << packs.sizeClass else {
            return slots.move(count, from: slot, to: run)
        }
        let smaller = slots.allocate(sizeClass: packs.sizeClass)
        slots.move(count, from: slot, to: smaller)
        slots.release(run, sizeClass: sizeClass)
        window.readings = UInt32(smaller)
        window.sizeClass = UInt8(packs.sizeClass)
    }

    /// Unpacks all of a window: before it is shown or archived.
    @inline(__always)
    mutating func unpack(_ window: inout OpenWindow) {
        if window.isPacked { unpack(&window, from: 0, room: window.total) }
    }

    /// Unpacks the readings of a window from the chunk on that one at `instant` goes into, with room for as many again.
    mutating func unpack(_ window: inout OpenWindow, behind instant: Instant) {
        lower(window)
        let place = packs.place(of: instant, in: window)
        unpack(&window, from: place, room: 2 * (window.total - packs.readings(before: place, of: window)))
    }

    /// Puts the readings of the chunks from `first` on before those of a window's run, which gets room for `room`.
    private mutating func unpack(_ window: inout OpenWindow, from first: Int, room: Int) {
        lower(window)
        let former = window
        takeRun(for: &window, room: room)
        for place in first..<packs.chunkCount(of: former) { take(packs.chunk(place, of: former), to: &window) }
        let unpacked = window.count
        slots.move(Int(former.count), from: Int(former.readings), to: Int(window.readings + unpacked))
        slots.release(Int(former.readings), sizeClass: Int(former.sizeClass))
        window.count = unpacked + former.count
        window.packedCount = former.packedCount - unpacked
        packs.remove(from: first, of: &window)
    }

    /// Gives a window an empty run for `room` readings; its former one is not released.
    private mutating func takeRun(for window: inout OpenWindow, room: Int) {
        let sizeClass = ReadingSlab.sizeClass(for: room)
        window.readings = UInt32(slots.allocate(sizeClass: sizeClass))
        window.sizeClass = UInt8(sizeClass)
        window.count = 0
    }

    /// Moves the readings of `chunk` to the run of a window, behind those that are there.
    private mutating func take(_ chunk: PackedReadings.Chunk, to window: inout OpenWindow) {
        let block = packs.take(chunk, from: &slots)
        guard let content = WindowBlockFormat.content(of: block) else {
            preconditionFailure("memory was overwritten")
        }
        if let columns = WindowColumns(head: content), columns.hasWordRows {
            let slot = Int(window.readings + window.count)
            let isSound = slots.put(columns, of: content, at: slot)
            precondition(isSound && columns.count == Int(chunk.count), "memory was overwritten")
            window.count += chunk.count
            return
        }
        guard var decoder = WindowBlockDecoder(block) else { preconditionFailure("memory was overwritten") }
        while let reading = decoder.next() { append(reading, decoder.payload, to: &window) }
        precondition(decoder.isComplete && decoder.count == Int(chunk.count), "memory was overwritten")
    }
}

// MARK: Late readings of long windows

extension ReadingRuns {
    /// Lets `change` insert a reading at `instant`, before all that is not packed, into the chunk that it goes into,
    /// which stands in for the run of the window while that is done.
    mutating func withChunk(
        for instant: Instant, of window: inout OpenWindow,
        _ change: (inout ReadingRuns, inout OpenWindow) -> ReadingOutcome
    ) -> ReadingOutcome {
        let former = window
        var chunk = lift(at: instant, of: window)
        (window.readings, window.sizeClass) = (chunk.readings, chunk.sizeClass)
        window.count = chunk.count
        window.packedCount = UInt32(former.total) - chunk.count
        // What comes behind all others of a full run would let these be packed.
        if window.isFull { enlarge(&window) }
        let outcome = change(&self, &window)
        (chunk.readings, chunk.count, chunk.sizeClass) = (window.readings, window.count, window.sizeClass)
        window.packedCount = UInt32(window.total) - former.count
        (window.readings, window.sizeClass) = (former.readings, former.sizeClass)
        (window.count, window.last) = (former.count, former.last)
        packs.update(chunk)
        if Int(chunk.count) > 2 * packs.chunkReadings { lower(chunk) }
        return outcome
    }

    /// The chunk of a window that a reading at `instant` goes into, lifted.
    private mutating func lift(at instant: Instant, of window: OpenWindow) -> LiftedChunk {
        if let lifted = packs.lifted(of: window) {
            if lifted.place == packs.place(of: instant, in: window) { return lifted }
            lower(lifted)
        }
        if let other = packs.liftInTheWay { lower(other) }
        // Again: a chunk may have become two.
        let place = packs.place(of: instant, in: window)
        let packed = packs.chunk(place, of: window)
        var run = window
        takeRun(for: &run, room: Int(packed.count) + 1)
        take(packed, to: &run)
        let chunk = LiftedChunk(
            pack: window.pack, place: place, readings: run.readings, count: run.count, sizeClass: run.sizeClass)
        packs.lift(chunk)
        return chunk
    }

    /// Packs the chunk of a window that is lifted, if one is.
    @inline(__always)
    private mutating func lower(_ window: OpenWindow) {
        if window.isPacked, let lifted = packs.lifted(of: window) { lower(lifted) }
    }

    /// Packs a lifted chunk, as two where it has become too large, and frees its run.
    private mutating func lower(_ chunk: LiftedChunk) {
        let (first, count) = (Int(chunk.readings), Int(chunk.count))
        let middle = boundary(count / 2, of: count, from: first)
        let part = count > 2 * packs.chunkReadings && middle > 0 ? middle : count
        packs.lower(chunk, slots.readings(from: first, count: part), &slots)
        if part < count {
            packs.insert(slots.readings(from: first + part, count: count - part), behind: chunk, &slots)
        }
        for slot in first..<first + count { slots.releaseBlock(at: slot) }
        slots.release(first, sizeClass: Int(chunk.sizeClass))
    }
}
