/// The length before a payload.
package struct LengthField: Hashable, Sendable {
    /// How the number is written.
    package enum Form: Hashable, Sendable {
        /// One, two, three or four bytes.
        case fixed(width: Int, isBigEndian: Bool)
        /// Seven bits a byte, the lowest first, at most five bytes (protocol buffers).
        case varint
    }

    /// How the number is written.
    package var form: Form
    /// Bytes of the frame before the number.
    package var offset: Int
    /// What to add to the number for the bytes after it: negative when it counts itself.
    package var adjustment: Int
    /// Whether payloads begin with the frame and not behind the number.
    package var keepsHead: Bool

    /// Makes a field.
    package init(_ form: Form, offset: Int = 0, adjustment: Int = 0, keepsHead: Bool = false) {
        self.form = form
        self.offset = offset
        self.adjustment = adjustment
        self.keepsHead = keepsHead
    }

    /// Bytes up to the end of the longest number.
    var longestHead: Int {
        switch form {
        case .fixed(let width, _): offset + width
        case .varint: offset + 5
        }
    }

    /// What the first bytes of a frame say.
    enum Reading {
        /// At least this many more bytes are needed.
        case more(Int)
        /// The head's bytes, and the bytes after it, which may be negative.
        case lengths(head: Int, rest: Int)
        /// No number.
        case none
    }

    /// Reads the field in `bytes`, which begin with the frame.
    func read(_ bytes: ByteView) -> Reading {
        switch form {
        case .fixed(let width, let isBigEndian):
            guard bytes.count >= offset + width else { return .more(offset + width - bytes.count) }
            var value = 0
            for index in 0..<width {
                let place = isBigEndian ? index : width - 1 - index
                value = value << 8 | Int(bytes[offset + place])
            }
            return .lengths(head: offset + width, rest: value + adjustment)
        case .varint: return readVarint(bytes)
        }
    }

    private func readVarint(_ bytes: ByteView) -> Reading {
        var value = 0
        for index in 0..<5 {
            guard offset + index < bytes.count else { return .more(offset + index + 1 - bytes.count) }
            let byte = bytes[offset + index]
            value |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return .lengths(head: offset + index + 1, rest: value + adjustment) }
        }
        return .none
    }
}
