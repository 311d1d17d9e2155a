import ArgumentParser
import Kymograph
import KymographCore

/// `kymo audit`: who has seen or changed what.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show who has seen or changed what, and check that nobody has changed the trail.",
        discussion: """
            The trail is in the folder 'audit' of the data directory: records that are only ever appended, each with \
            the digest of the one before. Instances and commands write to it. It names no device and no patient.

            Example: kymo audit verify --data /var/lib/kymo
            """,
        subcommands: [AuditList.self, AuditVerify.self, AuditEvents.self], defaultSubcommand: AuditList.self)
}

/// Which trail.
struct AuditOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("Only records after the one of this number.", valueName: "number"))
    var after = 0

    /// Reads the trail and hands on the records that are asked for; tells of what is wrong with it.
    func check(
        heads: [AuditHead] = [], _ body: (AuditRecord, [UInt8]) throws -> Void = { _, _ in }
    ) throws -> AuditReader.Report {
        // It is not encrypted: no key is needed to read it.
        var reader = AuditReader(dataDirectory: try store.directory(of: try store.lockedSettings()))
        let report: AuditReader.Report
        do {
            report = try reader.check(heads: heads) { record, line in
                if record.sequence > after { try body(record, line) }
            }
        } catch let error as AuditError {
            throw StandardError.exit(error.message, code: ExitStatus.noInput)
        }
        guard report.records > 0 || !report.faults.isEmpty || !report.torn.isEmpty else {
            throw StandardError.exit(
                "there is no audit trail in \(reader.path): name the data directory with --data DIR",
                code: ExitStatus.noInput)
        }
        for place in report.torn {
            StandardError.write("kymo: \(place): a part of a record, as a crash leaves it\n")
        }
        for fault in report.faults { StandardError.write("kymo: \(fault)\n") }
        return report
    }

    /// Exits with status 65 when the trail does not hold.
    static func end(_ report: AuditReader.Report) throws {
        if !report.faults.isEmpty { throw ExitCode(ExitStatus.dataError) }
    }
}

/// `kymo audit list`.
struct AuditList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the records, oldest first.",
        discussion: """
            Exits with 65 when the trail does not hold: see 'kymo audit verify'.

            Example: kymo audit list --after 100 --format ndjson --data /var/lib/kymo
            """)

    @OptionGroup var trail: AuditOptions

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, ndjson
    }

    @Option(help: ArgumentHelp("A table for people, or the records as they are.", valueName: "table|ndjson"))
    var format = Format.table

    func run() throws {
        var table = TextTable(["number", "time", "event", "by", "what"])
        let report = try trail.check { record, line in
            switch format {
            case .ndjson: try StandardOutput.write(line + [0x0A])
            case .table:
                table.add(["\(record.sequence)", record.time, record.event, record.agent, record.text])
            }
        }
        if format == .table { try StandardOutput.write(table.bytes) }
        try AuditOptions.end(report)
    }
}

/// `kymo audit verify`.
struct AuditVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check that no record was changed, removed or inserted.",
        discussion: """
            Prints the number and digest of the last record, if the trail holds. Note it elsewhere, or collect the \
            log, whose entries of the audit have it in the field 'audit': whoever can write the files could make a \
            trail anew, and cut off its end, but not so that a record that was noted with --head is still in it, or \
            right before its first one.

            Exits with 65 when the trail does not hold.

            Example: kymo audit verify --data /var/lib/kymo
            """)

    @OptionGroup var trail: AuditOptions

    @Option(
        help: ArgumentHelp("A record that must be there, as it was noted. Repeatable.", valueName: "number:digest"))
    var head: [String] = []

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    private struct Answer: Encodable {
        var files: Int
        var records: Int
        var first: Int
        var head: String
        var torn: [String]
        var faults: [String]
    }

    func validate() throws {
        if let wrong = head.first(where: { AuditHead($0) == nil }) {
            throw ValidationError("--head \(wrong): write it as 'kymo audit verify' has printed it: 12:DIGEST")
        }
    }

    func run() throws {
        let report = try trail.check(heads: head.compactMap { AuditHead($0) })
        switch format {
        case .json:
            try StandardOutput.write(
                try PrettyText.pretty(
                    Answer(
                        files: report.files, records: report.records, first: report.first, head: report.head.text,
                        torn: report.torn, faults: report.faults)))
        // Of a trail that does not hold nobody should note it.
        case .text where report.faults.isEmpty: try StandardOutput.write(Array("\(report.head.text)\n".utf8))
        case .text: break
        }
        try AuditOptions.end(report)
        let older = report.first > 1 ? "; those before \(report.first) are not here" : ""
        StandardError.write("kymo: \(CountText.of(report.records, "record")) of the audit trail hold\(older)\n")
    }
}

/// `kymo audit events`.
struct AuditEvents: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Write the records as FHIR R4 AuditEvents, one a line.",
        discussion: """
            For an audit record repository: with the codes of DICOM that IHE ATNA has. Exits with 65 when the trail \
            does not hold.

            Example: kymo audit events --after 100 --data /var/lib/kymo > audit-events.ndjson
            """)

    @OptionGroup var trail: AuditOptions

    func run() throws {
        let report = try trail.check { record, _ in try StandardOutput.write(data: AuditEvent(record).line) }
        try AuditOptions.end(report)
    }
}
