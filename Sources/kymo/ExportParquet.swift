import Kymograph
import KymographCore

/// `kymo export --format parquet`: readings as files of columns.
extension Export {
    /// Windows that are read at a time: their readings are in memory together.
    private static let windows = 50

    /// What tells the rows of windows apart, and where they go.
    private struct Table: ~Copyable {
        var encoder: ArchiveEncoder
        var folder: ParquetFolder
        let kinds: [ReadingKind]
    }

    /// Writes the readings, or leaves nothing of them.
    func exportParquet(_ reader: StoreReader, _ written: inout Written) throws {
        var table = try table(reader)
        do {
            let sources = try archive.filter(reader).sources
            try forEachPage(reader, of: Self.windows) { windows, _ in
                let whole = windows.filter { has($0, sources) }
                written.begin(whole.map(\.seriesNumber))
                for window in whole { try append(window, sources, &table) }
                written.end()
            }
            try publish(&table.folder)
        } catch {
            table.folder.abandon()
            throw Self.exit(error)
        }
    }

    /// What ends the command for `error`: its own message and status where it is one of files.
    static func exit(_ error: any Error) -> any Error {
        guard let error = error as? SinkError else { return error }
        // What is full or fails while it is written is no mistake of the command line.
        let isOfDisk = error.kind == .diskFull || error.kind == .syncFailed
        return StandardError.exit(error.message, code: isOfDisk ? ExitStatus.ioError : error.exitCode)
    }

    private func table(_ reader: StoreReader) throws -> Table {
        let sources = try StandardError.translating { () throws(PipelineError) in try reader.sourceNames() }
        let (set, options, lacking) = try archive.tableMappings(reader)
        let kinds = set.readingKinds
        if !lacking.isEmpty {
            let names = lacking.joined(separator: ", ")
            StandardError.write(
                "kymo: the mappings have no template for \(names): their rows have no code and no Observation; name "
                    + "the mappings of 'kymo run' with --mapping or --config to add them\n")
        }
        do throws(SinkError) {
            let folder = try ParquetFolder(
                out ?? "", decimals: decimals ?? 18, kinds: kinds, sources: sources, notes: [])
            return Table(encoder: ArchiveEncoder(set: set, options: options), folder: folder, kinds: kinds)
        } catch {
            throw Self.exit(error)
        }
    }

    /// Whether some readings of `window` are asked for; without a look at them where all are.
    private func has(_ window: ArchivedWindow, _ sources: Set<Int>?) -> Bool {
        guard sources != nil || archive.span.from != nil || archive.span.to != nil else { return true }
        var found = false
        // A damaged one is reported when it is written.
        return !window.forEachReading(in: archive.span, of: sources) { _, _ in found = true } || found
    }

    private func append(_ window: ArchivedWindow, _ sources: Set<Int>?, _ table: inout Table) throws {
        guard let names = table.encoder.names(of: window) else { return ArchiveDamage.report(window) }
        let type = table.kinds[window.series.type].type
        var span: Range<Int64>?
        if case .tumbling = type.grouping { span = window.start.nanoseconds..<window.end.nanoseconds }
        table.folder.begin(window.series, window: span)
        // Of single readings there is a name for each; where there is not, it cannot be told whose they are.
        let isSingle = type.grouping == .instance
        let single = isSingle && names.count == window.readings ? names.sorted { $0.last < $1.last } : []
        if !isSingle, names.count == 1 { table.folder.name(names[0].name) }
        let (from, to) = (archive.span.from?.instant ?? .distantPast, archive.span.to?.instant ?? .distantFuture)
        var place = 0
        _ = try window.forEachReading { reading, payload in
            defer { place += 1 }
            let isWanted = sources?.contains(ReadingSource.number(reading.mark)) ?? true
            guard isWanted, reading.instant >= from, reading.instant < to else { return }
            if place < single.count { table.folder.name(single[place].name) }
            try table.folder.append(reading, payload)
        }
        try table.folder.endWindow()
    }

    private func publish(_ folder: inout ParquetFolder) throws(SinkError) {
        let files = try folder.publish()
        let (rows, place) = (CountText.of(folder.rows, "row"), out ?? "")
        StandardError.write(
            files == 0
                ? "kymo: there are no readings: no file is written to \(place)\n"
                : "kymo: \(rows) in \(CountText.of(files, "file")) in \(place)\n")
        guard folder.inexpressible > 0 else { return }
        let decimals = decimals ?? 18
        StandardError.write(
            "kymo: \(CountText.of(folder.inexpressible, "number")) with more than \(decimals) decimals, or more than "
                + "\(38 - decimals) digits before the point: the column 'value' is empty there, and 'text' has the "
                + "digits; --decimals moves the point\n")
    }
}
