extension WindowTable {
    /// What the archive is told of a window, of which nothing is packed.
    mutating func facts(of index: Int) -> WindowFacts {
        let window = windows[index]
        var readings = InlineArray<16, UInt32>(repeating: 0)
        // Counted in runs: nearly all readings of a window are from one source.
        var (source, run) = (0, UInt32(0))
        let content = slots.readings(from: Int(window.readings), count: Int(window.count))
        for place in 0..<content.count {
            let number = ReadingSource.number(content[place].mark)
            if number != source {
                readings[source] &+= run
                (source, run) = (number, 0)
            }
            run &+= 1
        }
        readings[source] &+= run
        let first = content.count > 0 ? content[0].instant : window.span.start
        var facts = WindowFacts(
            end: window.span.end, firstReading: first, lastReading: window.last, readings: readings,
            merged: window.merged, duplicates: window.duplicates, conflicts: window.conflicts, journal: window.journal)
        facts.route = window.route
        facts.isCarrier = window.flags.contains(.carrier)
        if !restored.isEmpty, let earlier = restored[index] { facts.restored = earlier }
        return facts
    }

    /// Appends the content of a window, of which nothing is packed, to `writer` as an archive block.
    mutating func pack(_ index: Int, into writer: inout ByteWriter) {
        let window = windows[index]
        WindowBlockEncoder.append(
            slots.readings(from: Int(window.readings), count: Int(window.count)), to: &writer)
    }

    /// Opens a window with the content of an archive block; nil when the block is damaged.
    mutating func restore(series number: Int, span: WindowSpan, block: ByteView) -> Int? {
        guard var decoder = WindowBlockDecoder(block) else { return nil }
        let index = open(series: number, span: span, room: decoder.count, flags: [.stored, .emitted])
        while let reading = decoder.next() {
            guard span.contains(reading.instant) else { break }
            append(reading, decoder.payload, to: index)
            windows[index].last = reading.instant
            readingsHeld += 1
        }
        if decoder.isComplete && Int(windows[index].count) == decoder.count {
            if decoder.count == 0 { windows[index].flags.remove(.emitted) }
            if journal != JournalWriter.noBlock { noteRestored(index) }
            return index
        }
        discard(index)
        return nil
    }

    /// Writes a reading and its payload, which receive times may follow, behind those of a window's run, where there is
    /// room.
    mutating func append(_ reading: Measurement, _ bytes: ByteView, to index: Int) {
        put(reading, bytes, at: Int(windows[index].readings + windows[index].count), in: index)
        windows[index].count += 1
    }

    /// Keeps what the archive has of a window: it may drop it before it gets the window back, and count it so.
    private mutating func noteRestored(_ index: Int) {
        let readings = facts(of: index).readings
        restored[index] = readings.indices.map { readings[$0] }
    }
}
