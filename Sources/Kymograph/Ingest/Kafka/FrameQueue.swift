import KymographCore

/// Frames of records that wait until a lane takes them.
final class FrameQueue {
    /// Bytes that wait at most, but for the last frame; and bytes that were taken, at which their room is used again.
    private static let most = 256 << 10

    private let longest: Int
    private var bytes: [UInt8] = []
    /// How many of them the lane has taken.
    private var taken = 0

    /// No frames; values have at most `longest` bytes.
    init(longest: Int) { self.longest = longest }

    /// Whether no more is to be added before the lane has taken some.
    var isFull: Bool { bytes.count - taken >= Self.most }
    /// Whether nothing waits.
    var isEmpty: Bool { taken == bytes.count }
    /// Bytes of memory that it has.
    var capacity: Int { bytes.capacity }

    /// Adds a record.
    func append(_ position: RecordPosition, _ content: RecordContent) {
        RecordFrame.append(position, content, longest: longest, to: &bytes)
    }

    /// Has `send` take what waits, until it takes nothing: it says how many bytes it has taken.
    func send(_ send: (ByteView) -> Int) {
        while !isEmpty {
            let size = bytes.withByteView { send($0[taken..<$0.count]) }
            guard size > 0 else { break }
            taken += size
        }
        // A lane that is slower than the brokers takes all only at the end.
        guard isEmpty || taken >= Self.most else { return }
        bytes.removeFirst(taken)
        taken = 0
        if isEmpty, bytes.capacity > 4 * Self.most { bytes = [] }
    }
}
