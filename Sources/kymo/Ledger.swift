import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore

/// `kymo ledger`: where every reading is.
struct Ledger: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Say where every reading is: the balance, and whether a device's or patient's span is complete.",
        discussion: """
            received = accepted + duplicate + conflict + rejected + retractions, for the whole store; and for the span \
            that is asked about, each window with its readings by source, how often its Observation was written, and \
            which sinks have it. Counts are of whole hours: a rejected reading counts in the hour of its own time, and \
            by the time of receipt where that is unknown or wrong, as drops do; those of the hours that the span has \
            are shown. Exits with status 65 when something is open or missing in the span of a device or patient, and \
            whatever is asked about when a server has kept an earlier version of what it was sent. Readings whose \
            place others have taken are dead letters, and not missing: the span is 'complete, 2 superseded' then, and \
            --strict exits with status 65 for it. So it is with readings that were taken back: 'complete, 1 retracted'.

            --verify decodes every archived window and the journal, compares them with what was counted, and exits \
            with status 65 on any difference.

            Works while 'kymo run' uses the directory, too.

            Of topics of Kafka it says up to which position of each partition all is in the store. --group adds up \
            ledgers of several instances, each written by 'kymo ledger --format json', and exits with status 65 when a \
            partition up to the highest one is in two of them, or in none.

            Example: kymo ledger --group ward-1.json ward-2.json
            Example: kymo ledger --data /var/lib/kymo --patient p-7 --from 2026-03-01T08:00:00Z --to \
            2026-03-01T08:02:00Z
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var span: SpanOptions

    @Flag(help: "Recompute the counts from the readings that are kept, and compare.")
    var verify = false

    @Flag(help: "End with 65 as well when readings were superseded, and when nobody asked for a device or patient.")
    var strict = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Add up these ledgers of several instances, in place of a store's.", valueName: "file"),
        completion: .file())
    var group: [String] = []

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func run() throws {
        guard group.isEmpty else { return try addUp() }
        let directory = try store.directory()
        let isRunning = ControlClient.isRunning(directory)
        let status = isRunning ? ControlClient.ask(ControlRequest(.status), directory)?.status : nil
        let reader = try StoreReader.opened(directory)
        if verify { try verify(reader, isRunning: isRunning) }
        var report = try StandardError.translating { () throws(PipelineError) in
            try reader.ledger(span.filter, isRunning: isRunning)
        }
        report.note(status)
        AuditNote.write(
            .ledger, ["kymo ledger: \((["counts of what is there"] + span.audited).joined(separator: ", "))"],
            in: directory)
        switch format {
        case .text: try StandardOutput.write(Array(LedgerText.of(report).utf8))
        case .json: try StandardOutput.write(try PrettyText.pretty(report))
        }
        let isGood = strict ? report.isPlainlyComplete : report.isComplete
        // What is open closes, and what waits leaves; what a server lacks for good is said of the whole store, too.
        let isAsked = strict || !span.device.isEmpty || !span.patient.isEmpty || !report.lacking.isEmpty
        if !isGood, isAsked { throw ExitCode(ExitStatus.dataError) }
    }

    private func addUp() throws {
        let ledgers = try group.map { (path) -> (name: String, ledger: FleetLedger.Instance) in
            let bytes = try InputFile.read(path, "name files that 'kymo ledger --format json' has written")
            guard let ledger = try? JSONDecoder().decode(FleetLedger.Instance.self, from: Data(bytes)) else {
                throw StandardError.exit(
                    "\(path) is no ledger; write it by 'kymo ledger --format json'", code: ExitStatus.dataError)
            }
            return (path, ledger)
        }
        let fleet: FleetLedger
        do throws(FleetLedger.Fault) { fleet = try FleetLedger(ledgers) } catch {
            let problem =
                switch error {
                case .twice(let name): "\(name) is there twice: name the ledger of each instance once"
                case .partition(let name): "\(name) is no ledger: it has a partition that no topic has"
                }
            throw StandardError.exit(problem, code: ExitStatus.dataError)
        }
        switch format {
        case .text: try StandardOutput.write(Array(fleet.text.utf8))
        case .json: try StandardOutput.write(try PrettyText.pretty(fleet))
        }
        guard fleet.problems.isEmpty, !strict || fleet.missing.isEmpty else { throw ExitCode(ExitStatus.dataError) }
    }

    private func verify(_ reader: StoreReader, isRunning: Bool) throws {
        var bar = ProgressBar()
        let result = try StandardError.translating { () throws(PipelineError) in
            try reader.verifyLedger(isRunning: isRunning) { done in bar.show(done, label: "windows") }
        }
        bar.finish()
        for difference in result.differences { StandardError.write("kymo: \(difference)\n") }
        guard result.differences.isEmpty else {
            throw StandardError.exit(
                "the ledger differs from what is kept in \(CountText.of(result.differences.count, "place"))",
                code: ExitStatus.dataError)
        }
        let windows = CountText.of(result.windows, "window")
        StandardError.write("kymo: verified \(windows) with \(CountText.of(result.readings, "reading"))\n")
    }
}

/// Codable values as JSON for people and programs.
enum PrettyText {
    /// `value` on several lines, members in order of their names.
    static func pretty(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value)) + [0x0A]
    }

    /// `value` in one line, members in order of their names.
    static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value)) + [0x0A]
    }
}

/// A ledger as lines of text.
enum LedgerText {
    static func of(_ report: LedgerReport) -> String {
        var lines = ["store: \(report.balance.text)"]
        if !report.balance.rejected.isEmpty { lines.append("  rejected: \(counts(report.balance.rejected))") }
        if !report.replayed.isEmpty { lines.append("  replayed: \(counts(report.replayed))") }
        if report.balance.kernelDropped > 0 { lines.append("  kernel-dropped \(report.balance.kernelDropped)") }
        if let values = report.unwrittenValues, !values.isEmpty {
            lines.append("  values not written since the instance started: \(counts(values))")
        }
        for source in report.sources { lines.append(text(source)) }
        for topic in report.topics { lines.append(text(topic)) }
        for series in report.series { lines.append(text(series)) }
        for window in report.windows { lines.append(text(window)) }
        lines.append(report.isComplete ? report.completeness : "\(report.completeness):")
        lines += report.missing.map { "  \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(_ source: LedgerReport.Source) -> String {
        var text = "source \(source.name): received \(source.received), in windows \(source.inWindows)"
        if !source.rejected.isEmpty { text += ", rejected \(counts(source.rejected))" }
        if source.kernelDropped > 0 { text += ", kernel-dropped \(source.kernelDropped)" }
        return text
    }

    private static func text(_ topic: LedgerReport.Topic) -> String {
        let partitions = topic.partitions.map { one in
            "partition \(one.partition) up to \(one.position)" + (one.isContested ? " (others tell positions)" : "")
        }
        return "\(topic.name): \(partitions.joined(separator: ", "))"
    }

    private static func text(_ series: LedgerReport.Series) -> String {
        var text = "series \(series.device) \(series.type)"
        if let patient = series.patient { text += " of \(patient)" }
        text += ": windows \(series.windows), readings \(series.readings)"
        text += counts(series.merged, series.duplicate, series.conflict)
        if series.open > 0 { text += ", open \(series.open)" }
        if !series.rejected.isEmpty { text += ", rejected \(counts(series.rejected))" }
        return text
    }

    private static func text(_ window: LedgerReport.Window) -> String {
        var text = "window \(window.start) \(window.device) \(window.type): readings \(window.readings)"
        text += " (\(counts(window.sources)))" + counts(window.merged, window.duplicate, window.conflict)
        text += ", written \(CountText.of(window.revision, "time"))"
        let sinks =
            window.delivered.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value ? "has it" : "waits")" }
            + window.givenUp.map { "\($0) was ended without it" }
        if !sinks.isEmpty { text += "; " + sinks.joined(separator: ", ") }
        if !window.receipts.isEmpty { text += "; receipts \(counts(window.receipts))" }
        return text
    }

    private static func counts(_ merged: Int, _ duplicate: Int, _ conflict: Int) -> String {
        var text = merged > 0 ? ", merged \(merged)" : ""
        if duplicate > 0 { text += ", duplicate \(duplicate)" }
        if conflict > 0 { text += ", conflict \(conflict)" }
        return text
    }

    private static func counts(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
