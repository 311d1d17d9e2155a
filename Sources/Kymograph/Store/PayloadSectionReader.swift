import KymographCore

/// Whose readings of what, with the name of the type in the place of its number.
struct PayloadSeries: Hashable, Sendable {
    var type: [UInt8]
    var device: [UInt8]
    var patient: [UInt8]?
    var encounter: [UInt8]?
    var correlation: [UInt8]?

    /// The series `identity`, whose type is called `type`.
    init(_ identity: SeriesIdentity, type: String) {
        self.type = Array(type.utf8)
        (device, patient) = (identity.device, identity.patient)
        (encounter, correlation) = (identity.encounter, identity.correlation)
    }

    /// Of parts as ``PayloadSection`` has them; nil when they are not there.
    init?(_ bytes: ByteView, _ offset: inout Int) {
        var parts: [[UInt8]?] = []
        for _ in 0..<5 {
            guard let length = Varint.read(bytes, &offset) else { return nil }
            guard length > 0 else {
                parts.append(nil)
                continue
            }
            guard length - 1 <= UInt64(bytes.count - offset) else { return nil }
            let end = offset + Int(length - 1)
            parts.append(bytes[offset..<end].array)
            offset = end
        }
        guard let type = parts[0], let device = parts[1] else { return nil }
        (self.type, self.device) = (type, device)
        (patient, encounter, correlation) = (parts[2], parts[3], parts[4])
    }
}

/// Reads the content of a ``PayloadSection``, record by record.
struct PayloadSectionReader: ~Copyable {
    /// A payload in the bytes that are read.
    struct Record {
        /// The source's number in the store.
        var source: Int
        var received: Instant
        /// Where its bytes are.
        var bytes: Range<Int>
        /// Its readings, each with the place of its series.
        var readings: [(series: Int, instant: Instant)]
    }

    let series: [PayloadSeries]
    private let bytes: ByteView
    private var offset: Int
    /// Whether it has ended where it should.
    private(set) var isWhole = true

    /// Begins to read `bytes`, which must outlive it; nil when they begin otherwise.
    init?(_ bytes: ByteView) {
        var offset = 0
        guard let count = Varint.read(bytes, &offset), count <= UInt64(bytes.count) else { return nil }
        var series: [PayloadSeries] = []
        for _ in 0..<count {
            guard let next = PayloadSeries(bytes, &offset) else { return nil }
            series.append(next)
        }
        (self.series, self.bytes, self.offset) = (series, bytes, offset)
    }

    /// The next payload; nil at the end, and where it cannot be read.
    mutating func next() -> Record? {
        guard offset < bytes.count, isWhole else { return nil }
        guard let record = read() else {
            isWhole = false
            return nil
        }
        return record
    }

    private mutating func read() -> Record? {
        guard let source = number(), let received = difference(), let length = number(),
            length <= bytes.count - offset
        else { return nil }
        let range = offset..<offset + length
        offset += length
        guard let count = number(), count <= bytes.count - offset else { return nil }
        var readings: [(series: Int, instant: Instant)] = []
        readings.reserveCapacity(count)
        for _ in 0..<count {
            guard let place = number(), place < series.count, let later = difference() else { return nil }
            readings.append((place, Instant(nanoseconds: received &+ later)))
        }
        return Record(
            source: source, received: Instant(nanoseconds: received), bytes: range, readings: readings)
    }

    private mutating func number() -> Int? { Varint.read(bytes, &offset).flatMap { Int(exactly: $0) } }

    private mutating func difference() -> Int64? { Varint.read(bytes, &offset).map { Varint.unzigzag($0) } }
}
