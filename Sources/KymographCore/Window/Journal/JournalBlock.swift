/// Readings of one shard in the order in which it took them, packed to become durable together.
package struct JournalBlock: Sendable {
    /// Its number, greater than those of the shard's earlier blocks and different from those of other shards.
    package var number: Int64
    /// Readings in it.
    package var count: Int
    /// The readings; see ``JournalWriter``.
    package var bytes: [UInt8]
    /// How much more readings it has than were kept with it: who takes the place of another is one reading with that.
    package var surplus = 0
    /// When some of its readings were received: the first, and each 1,024th behind it.
    package var samples: [Instant] = []

    /// A block.
    package init(number: Int64, count: Int, bytes: [UInt8]) {
        self.number = number
        self.count = count
        self.bytes = bytes
    }
}

/// A place in the journal: everything before it is included.
package struct JournalPlace: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Number of the block.
    package var block: Int64
    /// Readings of the block that come before.
    package var index: Int

    /// A place.
    package init(block: Int64, index: Int) {
        self.block = block
        self.index = index
    }

    /// Order in the journal of one shard.
    package static func < (left: JournalPlace, right: JournalPlace) -> Bool {
        (left.block, left.index) < (right.block, right.index)
    }
}

/// Readings as a journal has them, one by one: what a dead letter keeps of a reading, to be taken again.
package enum JournalRecord {
    /// A block with one reading, of a series that its owner knows.
    package static func bytes(of reading: Measurement, payload: ByteView) -> [UInt8] {
        var reading = reading
        // What else is marked is the state of a window.
        reading.mark &= ReadingMark.source
        var writer = JournalWriter()
        writer.begin(0)
        writer.append(series: 0, reading, payload)
        return writer.take()?.bytes ?? []
    }

    /// Whether the reading of such a block, of `type`, has an id of its sender.
    package static func hasId(_ bytes: [UInt8], of type: MeasurementType) -> Bool {
        bytes.withByteView { bytes in
            guard var reader = JournalReader(bytes), let record = reader.next() else { return false }
            return ReadingKey(type).hasId(ReadingKey.Content(reading: record.reading, payload: record.payload))
        }
    }

    /// A block of the readings of such blocks, each with the store's number of its series, and the numbers of their
    /// sources; nil when one of them is damaged.
    package static func join(_ records: [(series: Int, bytes: [UInt8])]) -> (block: JournalBlock, sources: [Int])? {
        var writer = JournalWriter()
        writer.begin(0)
        var sources: [Int] = []
        for record in records {
            let source = record.bytes.withByteView { bytes -> Int? in
                guard var reader = JournalReader(bytes), let one = reader.next() else { return nil }
                guard reader.next() == nil, reader.isComplete else { return nil }
                var reading = one.reading
                reading.mark |= ReadingMark.returned
                writer.append(series: record.series, reading, one.payload)
                return ReadingSource.number(one.reading.mark)
            }
            guard let source else { return nil }
            sources.append(source)
        }
        return writer.take().map { ($0, sources) }
    }
}
