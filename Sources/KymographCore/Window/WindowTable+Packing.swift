/// Long windows: all but their latest readings are packed (``PackedReadings``) until the window is shown.
extension WindowTable {
    /// Readings that a window keeps as they are when it packs the others.
    private var keptReadings: Int { 1 << (packingSizeClass - 2) }
    /// Most readings that are packed as one.
    private var chunkReadings: Int { 3 * keptReadings }

    /// Packs the older readings of a window, where they are many. Whether it did.
    ///
    /// Those of instance grouping when all have been sent: nobody would find the others. Must not be called while the
    /// window is shown.
    mutating func packOlder(_ index: Int) -> Bool {
        let window = windows[index]
        guard Int(window.sizeClass) >= packingSizeClass, window.unsent == 0, Int(window.count) > 2 * keptReadings
        else { return false }
        let packed = boundary(Int(window.count) - keptReadings, in: window)
        guard packed > 0 else { return false }
        pack(packed, of: index)
        return true
    }

    /// The last place up to `place` of a window's run where readings may be parted: those of one instant stay together,
    /// since one that comes to them must find them all.
    private func boundary(_ place: Int, in window: OpenWindow) -> Int {
        let first = Int(window.readings)
        var place = place
        while place > 0, place < Int(window.count), slots[first + place].instant == slots[first + place - 1].instant {
            place -= 1
        }
        return place
    }

    private mutating func pack(_ packed: Int, of index: Int) {
        if !windows[index].flags.contains(.packed) { beginPacking(index) }
        let window = windows[index]
        let first = Int(window.readings)
        var start = 0
        while start < packed {
            let end = boundary(min(start + chunkReadings, packed), in: window)
            let count = (end > start ? end : packed) - start
            packs[Int(window.pack)].chunks.append(chunk(of: slots.readings(from: first + start, count: count)))
            start += count
        }
        releaseBlocks(of: window, 0..<packed)
        windows[index].packedCount += UInt32(packed)
        let kept = Int(window.count) - packed
        windows[index].count = UInt32(kept)
        moveLatest(kept, from: first + packed, in: index)
    }

    /// Moves the readings that a window keeps to the begin of a run of the usual size.
    private mutating func moveLatest(_ count: Int, from slot: Int, in index: Int) {
        let (run, sizeClass) = (Int(windows[index].readings), Int(windows[index].sizeClass))
        guard sizeClass > packingSizeClass, count <= 1 << packingSizeClass else {
            return slots.move(count, from: slot, to: run)
        }
        let smaller = slots.allocate(sizeClass: packingSizeClass)
        slots.move(count, from: slot, to: smaller)
        slots.release(run, sizeClass: sizeClass)
        windows[index].readings = UInt32(smaller)
        windows[index].sizeClass = UInt8(packingSizeClass)
    }

    /// Bytes of memory of the readings, packed or not.
    var readingBytes: Int {
        let chunk = MemoryLayout<PackedReadings.Chunk>.stride
        return packs.reduce(slots.usedBytes) { $0 + $1.chunks.capacity * chunk }
    }

    private mutating func beginPacking(_ index: Int) {
        windows[index].flags.insert(.packed)
        windows[index].packedCount = 0
        if let free = freePacks.popLast() {
            windows[index].pack = free
        } else {
            windows[index].pack = UInt32(packs.count)
            packs.append(PackedReadings())
        }
    }

    private mutating func chunk(of readings: WindowReadings) -> PackedReadings.Chunk {
        packing.removeAll()
        WindowBlockEncoder.append(readings, to: &packing)
        return PackedReadings.Chunk(
            first: readings[0].instant, count: UInt32(readings.count), block: slots.keep(packing.view))
    }

    /// Forgets what is packed of a window.
    @inline(__always)
    mutating func endPacking(_ index: Int) {
        if windows[index].flags.contains(.packed) { forgetPacked(index) }
    }

    private mutating func forgetPacked(_ index: Int) {
        let pack = windows[index].pack
        packs[Int(pack)].chunks.removeAll(keepingCapacity: true)
        freePacks.append(pack)
        windows[index].flags.remove(.packed)
        windows[index].packedCount = 0
        windows[index].pack = 0
    }

    /// Unpacks all of a window: before it is shown or archived.
    @inline(__always)
    mutating func unpack(_ index: Int) {
        if windows[index].flags.contains(.packed) { unpackAll(index) }
    }

    private mutating func unpackAll(_ index: Int) {
        unpack(index, from: 0, room: windows[index].total)
    }

