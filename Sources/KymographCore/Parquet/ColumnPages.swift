/// The values of one column in one row group, as pages that are not compressed yet.
package struct ColumnPages: ~Copyable {
    /// How values are written.
    enum Encoding: Int {
        case plain = 0
        case runs = 3
        case delta = 5
        case dictionary = 8
    }

    /// The page with the distinct values; empty when there is none.
    package var dictionary = ByteWriter()
    /// The page with all values, or what stands for them.
    package var data = ByteWriter()
    /// Distinct values.
    var entries = 0
    var encoding = Encoding.plain
    /// Values, with those that are absent.
    var count = 0
    var absent = 0
    /// The least and the greatest value; nil when there is none, or when it is long.
    var least: [UInt8]?
    var greatest: [UInt8]?

    /// Writes the head of a page, whose body has `size` bytes, compressed `compressed`.
    package func head(isDictionary: Bool, size: Int, compressed: Int) -> [UInt8] {
        var thrift = ThriftWriter()
        thrift.write(1, int32: isDictionary ? 2 : 0)
        thrift.write(2, int32: size)
        thrift.write(3, int32: compressed)
        thrift.begin(isDictionary ? 7 : 5)
        thrift.write(1, int32: isDictionary ? entries : count)
        thrift.write(2, int32: (isDictionary ? Encoding.plain : encoding).rawValue)
        if !isDictionary {
            thrift.write(3, int32: Encoding.runs.rawValue)
            thrift.write(4, int32: Encoding.runs.rawValue)
        }
        thrift.end()
        thrift.end()
        return thrift.bytes.view.array
    }
}

/// Where the pages of a column are in the file.
package struct ChunkPlace {
    /// Of the first page.
    package var offset: Int
    /// Of the page with the values.
    package var data: Int
    /// Bytes of the pages with their heads, before and after compression.
    package var size: Int
    package var compressed: Int

    /// Pages that begin at `offset`.
    package init(offset: Int) { (self.offset, data, size, compressed) = (offset, offset, 0, 0) }
}
