import ArgumentParser
import Kymograph
import KymographCore

/// `kymo query`: what the archive has.
struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Show what the archive has: Observations, or their readings.",
        discussion: """
            Prints closed windows, latest start first: one Observation a line, written by the mappings that are named \
            as for 'kymo run', or with --readings one reading a line. Works while 'kymo run' uses the directory, too.

            With --raw it prints the payloads that the readings of these windows came in, as they came, one a line: \
            what store.keepRaw has kept.

            When there are more than --limit windows, standard error names the --cursor to go on with. Windows that \
            come in meanwhile do not change what is behind a cursor.

            With --id, it exits with status 65 when no window has one of the ids, and names it.

            Example: kymo query --data /var/lib/kymo --device watch-1 --from 2026-03-01T08:00:00Z --format table
            Example: kymo query --data /var/lib/kymo --patient p-1 --readings
            Example: kymo query --data /var/lib/kymo --patient p-1 --open --limit 1
            Example: kymo query --data /var/lib/kymo --device watch-1 --raw
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case ndjson, table
    }

    @OptionGroup var archive: ArchiveOptions

    @Flag(help: "Readings in place of Observations; needs no mapping.")
    var readings = false

    @Flag(help: "The payloads that the readings came in, as they came, in place of Observations.")
    var raw = false

    @Flag(help: "Only how many windows and readings there are, as JSON. The readings are those of whole windows.")
    var count = false

    @Option(help: ArgumentHelp("NDJSON, or a table of windows or readings for people.", valueName: "ndjson|table"))
    var format = Format.ndjson

    @Option(help: ArgumentHelp("Most windows.", valueName: "count"))
    var limit = 100

    @Option(help: ArgumentHelp("Go on where an earlier query ended.", valueName: "text"))
    var cursor: String?

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0") }
        if readings { try archive.refuseIDs(with: "--readings") }
        if count { try archive.refuseIDs(with: "--count") }
        guard !raw || !readings && !count else {
            throw ValidationError("--raw is a question of its own: leave --readings and --count out")
        }
        if let cursor, ArchiveCursor(cursor) == nil {
            throw ValidationError("--cursor \(cursor): it is none that 'kymo query' has named")
        }
    }

    func run() throws {
        let directory = try archive.store.directory()
        let reader = try StoreReader.opened(directory)
        if count { return try printCount(reader) }
        var selected = try SelectedWindows(archive, reader, after: cursor.flatMap { ArchiveCursor($0) })
        let windows = try selected.next(limit + 1)
        let shown = Array(windows.prefix(limit))
        AuditNote.write(
            .query,
            AuditDeed.parts(series: Set(shown.map(\.seriesNumber))).map {
                "kymo query shows \(raw ? "payloads, with all that they hold, of " : "")"
                    + "\(CountText.of(shown.count, "window")) of \($0); \(archive.audited)"
            }, in: directory)
        if raw {
            try PayloadListing(reader, archive).write(shown, selected, isTable: format == .table)
        } else {
            try print(shown, selected, reader)
        }
        ArchiveDamage.report(selected.open)
        // What was not found may be of a type that cannot be written.
        if selected.lacksID { try archive.refuseUnwritable(reader) }
        if windows.count > limit, let last = shown.last {
            StandardError.write("kymo: there are more windows: --cursor \(last.cursor.text)\n")
        }
        try Self.refuse(selected.absence(archive))
    }

    /// Exits with status 65 for the `absence` of an id: what was found is printed by then.
    static func refuse(_ absence: String?) throws {
        if let absence { throw StandardError.exit(absence, code: ExitStatus.dataError) }
    }

    private func print(
        _ shown: [ArchivedWindow], _ selected: borrowing SelectedWindows, _ reader: StoreReader
    ) throws {
        switch (format, readings) {
        case (.table, false): try printTable(shown, reader)
        case (.table, true): try printReadingTable(shown, reader)
        case (.ndjson, false): try printObservations(shown, selected, reader)
        case (.ndjson, true): try printReadings(shown, reader)
        }
    }

    private func printCount(_ reader: StoreReader) throws {
        let filter = try archive.filter(reader)
        var open = OpenSelection(isAsked: archive.open)
        let count = try StandardError.translating { () throws(PipelineError) in
            try reader.count(filter, with: &open)
        }
        let openWindows = open.isAsked ? ",\"openWindows\":\(open.total.windows)" : ""
        let text = "{\"windows\":\(count.windows),\"readings\":\(count.readings)\(openWindows)}\n"
        try StandardOutput.write(Array(text.utf8))
        ArchiveDamage.report(open)
    }

    private func printObservations(
        _ windows: [ArchivedWindow], _ selected: borrowing SelectedWindows, _ reader: StoreReader
    ) throws {
        var encoder = try archive.finder(reader) ?? archive.encoder(reader)
        for window in windows {
            guard let observations = encoder.observations(of: window) else {
                ArchiveDamage.report(window)
                continue
            }
            for observation in observations where selected.isWanted(observation) {
                try StandardOutput.write(observation + [0x0A])
            }
        }
    }

    private func printReadings(_ windows: [ArchivedWindow], _ reader: StoreReader) throws {
        let sources = try archive.filter(reader).sources
        let types = try StandardError.translating { () throws(PipelineError) in try reader.types() }
        var writer = ByteWriter()
        for window in windows {
            let isWhole = window.forEachReading(in: archive.span, of: sources) { reading, payload in
                MeasurementJSON.append(
                    reading, payload: payload, type: types[window.series.type], identity: window.series, to: &writer)
                writer.append("\n")
            }
            if !isWhole { ArchiveDamage.report(window) }
            try StandardOutput.write(writer.view.array)
            writer.removeAll()
        }
    }

    private func printTable(_ windows: [ArchivedWindow], _ reader: StoreReader) throws {
        let types = try StandardError.translating { () throws(PipelineError) in try reader.types() }
        var table = TextTable(["start", "type", "device", "patient", "readings", "revision", "modified"])
        for window in windows {
            table.add([
                window.start.text, types[window.series.type].name,
                String(decoding: window.series.device, as: UTF8.self),
                window.series.patient.map { String(decoding: $0, as: UTF8.self) } ?? "", "\(window.readings)",
                window.revisionText, window.modified.text,
            ])
        }
        try StandardOutput.write(table.bytes)
    }

    private func printReadingTable(_ windows: [ArchivedWindow], _ reader: StoreReader) throws {
        let wanted = try archive.filter(reader).sources
        let (types, sources) = try StandardError.translating { () throws(PipelineError) in
            (try reader.types(), try reader.sourceNames())
        }
        let shape = ReadingTable(types: types, names: archive.type, sources: sources)
        var table = TextTable(shape.columns)
        for window in windows {
            let isWhole = window.forEachReading(in: archive.span, of: wanted) { reading, payload in
                table.add(shape.row(reading, payload, of: window.series).map { $0 ?? "" })
            }
            if !isWhole { ArchiveDamage.report(window) }
        }
        try StandardOutput.write(table.bytes)
    }
}

/// Tells of what cannot be shown.
enum ArchiveDamage {
    /// Says that a window is damaged.
    static func report(_ window: ArchivedWindow) {
        let device = String(decoding: window.series.device, as: UTF8.self)
        StandardError.write("kymo: the window of \(device) at \(window.start.text) is damaged and left out\n")
    }

    /// Says what is missing in open windows.
    static func report(_ open: OpenSelection) {
        if open.damagedBlocks > 0 {
            let blocks = CountText.of(open.damagedBlocks, "block")
            StandardError.write("kymo: \(blocks) of the journal cannot be read: open windows may lack readings\n")
        }
        guard !open.rejected.isEmpty else { return }
        let reasons = open.rejected.map { "\($0.key.name) \($0.value)" }.sorted().joined(separator: ", ")
        StandardError.write(
            "kymo: readings of the journal that the next start would reject are left out: \(reasons)\n")
    }
}

extension ArchivedWindow {
    /// How often it was written, and whether it is open.
    fileprivate var revisionText: String {
        isOpen ? revision > 0 ? "\(revision), open" : "open" : "\(revision)"
    }

    /// Calls `body` with the readings that are in the span, and of `sources` unless that is nil; false when the window
    /// is damaged.
    func forEachReading(
        in span: SpanOptions, of sources: Set<Int>?, _ body: (Measurement, ByteView) throws -> Void
    ) rethrows -> Bool {
        let (from, to) = (span.from?.instant ?? .distantPast, span.to?.instant ?? .distantFuture)
        return try forEachReading { reading, payload in
            let isWanted = sources?.contains(ReadingSource.number(reading.mark)) ?? true
            if isWanted, reading.instant >= from, reading.instant < to { try body(reading, payload) }
        }
    }
}
