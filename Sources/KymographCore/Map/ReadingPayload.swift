/// The records of the reading that is being read (``ValueRecord``), in the order of their slots.
struct ReadingPayload: ~Copyable {
    /// Most bytes of texts, extra numbers and samples in one reading: what fits in the continuation slots of a ring
    /// record.
    static let longest = 4_095 * 64
    /// Most bytes of one text.
    static let longestText = 255 * 64

    private var bytes = ByteWriter(capacity: 512)
    /// Records that make room, while one is moved.
    private var moved = ByteWriter(capacity: 256)

    var count: Int { bytes.count }

    var view: ByteView { bytes.view }

    mutating func removeAll() { bytes.removeAll() }

    mutating func append(slot: Int, text: ByteView) { ValueRecord.append(slot: slot, text: text, to: &bytes) }

    mutating func append(slot: Int, samples: ByteView) { ValueRecord.append(slot: slot, .samples, samples, to: &bytes) }

    /// Stores a number: in the reading itself where it has room.
    @inline(__always)
    mutating func store(_ number: Decimal64, in slot: Int, of measurement: inout Measurement) {
        if slot < Measurement.inlineValues {
            measurement.setInline(slot, number)
        } else {
            ValueRecord.append(slot: slot, number: number, to: &bytes)
        }
    }

    /// Puts the record that was written last, from `start` on, in its place: a type that has got further values since
    /// has its hidden ones among them, and records are in the order of their slots.
    mutating func moveRecord(from start: Int) {
        guard start < bytes.count else { return }
        let slot = bytes[start]
        var offset = 0
        while offset < start, bytes[offset] < slot {
            guard let record = ValueRecord.read(bytes.view, at: offset) else { return }
            offset = record.bytes.upperBound
        }
        guard offset < start else { return }
        moved.removeAll()
        moved.append(bytes.view(offset..<start))
        let last = bytes.view(start..<bytes.count).array
        bytes.truncate(to: offset)
        bytes.append(last)
        bytes.append(moved.view)
    }
}
