import KymographCore

/// Compresses the pages of Parquet files and writes them; one for all files that grow.
struct PageWriter: ~Copyable {
    private var stream = ZstdStream(level: ZstdStream.usualLevel)
    private var compressed = ByteWriter()

    /// Writes the page with `body`, whose place is noted in `place`; nothing where there is none.
    mutating func write(
        _ body: ByteView, of pages: borrowing ColumnPages, isDictionary: Bool, to file: borrowing GrowingFile,
        _ place: inout ChunkPlace
    ) throws(SinkError) -> Int {
        compressed.removeAll()
        stream.compress(body, .end, to: &compressed)
        let head = pages.head(isDictionary: isDictionary, size: body.count, compressed: compressed.count)
        try file.write(head)
        try file.write(compressed.view)
        place.size += head.count + body.count
        place.compressed += head.count + compressed.count
        return head.count + compressed.count
    }
}

/// A Parquet file of readings that grows, row group by row group.
final class ParquetFile {
    /// Nanoseconds of a day.
    static let dayLength: Int64 = 86_400_000_000_000

    /// Nanoseconds since the epoch at which the day of its readings begins.
    let day: Int64
    /// Their type.
    let type: Int
    /// The name that it gets when it is whole, and the one before that.
    let name: String
    let hidden: String
    /// When rows were appended last, as a count of such times.
    var lastUse = 0
    var rows: ReadingRows
    private(set) var rowCount = 0
    private let file: GrowingFile
    private var footer: ParquetFooter
    private var offset = ParquetFooter.magic.count

    /// Begins the file that has been made.
    init(
        _ file: consuming GrowingFile, day: Int64, type: Int, rows: consuming ReadingRows
    ) throws(SinkError) {
        (self.day, self.type, name, hidden) = (day, type, file.name, file.path)
        footer = rows.footer()
        self.rows = rows
        try file.write(ParquetFooter.magic)
        self.file = file
    }

    /// Whether `instant`, in nanoseconds since the epoch, is of its day; however far away it is.
    func has(_ instant: Int64) -> Bool {
        let (after, isFar) = instant.subtractingReportingOverflow(day)
        return !isFar && after >= 0 && after < Self.dayLength
    }

    /// Makes the rows a row group.
    func flush(_ writer: inout PageWriter) throws(SinkError) {
        let count = rows.count
        guard count > 0 else { return }
        var failure: SinkError?
        rows.takeGroup { pages in
            guard failure == nil else { return }
            do throws(SinkError) { try write(pages, &writer) } catch { failure = error }
        }
        if let failure { throw failure }
        footer.endGroup(rows: count)
        rowCount += count
    }

    private func write(_ pages: borrowing ColumnPages, _ writer: inout PageWriter) throws(SinkError) {
        var place = ChunkPlace(offset: offset)
        if pages.dictionary.count > 0 {
            offset += try writer.write(pages.dictionary.view, of: pages, isDictionary: true, to: file, &place)
        }
        place.data = offset
        offset += try writer.write(pages.data.view, of: pages, isDictionary: false, to: file, &place)
        footer.add(pages, place)
    }

    /// Writes what is left, and the footer with `notes`.
    func finish(_ writer: inout PageWriter, _ notes: [(key: String, value: String)]) throws(SinkError) {
        try flush(&writer)
        try file.write(footer.written(notes, by: "kymo version \(KymographVersion.number)"))
        try file.finish()
    }
}
