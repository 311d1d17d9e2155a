/// What has to be behind a document.
enum DocumentEnding {
    /// Nothing but white space.
    case end
    /// White space, or nothing.
    case space
    /// A newline, with or without a carriage return before it.
    case newline
    /// What follows an element of an array; whoever reads the array looks at it.
    case element

    /// The bytes of the line that a document at the beginning of `bytes` is in, more than `limit` when there are more.
    /// Of an element, those up to the first brace that can end it, 0 when none of the first `limit` is one. Never more
    /// than there are.
    @inline(__always)
    func lineLength(_ bytes: ByteView, limit: Int) -> Int {
        self == .element ? bytes.objectLength(limit: limit) : bytes.lineLength(limit: limit)
    }

    /// Whether it is in `bytes` behind a document that ends at `end`.
    @inline(__always)
    func follows(_ end: Int, in bytes: ByteView) -> Bool {
        switch self {
        case .end: JSONScanner.skipSpace(bytes, end) == bytes.count
        case .space: end == bytes.count || bytes[end] <= 0x20
        case .newline:
            end < bytes.count && bytes[end] == 0x0A
                || end &+ 1 < bytes.count && bytes[end] == 0x0D && bytes[end &+ 1] == 0x0A
        case .element: true
        }
    }
}
