/// The footer of a Parquet file: what its columns are, and where their pages are.
package struct ParquetFooter: ~Copyable {
    /// What a file begins and ends with.
    package static let magic: [UInt8] = Array("PAR1".utf8)
    /// The number of the codec zstd.
    private static let codec = 6

    private let columns: [ParquetColumn]
    /// The row groups, as elements of their list.
    private var groups = ThriftWriter()
    private var groupCount = 0
    private var rowCount = 0
    /// Of the row group that is being written.
    private var groupOffset = 0
    private var groupSize = 0
    private var groupCompressed = 0
    private var next = 0

    init(_ columns: [ParquetColumn]) { self.columns = columns }

    /// Adds the next column of the row group that is being written.
    package mutating func add(_ pages: borrowing ColumnPages, _ place: ChunkPlace) {
        if next == 0 {
            groups.beginElement()
            groups.beginList(1, .structure, count: columns.count)
            (groupOffset, groupSize, groupCompressed) = (place.offset, 0, 0)
        }
        groups.beginElement()
        groups.write(2, int64: 0)
        groups.begin(3)
        writeMetadata(columns[next], pages, place)
        groups.end()
        groups.end()
        groupSize += place.size
        groupCompressed += place.compressed
        next += 1
    }

    /// Ends the row group that is being written, of so many rows.
    package mutating func endGroup(rows: Int) {
        groups.write(2, int64: groupSize)
        groups.write(3, int64: rows)
        groups.write(5, int64: groupOffset)
        groups.write(6, int64: groupCompressed)
        groups.end()
        groupCount += 1
        rowCount += rows
        next = 0
    }

    private mutating func writeMetadata(
        _ column: ParquetColumn, _ pages: borrowing ColumnPages, _ place: ChunkPlace
    ) {
        let hasDictionary = pages.encoding == .dictionary
        let encodings = [pages.encoding, .runs] + (hasDictionary ? [ColumnPages.Encoding.plain] : [])
        groups.write(1, int32: column.form.physical)
        groups.beginList(2, .int32, count: encodings.count)
        for encoding in encodings { groups.element(encoding.rawValue) }
        groups.beginList(3, .binary, count: 1)
        groups.element(Array(column.name.utf8))
        groups.write(4, int32: ParquetFooter.codec)
        groups.write(5, int64: pages.count)
        groups.write(6, int64: place.size)
        groups.write(7, int64: place.compressed)
        groups.write(9, int64: place.data)
        if hasDictionary { groups.write(11, int64: place.offset) }
        groups.begin(12)
        groups.write(3, int64: pages.absent)
        if let least = pages.least, let greatest = pages.greatest {
            groups.write(5, greatest)
            groups.write(6, least)
        }
        groups.end()
    }

    /// What a file ends with: the footer, its length and the magic bytes. `notes` are for readers of the file.
    package func written(_ notes: [(key: String, value: String)], by program: String) -> [UInt8] {
        var thrift = ThriftWriter()
        thrift.write(1, int32: 2)
        thrift.beginList(2, .structure, count: columns.count + 1)
        thrift.beginElement()
        thrift.write(4, "readings")
        thrift.write(5, int32: columns.count)
        thrift.end()
        for column in columns { column.append(to: &thrift) }
        thrift.write(3, int64: rowCount)
        thrift.beginList(4, .structure, count: groupCount)
        thrift.elements(groups.bytes.view)
        thrift.beginList(5, .structure, count: notes.count)
        for note in notes {
            thrift.beginElement()
            thrift.write(1, note.key)
            thrift.write(2, note.value)
            thrift.end()
        }
        thrift.write(6, program)
        // Statistics are in the order of the types.
        thrift.beginList(7, .structure, count: columns.count)
        for _ in columns {
            thrift.beginElement()
            thrift.writeEmpty(1)
            thrift.end()
        }
        thrift.end()
        var writer = ByteWriter(capacity: thrift.bytes.count + 8)
        writer.append(thrift.bytes.view)
        writer.append(word: UInt64(thrift.bytes.count), bytes: 4)
        writer.append(ParquetFooter.magic)
        return writer.view.array
    }
}
