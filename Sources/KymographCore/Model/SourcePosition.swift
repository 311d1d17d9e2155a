/// A place in a file: byte offset from 0, line and column from 1 (columns count UTF-8 bytes, as compilers do).
public struct SourcePosition: Hashable, Sendable {
    /// Bytes before the place.
    public var offset: Int
    /// Line, from 1.
    public var line: Int
    /// Column in bytes, from 1.
    public var column: Int

    /// Makes a position.
    public init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// The first byte of a file.
    public static let start = SourcePosition(offset: 0, line: 1, column: 1)
}
