/// Packs readings into journal blocks.
///
/// A block is a version byte, the varint number of readings, the varint length of the series numbers, those as zigzag
/// varint differences, and the readings as rows of ``WindowBlockFormat`` in nanoseconds. A reading takes 6 to 12 bytes
/// before compression. Checksums are the store's.
struct JournalWriter: ~Copyable {
    static let version: UInt8 = 1
    /// Stands for "in no block".
    static let noBlock = Int64.max

    /// Number of the block being filled, or ``noBlock``.
    private(set) var number = JournalWriter.noBlock
    /// Readings in it.
    private(set) var count = 0
    /// ``JournalBlock/surplus``.
    private var surplus = 0
    /// ``JournalBlock/samples``.
    private var samples: [Instant] = []
    private var series = ByteWriter(capacity: 4_096)
    private var rows = ByteWriter(capacity: 1 << 16)
    private var encoder = WindowBlockEncoder()
    private var lastSeries = 0

    /// Bytes of the block being filled.
    var byteCount: Int { series.count + rows.count }

    /// The place of the next reading.
    var place: JournalPlace { JournalPlace(block: number, index: count) }

    /// Begins block `number`; the former one must have been taken.
    mutating func begin(_ number: Int64) {
        precondition(self.number == JournalWriter.noBlock)
        self.number = number
    }

    /// Adds a reading of the series that the store knows by `number`.
    @inline(__always)
    mutating func append(series number: Int, _ reading: Measurement, _ payload: ByteView) {
        WindowBlockEncoder.appendSigned(Int64(number &- lastSeries), to: &series)
        lastSeries = number
        encoder.append(reading, payload, tick: reading.instant.nanoseconds, to: &rows)
        if count & JournalWriter.unsampled == 0 { sample(reading) }
        count &+= 1
    }

    /// Of 1,024 readings one is a sample.
    private static var unsampled: Int { 1_023 }

    /// Notes when a reading was received, unless that was long before it came here.
    @inline(never)
    private mutating func sample(_ reading: Measurement) {
        if reading.mark & (ReadingMark.moves | ReadingMark.returned) == 0 { samples.append(reading.received) }
    }

    /// Adds a reading that has taken the place of another.
    mutating func append(superseding reading: Measurement, _ payload: ByteView, series number: Int) {
        var marked = reading
        marked.mark |= ReadingMark.supersedes
        append(series: number, marked, payload)
        surplus += 1
    }

    /// Adds that a reading, which was there, has moved to another time; what it became is to be added next.
    mutating func append(moved reading: Measurement, _ payload: ByteView, series number: Int) {
        var marked = reading
        marked.mark |= ReadingMark.moves
        append(series: number, marked, payload)
        surplus += 2
    }

    /// Adds that a reading, which was there, was taken back: one reading less.
    mutating func append(retracted reading: Measurement, _ payload: ByteView, series number: Int) {
        var marked = reading
        marked.mark |= ReadingMark.retracts
        append(series: number, marked, payload)
        surplus += 2
    }

    /// Ends the block and gives it, or nil when nothing is in it; its number is used up then, too.
    mutating func take() -> JournalBlock? {
        defer { reset() }
        guard count > 0 else { return nil }
        var head = ByteWriter(capacity: 64)
        head.append(JournalWriter.version)
        Varint.append(UInt64(count), to: &head)
        Varint.append(UInt64(series.count), to: &head)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.count + byteCount)
        bytes.append(contentsOf: head.view)
        bytes.append(contentsOf: series.view)
        bytes.append(contentsOf: rows.view)
        var block = JournalBlock(number: number, count: count, bytes: bytes)
        block.surplus = surplus
        block.samples = samples
        return block
    }

    private mutating func reset() {
        series.removeAll()
        rows.removeAll()
        encoder = WindowBlockEncoder()
        samples = []
        (number, count, surplus, lastSeries) = (JournalWriter.noBlock, 0, 0, 0)
    }
}