    /// Puts the readings of the chunks from `first` on before those of a window's run, which gets room for `room`.
    private mutating func unpack(_ index: Int, from first: Int, room: Int) {
        let window = windows[index]
        let pack = Int(window.pack)
        takeRun(for: index, room: room)
        for place in first..<packs[pack].chunks.count { take(packs[pack].chunks[place], to: index) }
        let unpacked = windows[index].count
        slots.move(Int(window.count), from: Int(window.readings), to: Int(windows[index].readings + unpacked))
        slots.release(Int(window.readings), sizeClass: Int(window.sizeClass))
        windows[index].count = unpacked + window.count
        windows[index].packedCount = window.packedCount - unpacked
        packs[pack].chunks.removeSubrange(first...)
        if first == 0 { forgetPacked(index) }
    }

    /// Gives a window an empty run for `room` readings; its former one is not released.
    private mutating func takeRun(for index: Int, room: Int) {
        let sizeClass = ReadingSlab.sizeClass(for: room)
        windows[index].readings = UInt32(slots.allocate(sizeClass: sizeClass))
        windows[index].sizeClass = UInt8(sizeClass)
        windows[index].count = 0
    }

    /// Moves the readings of `chunk` to the run of a window, behind those that are there.
    private mutating func take(_ chunk: PackedReadings.Chunk, to index: Int) {
        packing.removeAll()
        slots.take(chunk.block, to: &packing)
        guard let content = WindowBlockFormat.content(of: packing.view) else {
            preconditionFailure("memory was overwritten")
        }
        if let columns = WindowColumns(head: content), columns.hasWordRows {
            let slot = Int(windows[index].readings + windows[index].count)
            let isSound = slots.put(columns, of: content, at: slot)
            precondition(isSound && columns.count == Int(chunk.count), "memory was overwritten")
            windows[index].count += chunk.count
            return
        }
        guard var decoder = WindowBlockDecoder(packing.view) else { preconditionFailure("memory was overwritten") }
        while let reading = decoder.next() { append(reading, decoder.payload, to: index) }
        precondition(decoder.isComplete && decoder.count == Int(chunk.count), "memory was overwritten")
    }

    /// Adds a reading of a window that is before all that is not packed.
    mutating func insertIntoPacked(_ reading: Measurement, _ payload: ByteView, into index: Int) -> ReadingOutcome {
        let place = packs[Int(windows[index].pack)].place(of: reading.instant)
        guard windows[index].flags.contains(.carrier) else {
            return insert(reading, payload, intoChunk: place, of: index)
        }
        // It is to be sent. With room for as many again, unpacking costs no more than they do before it is done again.
        let packedBefore = packs[Int(windows[index].pack)].chunks[..<place].reduce(0) { $0 + Int($1.count) }
        unpack(index, from: place, room: 2 * (windows[index].total - packedBefore))
        return insertIntoRun(reading, payload, into: index)
    }

    /// Adds a reading to a chunk, which stands in for the run of the window while that is done.
    private mutating func insert(
        _ reading: Measurement, _ payload: ByteView, intoChunk place: Int, of index: Int
    ) -> ReadingOutcome {
        let window = windows[index]
        let chunk = packs[Int(window.pack)].chunks[place]
        takeRun(for: index, room: Int(chunk.count) + 1)
        take(chunk, to: index)
        windows[index].packedCount = UInt32(window.total) - chunk.count
        let outcome = insertIntoRun(reading, payload, into: index)
        let changed = windows[index]
        packRun(of: changed, in: place)
        releaseBlocks(of: changed, 0..<Int(changed.count))
        slots.release(Int(changed.readings), sizeClass: Int(changed.sizeClass))
        (windows[index].readings, windows[index].sizeClass) = (window.readings, window.sizeClass)
        (windows[index].count, windows[index].last) = (window.count, window.last)
        windows[index].packedCount = UInt32(changed.total) - window.count
        return outcome
    }

    /// Packs the readings of a window's run as chunk `place`, or two where they have become too many.
    private mutating func packRun(of window: OpenWindow, in place: Int) {
        let (first, count) = (Int(window.readings), Int(window.count))
        let middle = boundary(count / 2, in: window)
        let part = count > 2 * chunkReadings && middle > 0 ? middle : count
        packs[Int(window.pack)].chunks[place] = chunk(of: slots.readings(from: first, count: part))
        guard part < count else { return }
        let rest = chunk(of: slots.readings(from: first + part, count: count - part))
        packs[Int(window.pack)].chunks.insert(rest, at: place + 1)
    }
}
