import ArgumentParser
import Kymograph
import KymographCore

/// `kymo export`: the archive to a file, or to files.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write archived Observations as NDJSON, or archived readings as CSV or Parquet.",
        discussion: """
            CSV has one reading a row and the same columns throughout: time, received (RFC 3339 in UTC), type, device, \
            patient, encounter, correlation, source, and one column for each name of a value. What is not there is \
            empty. Latest windows come first; the readings of a window are in order of time. Works while 'kymo run' \
            uses the directory, too. With --open windows that are still open are among them.

            Parquet has one value a row, with exact numbers, units, codes, and the identifier of its Observation, in \
            files in DIR/day=2026-03-01/type=heartRate/. The files appear when all of them are complete. A folder that \
            has files of an earlier export is refused (73).

            A bulk export is a file of NDJSON for each type of resource, and manifest.json, which lists them as HL7's \
            Bulk Data Access has it, with --base-url before their names.

            Example: kymo export --data /var/lib/kymo --format csv --type heartRate > heartrate.csv
            Example: kymo export --data /var/lib/kymo --format parquet --out readings --from 2026-03-01T00:00:00Z
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case ndjson, csv, parquet, bulk
    }

    @OptionGroup var archive: ArchiveOptions

    @Option(
        help: ArgumentHelp(
            "Observations as NDJSON, readings as CSV or Parquet, or files for a bulk import.",
            valueName: "ndjson|csv|parquet|bulk"))
    var format = Format.ndjson

    @Option(
        help: ArgumentHelp("Folder for Parquet and bulk files, made if it is not there.", valueName: "dir"),
        completion: .directory)
    var out: String?

    @Option(
        help: ArgumentHelp(
            "Digits behind the point of Parquet's numbers, of 38 in all. A number with more is written as text. "
                + "Default: 18.",
            valueName: "0…37"))
    var decimals: Int?

    @Option(help: ArgumentHelp("What the manifest of a bulk export has before names of files.", valueName: "url"))
    var baseURL: String?

    /// Windows that are read at a time.
    private static let page = 500

    func validate() throws {
        switch format {
        case .ndjson: break
        case .csv, .parquet: try archive.refuseIDs(with: "--format \(format.rawValue)")
        case .bulk: break
        }
        if let decimals {
            guard format == .parquet else { throw ValidationError("--decimals needs --format parquet") }
            guard (0...37).contains(decimals) else { throw ValidationError("--decimals must be 0…37") }
        }
        guard baseURL == nil || format == .bulk else { throw ValidationError("--base-url needs --format bulk") }
        guard (baseURL ?? "").utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw ValidationError("--base-url has blanks, or letters that a URL has in escaped form only")
        }
        let isFolder = format == .parquet || format == .bulk
        guard isFolder || out == nil else {
            throw ValidationError(
                "--out is the folder of --format parquet and bulk, and \(format.rawValue) goes to standard output: "
                    + "redirect that")
        }
        guard !isFolder || !(out ?? "").isEmpty else {
            throw ValidationError(
                "--format \(format.rawValue) writes files, and nothing to standard output: name a folder with --out DIR"
            )
        }
    }

    func run() throws {
        let directory = try archive.store.directory()
        let reader = try StoreReader.opened(directory)
        AuditNote.write(.export, ["kymo export begins to write \(format.rawValue); \(archive.audited)"], in: directory)
        var written = Written(directory: directory)
        defer { AuditNote.write(.export, [written.text], in: directory) }
        switch format {
        case .ndjson:
            var encoder = try archive.encoder(reader)
            let absence = try forEachWindow(reader, &written) { window, selected in
                guard let observations = encoder.observations(of: window) else { return nil }
                return observations.filter { selected.isWanted($0) }.reduce(into: []) { $0 += $1 + [0x0A] }
            }
            try Query.refuse(absence)
        case .csv: try exportReadings(reader, &written)
        case .parquet: try exportParquet(reader, &written)
        case .bulk: try exportBulk(reader, &written)
        }
    }

    /// What has left the store, for the audit.
    struct Written {
        let directory: String
        private var windows = 0
        private var series: Set<Int> = []
        /// Windows that are being written.
        private var begun = 0

        init(directory: String) { self.directory = directory }

        /// Writes `output`, which has windows of these series.
        mutating func write(_ output: [UInt8], of windows: [Int]) throws {
            begin(windows)
            try StandardOutput.write(data: output)
            end()
        }

        /// Notes that windows of these series are about to be written. A series is noted before anything of it can be
        /// seen: a command that is killed says nothing at its end.
        mutating func begin(_ windows: [Int]) {
            let new = Set(windows).subtracting(series)
            if !new.isEmpty {
                AuditNote.write(
                    .export, AuditDeed.parts(series: new).map { "kymo export writes windows of \($0)" }, in: directory)
            }
            series.formUnion(new)
            begun = windows.count
        }

        /// Notes that they are written.
        mutating func end() { (windows, begun) = (windows + begun, 0) }

        var text: String {
            let cut = begun > 0 ? ", and a part of \(begun) more at most" : ""
            return "kymo export has written \(CountText.of(windows, "window"))\(cut)"
        }
    }

    private func exportReadings(_ reader: StoreReader, _ written: inout Written) throws {
        let (types, sources) = try StandardError.translating { () throws(PipelineError) in
            (try reader.types(), try reader.sourceNames())
        }
        let table = ReadingTable(types: types, names: archive.type, sources: sources)
        try StandardOutput.write(data: ReadingTable.csv(table.columns))
        let wanted = try archive.filter(reader).sources
        try forEachWindow(reader, &written) { window, _ in
            var lines: [UInt8] = []
            let isWhole = window.forEachReading(in: archive.span, of: wanted) { reading, payload in
                lines += ReadingTable.csv(table.row(reading, payload, of: window.series))
            }
            return isWhole ? lines : nil
        }
    }

    /// Writes what `text` makes of each window; nil says that it is damaged. Returns what ``forEachPage`` does.
    @discardableResult
    private func forEachWindow(
        _ reader: StoreReader, _ written: inout Written,
        _ text: (ArchivedWindow, borrowing SelectedWindows) -> [UInt8]?
    ) throws -> String? {
        try forEachPage(reader, of: Export.page) { windows, selected in
            var output: [UInt8] = []
            var series: [Int] = []
            for window in windows {
                guard let lines = text(window, selected) else {
                    ArchiveDamage.report(window)
                    continue
                }
                // Other Observations than those of --id, or no reading within the span.
                guard !lines.isEmpty else { continue }
                output += lines
                series.append(window.seriesNumber)
            }
            try written.write(output, of: series)
        }
    }

    /// Hands the windows to `body`, at most `count` of them at a time. Returns that none has an id that is asked for.
    @discardableResult
    func forEachPage(
        _ reader: StoreReader, of count: Int, _ body: ([ArchivedWindow], borrowing SelectedWindows) throws -> Void
    ) throws -> String? {
        let filter = try archive.filter(reader)
        // Tags are in the readings: to count them is to read all windows at once.
        let total = try StandardError.translating { () throws(PipelineError) in
            var closed = OpenSelection(isAsked: false)
            return filter.tags == nil ? try reader.count(filter, with: &closed).windows : 0
        }
        var progress = ProgressBar()
        var done = 0
        var selected = try SelectedWindows(archive, reader)
        var windows = try selected.next(count)
        while !windows.isEmpty {
            try body(windows, selected)
            done += windows.count
            if total > 0 {
                let whole = max(total + selected.open.total.windows, done)
                progress.show(Double(done) / Double(whole), label: CountText.of(done, "window"))
            }
            windows = try selected.next(count)
        }
        progress.finish()
        ArchiveDamage.report(selected.open)
        return selected.absence(archive)
    }
}
