/// A place in a file: byte offset from 0, line and column from 1 (columns count UTF-8 bytes, as compilers do).
package struct SourcePosition: Hashable, Sendable {
    /// Bytes before the place.
    package var offset: Int
    /// Line, from 1.
    package var line: Int
    /// Column in bytes, from 1.
    package var column: Int

    /// Makes a position.
    package init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// The first byte of a file.
    package static let start = SourcePosition(offset: 0, line: 1, column: 1)
}
