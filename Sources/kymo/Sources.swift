import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore

/// `kymo sources`: what has come from where.
struct Sources: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract:
            "List sources, or devices and types, with first and last reading and counts; or remove one that is gone.",
        discussion: "Example: kymo sources list --devices --data /var/lib/kymo",
        subcommands: [SourcesList.self, SourcesRemove.self], defaultSubcommand: SourcesList.self)
}

/// `kymo sources list`.
struct SourcesList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List sources, or devices and types.",
        discussion: """
            A row for each source of this run and of earlier ones: whether it is open, paused or absent, how many \
            devices and which types it has brought, the times of its first and last reading that are known, and \
            counts. With --devices a row for each device and type.

            Works while 'kymo run' uses the directory, too. It reads each window's facts: seconds for millions.

            Example: kymo sources list --devices --data /var/lib/kymo --format json
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "A row for each device and type.")
    var devices = false

    @Option(help: ArgumentHelp("For people, or for programs: sources and devices.", valueName: "table|json"))
    var format = TableFormat.table

    func run() throws {
        let directory = try store.directory()
        let status = ControlClient.ask(ControlRequest(.status), directory)?.status
        let report = try StandardError.translating { () throws(PipelineError) in
            try StoreReader(directory: directory).sources(
                isRunning: status != nil, present: status?.sources.map(\.name) ?? [])
        }
        AuditNote.write(
            .sourcesList, ["kymo sources list lists \(CountText.of(report.series.count, "series"))"], in: directory)
        switch format {
        case .json: try StandardOutput.write(try PrettyText.pretty(report))
        case .table: try StandardOutput.write(devices ? deviceTable(report) : sourceTable(report))
        }
    }

    private func sourceTable(_ report: SourceReport) -> [UInt8] {
        var table = TextTable(["source", "state", "devices", "first", "last", "received", "rejected", "types"])
        for source in report.sources {
            table.add([
                source.name, source.state, String(source.devices), source.first ?? "-", source.last ?? "-",
                String(source.received), String(source.rejected), source.types.joined(separator: ","),
            ])
        }
        return table.bytes
    }

    private func deviceTable(_ report: SourceReport) -> [UInt8] {
        var table = TextTable(["device", "type", "first", "last", "readings", "sources"])
        for series in report.series {
            table.add([
                series.device.text, series.type, series.first ?? "-", series.last ?? "-", String(series.readings),
                series.sources.joined(separator: ","),
            ])
        }
        return table.bytes
    }
}

/// `kymo sources remove`.
struct SourcesRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "List a source or device that is gone no more, until something comes of it again.",
        discussion: """
            Its readings, dead letters and counts stay as long as others do, and so does what is still to be \
            delivered. To remove what is not listed changes nothing. A running instance writes to its log who asked.

            Example: kymo sources remove --device watch-1 --data /var/lib/kymo
            """)

    @OptionGroup var store: StoreOptions

    @Argument(help: ArgumentHelp("Names of sources, in full.", valueName: "source"))
    var sources: [String] = []

    @Option(help: ArgumentHelp("This device. Repeatable.", valueName: "id"))
    var device: [String] = []

    func validate() throws {
        guard !sources.isEmpty || !device.isEmpty else {
            throw ValidationError("name sources, or devices with --device")
        }
    }

    func run() throws {
        let directory = try store.directory()
        let request = RemovalRequest(sources: sources, devices: device.map { IdentifierText($0) })
        try StandardError.translating { () throws(PipelineError) in
            try SourceRemoval.make(request, directory) { StandardError.write("kymo: \($0.text)\n") }
        }
    }
}
