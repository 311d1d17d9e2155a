import KymographCore

/// The record of a partition that is to be read next.
struct RecordPosition: Hashable, Sendable {
    var partition: Int32
    var offset: Int64
}

/// A record on its way from the thread that reads a topic to the lane that maps it: its place, what it is, how long its
/// content is, and that. What the lane has made durable goes back the other way, as a place alone.
struct RecordFrame {
    /// Bytes before the content.
    static let head = 17

    /// What a record is.
    enum Kind: UInt8 {
        case nothing, payload, unfit
    }

    /// Where the record is.
    let position: RecordPosition
    /// What it is.
    let kind: Kind
    /// Where its content is, which is empty where there is none.
    let content: Range<Int>
    /// Where the next frame begins.
    let end: Int

    /// The frame that begins at `start` of `bytes`; nil where it is not complete.
    init?(_ bytes: ByteView, from start: Int) {
        guard bytes.count - start >= Self.head, let kind = Kind(rawValue: bytes[start + 12]) else { return nil }
        self.kind = kind
        position = RecordPosition(
            partition: Int32(bitPattern: UInt32(truncatingIfNeeded: Self.number(bytes, start, 4))),
            offset: Int64(bitPattern: Self.number(bytes, start + 4, 8)))
        let length = Int(Self.number(bytes, start + 13, 4))
        end = start + Self.head + length
        guard end <= bytes.count else { return nil }
        content = (start + Self.head)..<end
    }

    /// Adds the frame of a record to `bytes`: of a content that is longer than `longest`, one byte more than that.
    static func append(_ position: RecordPosition, _ content: RecordContent, longest: Int, to bytes: inout [UInt8]) {
        append(position, to: &bytes)
        let (kind, content): (Kind, [UInt8]) =
            switch content {
            case .nothing: (.nothing, [])
            case .payload(let value): (.payload, value)
            case .unfit(let letter): (.unfit, letter)
            }
        let length = min(content.count, longest + 1)
        append(UInt64(kind.rawValue), 1, to: &bytes)
        append(UInt64(length), 4, to: &bytes)
        bytes += content[..<length]
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
