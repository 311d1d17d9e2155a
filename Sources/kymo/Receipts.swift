import ArgumentParser
import Kymograph
import KymographCore

/// `kymo receipts`: what became of delivered entries.
struct Receipts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipts",
        abstract: "Show what sinks have answered: the files of receipts.",
        discussion: """
            Reads the files in the directory that the setting 'receipts' names, also while they are written: of each \
            entry its outcome (created, updated, amended, unchanged, kept, deleted, sent, refused), whose it is, its \
            window, and what the sink answered. A receipt that is there twice after a crash is shown once.

            Receipts hold identifiers of devices and patients.

            Example: kymo receipts ./receipts --since 2026-03-01T08:00:00Z --format json
            """)

    @Argument(help: "The directory of the files.", completion: .directory)
    var directory: String

    @Option(help: ArgumentHelp("Only receipts of this sink, by its whole name.", valueName: "name"))
    var sink: String?

    @Option(help: ArgumentHelp("Only receipts of this time and later.", valueName: "time"))
    var since: TimeArgument?

    @Option(help: ArgumentHelp("A table for people, or the lines as they are: NDJSON.", valueName: "table|json"))
    var format = TableFormat.table

    func run() throws {
        guard ReceiptReader.isDirectory(directory) else {
            throw StandardError.exit(
                "\(directory) is no directory: name the one that the setting 'receipts' names",
                code: ExitStatus.noInput)
        }
        var table = TextTable(["at", "outcome", "status", "sink", "type", "device", "start", "readings", "resource"])
        let unread: Int
        do {
            unread = try ReceiptReader.forEach(in: directory) { receipt, line in
                guard isWanted(receipt) else { return }
                guard format == .table else { return try StandardOutput.write(line + [0x0A]) }
                if receipt.outcome != "finished" { table.add(Receipts.row(receipt)) }
            }
        } catch let fault as ReceiptReader.Fault {
            throw StandardError.exit(fault.message, code: ExitStatus.noInput)
        }
        if format == .table { try StandardOutput.write(table.bytes) }
        guard unread > 0 else { return }
        StandardError.write("kymo: \(CountText.of(unread, "line")) of \(directory) cannot be read\n")
        throw ExitCode(ExitStatus.dataError)
    }

    private func isWanted(_ receipt: ReceiptLine) -> Bool {
        if let sink, !receipt.sink.utf8.elementsEqual(sink.utf8) { return false }
        guard let since, let at = receipt.time else { return true }
        return at >= since.instant
    }

    private static func row(_ receipt: ReceiptLine) -> [String] {
        let status: String = receipt.status.map { String($0) } ?? receipt.reason ?? ""
        let readings: String = receipt.readings.map { String($0) } ?? ""
        return [
            receipt.at, receipt.outcome, status, receipt.sink, receipt.type ?? "", receipt.device?.text ?? "",
            receipt.start ?? "", readings, receipt.resource ?? "",
        ]
    }
}
