/// Reads a journal block; see ``JournalWriter``. Nothing in the bytes is trusted: they may have been damaged.
package struct JournalReader {
    /// One reading of a block.
    package struct Record {
        /// The series, by the store's number.
        package var series: Int
        /// The reading.
        package var reading: Measurement
        /// Its value records; part of the block.
        package var payload: ByteView

        /// Whether it took the place of a reading that came before: together they are one reading, and a rejected one.
        package var supersedes: Bool { reading.mark & ReadingMark.supersedes != 0 }

        /// Whether it is no new reading, but one that has moved to another time, and so left its window.
        package var moves: Bool { reading.mark & ReadingMark.moves != 0 }

        /// Whether it has left its window because its sender has taken it back: it ``moves`` to nowhere.
        package var retracts: Bool { reading.mark & ReadingMark.retracts == ReadingMark.retracts }
    }

    private let series: ByteView
    private var offset = 0
    private var number = 0
    private var rows: WindowBlockDecoder
    /// Readings read so far.
    package private(set) var read = 0
    /// Readings that the block says it has.
    package var count: Int { rows.count }

    /// Whether all readings were read, and nothing else is there.
    package var isComplete: Bool { rows.isComplete && offset == series.count }

    /// Reads what comes before the readings; nil when it is damaged or of another version.
    package init?(_ bytes: ByteView) {
        guard bytes.count > 0, bytes[0] == JournalWriter.version else { return nil }
        var offset = 1
        guard let count = Varint.read(bytes, &offset), count <= UInt64(bytes.count),
            let length = Varint.read(bytes, &offset), length <= UInt64(bytes.count - offset)
        else { return nil }
        let end = offset + Int(length)
        series = bytes[offset..<end]
        rows = WindowBlockDecoder(rows: bytes[end..<bytes.count], count: Int(count))
    }

    /// The next reading, or nil at the end and when the block is damaged.
    package mutating func next() -> Record? {
        guard let reading = rows.next() else { return nil }
        guard let step = Varint.read(series, &offset) else { return nil }
        number = Int(truncatingIfNeeded: Int64(number) &+ Varint.unzigzag(step))
        guard number >= 0 else { return nil }
        read += 1
        return Record(series: number, reading: reading, payload: rows.payload)
    }
}
