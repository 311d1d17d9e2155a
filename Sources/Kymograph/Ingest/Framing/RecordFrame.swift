import KymographCore

/// The record of a partition that is to be read next.
struct RecordPosition: Hashable, Sendable {
    var partition: Int32
    var offset: Int64
}

/// A record on its way from the thread that reads a topic to the lane that maps it: its place, how long its value is,
/// and the value. What the lane has made durable goes back the other way, as a place alone.
struct RecordFrame {
    /// Bytes before the value.
    static let head = 16
    /// In place of a length: the record has no value.
    private static let none = UInt32.max

    /// Where the record is.
    let position: RecordPosition
    /// Where its value is; nil without one.
    let value: Range<Int>?
    /// Where the next frame begins.
    let end: Int

    /// The frame that begins at `start` of `bytes`; nil where it is not complete.
    init?(_ bytes: ByteView, from start: Int) {
        guard bytes.count - start >= Self.head else { return nil }
        position = RecordPosition(
            partition: Int32(bitPattern: UInt32(truncatingIfNeeded: Self.number(bytes, start, 4))),
            offset: Int64(bitPattern: Self.number(bytes, start + 4, 8)))
        let length = UInt32(truncatingIfNeeded: Self.number(bytes, start + 12, 4))
        let valueEnd = start + Self.head + (length == Self.none ? 0 : Int(length))
        guard valueEnd <= bytes.count else { return nil }
        value = length == Self.none ? nil : (start + Self.head)..<valueEnd
        end = valueEnd
    }

    /// Adds the frame of a record to `bytes`: of a value that is longer than `longest`, one byte more than that.
    static func append(_ position: RecordPosition, _ value: [UInt8]?, longest: Int, to bytes: inout [UInt8]) {
        append(position, to: &bytes)
        guard let value else { return append(UInt64(none), 4, to: &bytes) }
        let length = min(value.count, longest + 1)
        append(UInt64(length), 4, to: &bytes)
        bytes += value[..<length]
    }

    // MARK: Places

    /// Bytes of a place.
    static let placeBytes = 12

    /// Adds `position` to `bytes`.
    static func append(_ position: RecordPosition, to bytes: inout [UInt8]) {
        append(UInt64(UInt32(bitPattern: position.partition)), 4, to: &bytes)
        append(UInt64(bitPattern: position.offset), 8, to: &bytes)
    }

    /// The places that `bytes` begin with, which are taken out of them.
    static func takePlaces(_ bytes: inout [UInt8]) -> [RecordPosition] {
        let count = bytes.count / placeBytes
        let places = bytes.withByteView { view in
            (0..<count).map { place in
                let start = place * placeBytes
                return RecordPosition(
                    partition: Int32(bitPattern: UInt32(truncatingIfNeeded: number(view, start, 4))),
                    offset: Int64(bitPattern: number(view, start + 4, 8)))
            }
        }
        bytes.removeFirst(count * placeBytes)
        return places
    }

    // MARK: Numbers, the lowest byte first

    private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    private static func number(_ bytes: ByteView, _ start: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[start + $1]) << (8 * $1) }
    }
}
