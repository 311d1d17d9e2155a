package import KymographCore

/// A folder of Parquet files of readings: one for each day and type, or several where memory does not allow for one.
///
/// Files have hidden names until all of them are whole, so that nobody reads a part of an export for all of it.
package struct ParquetFolder: ~Copyable {
    /// Most files that grow at a time, as far as the process may have so many. Windows come latest start first, and of
    /// all types in turns; those of correlations come in any order.
    private let mostOpen = max(8, min(256, ProcessFacts.now().mostDescriptors - 40))
    /// About how many bytes of memory the rows of all growing files may take.
    private static let mostBytes = 24 << 20
    private static let day = ParquetFile.dayLength

    private let path: String
    private let decimals: Int
    private let sources: [Int: String]
    private let kinds: [ReadingKind]
    private let notes: [(key: String, value: String)]
    private var writer = PageWriter()
    /// Those that grow; the current one is the last.
    private var open: [ParquetFile] = []
    private var isCurrent = false
    private var uses = 0
    private var files = HiddenFiles()
    /// Folders that were found to have no files of an earlier export.
    private var checked: Set<IdentifierText> = []
    private var series: SeriesIdentity?
    private var window: Range<Int64>?
    private var name: ResourceName?

    /// Rows of whole files, and those of them whose number is in the column of texts.
    package private(set) var rows = 0
    package private(set) var inexpressible = 0

    /// The folder `path`, which is made if it is not there. Numbers have `decimals` digits behind the point; `kinds`
    /// are those of all types, `sources` the names by number; `notes` are for readers of the files.
    ///
    /// - Throws: ``SinkError`` when the folder cannot be used.
    package init(
        _ path: String, decimals: Int, kinds: [ReadingKind], sources: [Int: String],
        notes: [(key: String, value: String)]
    ) throws(SinkError) {
        (self.path, self.decimals, self.kinds, self.sources, self.notes) = (path, decimals, kinds, sources, notes)
        try files.makeRoot(path)
    }

    // MARK: Rows

    /// The next readings are of `series`, and of this window unless it is nil.
    package mutating func begin(_ series: SeriesIdentity, window: Range<Int64>?) {
        (self.series, self.window, name, isCurrent) = (series, window, nil, false)
    }

    /// The next readings are in the resource of this name, or in none.
    package mutating func name(_ name: ResourceName?) {
        self.name = name
        if isCurrent { open[open.count - 1].rows.name(name) }
    }

    /// Appends the rows of `reading`.
    ///
    /// - Throws: ``SinkError`` when a file cannot be written.
    package mutating func append(_ reading: Measurement, _ payload: ByteView) throws(SinkError) {
        let instant = reading.instant.nanoseconds
        if !isCurrent || !open[open.count - 1].has(instant) {
            try choose(day: Self.start(ofDayWith: instant))
        }
        let file = open[open.count - 1]
        file.rows.append(reading, payload)
        if file.rows.count >= ReadingRows.mostRows || file.rows.load >= ReadingRows.mostBytes {
            try file.flush(&writer)
        }
    }

    /// Ends the readings of a window.
    ///
    /// - Throws: ``SinkError`` when a file cannot be written.
    package mutating func endWindow() throws(SinkError) {
        var load = open.reduce(0) { $0 + $1.rows.load }
        while load > Self.mostBytes, let largest = open.max(by: { $0.rows.load < $1.rows.load }) {
            load -= largest.rows.load
            try largest.flush(&writer)
        }
    }

    private static func start(ofDayWith instant: Int64) -> Int64 {
        let rest = instant % day
        let (start, isBefore) = (instant - rest).subtractingReportingOverflow(rest < 0 ? day : 0)
        return isBefore ? .min : start
    }

    /// Makes the file of that day and of the current series the current one.
    private mutating func choose(day: Int64) throws(SinkError) {
        guard let series else { preconditionFailure("readings of no series") }
        uses += 1
        if let place = open.firstIndex(where: { $0.day == day && $0.type == series.type }) {
            open.append(open.remove(at: place))
        } else {
            if open.count >= mostOpen, let oldest = open.indices.min(by: { open[$0].lastUse < open[$1].lastUse }) {
                try finish(open.remove(at: oldest))
            }
            open.append(try begun(day: day, type: series.type))
        }
        let file = open[open.count - 1]
        file.lastUse = uses
        file.rows.begin(series, kinds[series.type], window: window)
        file.rows.name(name)
        isCurrent = true
    }

    // MARK: Files

    private mutating func begun(day: Int64, type: Int) throws(SinkError) -> ParquetFile {
        let outer = "\(path)/\(PartitionName.day(Instant(nanoseconds: day)))"
        let folder = "\(outer)/\(PartitionName.type(kinds[type].type.name))"
        if checked.insert(IdentifierText(folder)).inserted { try check(folder, in: outer) }
        let rows = ReadingRows(decimals: decimals, sources: sources)
        let file = try files.begin(in: folder, "part", ".parquet")
        let hidden = file.path
        do throws(SinkError) {
            return try ParquetFile(file, day: day, type: type, rows: rows)
        } catch {
            FileSystem.remove(hidden)
            throw error
        }
    }

    /// Makes `folder` if it is not there, and refuses one with files of an earlier export.
    private mutating func check(_ folder: String, in outer: String) throws(SinkError) {
        try files.make(outer)
        try files.make(folder)
        if let other = FileSystem.names(in: folder).first(where: { $0.hasSuffix(".parquet") && !$0.hasPrefix(".") }) {
            throw SinkError(
                kind: .inUse,
                message: "\(folder) has \(other) of an earlier export, whose readings would be counted twice; "
                    + "name another folder, or remove this one")
        }
    }

    private mutating func finish(_ file: ParquetFile) throws(SinkError) {
        let notes = notes + [("kymo.type", kinds[file.type].type.name)]
        files.add(file.hidden, as: file.name)
        try file.finish(&writer, notes)
        rows += file.rowCount
        inexpressible += file.rows.inexpressible
    }

    /// Ends all files and gives them their names. Says how many there are.
    ///
    /// - Throws: ``SinkError`` when a file cannot be written.
    package mutating func publish() throws(SinkError) -> Int {
        isCurrent = false
        while let file = open.last {
            try finish(file)
            open.removeLast()
        }
        let count = files.count
        try files.publish()
        return count
    }

    /// Removes what is not published, as far as that is possible.
    package mutating func abandon() {
        for file in open { FileSystem.remove(file.hidden) }
        files.abandon()
    }
}
