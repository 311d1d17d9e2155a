import ArgumentParser
import Kymograph
import KymographCore

/// `kymo export`: the archive to a file.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write archived Observations as NDJSON, or archived readings as CSV.",
        discussion: """
            CSV has one reading a row and the same columns throughout, so that it becomes Parquet without more ado: \
            time, received (RFC 3339 in UTC), type, device, patient, encounter, correlation, source, and one column \
            for each name of a value. What is not there is empty. Latest windows come first; the readings of a window \
            are in order of time. Works while 'kymo run' uses the directory, too. With --open windows that are still \
            open are among them.

            Example: kymo export --data /var/lib/kymo --format csv --type heartRate > heartrate.csv
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case ndjson, csv
    }

    @OptionGroup var archive: ArchiveOptions

    @Option(help: ArgumentHelp("Observations as NDJSON, or readings as CSV.", valueName: "ndjson|csv"))
    var format = Format.ndjson

    /// Windows that are read at a time.
    private static let page = 500

    func validate() throws {
        if format == .csv { try archive.refuseIDs(with: "--format csv") }
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
            try forEachWindow(reader, &written) { window, selected in
                guard let observations = encoder.observations(of: window) else { return nil }
                return observations.filter { selected.isWanted($0) }.reduce(into: []) { $0 += $1 + [0x0A] }
            }
        case .csv: try exportReadings(reader, &written)
        }
    }

    /// What has left the store, for the audit.
    private struct Written {
        let directory: String
        private var windows = 0
        private var series: Set<Int> = []
        /// Windows that are being written.
        private var begun = 0

        init(directory: String) { self.directory = directory }

        /// Writes `output`, which has windows of these series. A series is noted before anything of it can be seen: a
        /// command that is killed says nothing at its end.
        mutating func write(_ output: [UInt8], of windows: [Int]) throws {
            let new = Set(windows).subtracting(series)
            if !new.isEmpty {
                AuditNote.write(
                    .export, AuditDeed.parts(series: new).map { "kymo export writes windows of \($0)" }, in: directory)
            }
            series.formUnion(new)
            begun = windows.count
            try StandardOutput.write(data: output)
            (self.windows, begun) = (self.windows + windows.count, 0)
        }

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

    /// Writes what `text` makes of each window; nil says that it is damaged.
    private func forEachWindow(
        _ reader: StoreReader, _ written: inout Written,
        _ text: (ArchivedWindow, borrowing SelectedWindows) -> [UInt8]?
    ) throws {
        let filter = try archive.filter(reader)
        // Tags are in the readings: to count them is to read all windows at once.
        let total = try StandardError.translating { () throws(PipelineError) in
            var closed = OpenSelection(isAsked: false)
            return filter.tags == nil ? try reader.count(filter, with: &closed).windows : 0
        }
        var progress = ProgressBar()
        var done = 0
        var selected = try SelectedWindows(archive, reader)
        var windows = try selected.next(Export.page)
        while !windows.isEmpty {
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
            done += windows.count
            if total > 0 {
                let whole = max(total + selected.open.total.windows, done)
                progress.show(Double(done) / Double(whole), label: "\(done) windows")
            }
            windows = try selected.next(Export.page)
        }
        progress.finish()
        ArchiveDamage.report(selected.open)
    }
}
