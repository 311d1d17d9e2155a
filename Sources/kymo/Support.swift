import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore

/// `kymo support`: what a helper needs to know.
struct Support: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "support",
        abstract: "Put version, system, configuration, metrics, log and sums of the ledger into one archive.",
        discussion: """
            The archive (.tar.gz) has no identifiers of devices and patients and no secrets: of the configuration, \
            values that name persons, devices or accounts are masked, and the ledger is summed by type. The log is \
            that of the unit kymo in systemd's journal, if this user may read it. Look at it before you send it.

            Example: kymo support --config /etc/kymograph/kymo.yaml --out support.tar.gz
            """)

    @OptionGroup var store: StoreOptions

    @Option(
        help: ArgumentHelp("File to write, which must not exist. Default: kymo-support.tar.gz.", valueName: "file"),
        completion: .file())
    var out = "kymo-support.tar.gz"

    @Option(
        help: ArgumentHelp("Lines of the journal, the latest ones.", valueName: "n"))
    var logLines = 2_000

    func run() throws {
        let settings = try store.settings()
        let directory = try store.directory(of: settings)
        var archive = SupportArchive(folder: "kymo-support", at: WallClock.now())
        archive.add("version.txt", "kymo \(KymographVersion.text)\n\n\(ProgramVersions().text)")
        archive.add("system.txt", SystemFacts.text(directory))
        archive.add("configuration.yaml", try configuration())
        for (number, file) in settings.configurationFiles.dropFirst().enumerated() {
            let bytes = try InputFile.read(file, "it is included in the configuration")
            archive.add("included-\(number + 1).yaml", MaskedConfiguration.text(bytes))
        }
        addStore(directory, settings.store.maxBytes, to: &archive)
        archive.add("log.txt", Journal.text(unit: "kymo", lines: logLines))
        guard let bytes = archive.bytes else {
            throw StandardError.exit("the archive is too large: name fewer --log-lines", code: ExitStatus.cannotCreate)
        }
        try write(bytes)
    }

    private func configuration() throws -> String {
        let variables = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("KYMO_") }.sorted()
        let head = variables.isEmpty ? "" : "# Set in the environment: \(variables.joined(separator: ", "))\n"
        guard let file = try ConfigurationFile.read(store.config) else {
            return head + "# No file was named with --config.\n"
        }
        return head + MaskedConfiguration.text(file.bytes)
    }

    /// Adds metrics and ledger, or why there are none: that is what help may be needed with.
    private func addStore(_ directory: String, _ limit: Int, to archive: inout SupportArchive) {
        do {
            let running = ControlClient.ask(ControlRequest(.status), directory)?.status
            let reader = try StoreReader(directory: directory)
            let status = try running ?? reader.status(limitBytes: limit)
            archive.add("metrics.txt", status.metrics)
            var report = try reader.ledger(ArchiveFilter(), isRunning: running != nil)
            report.note(running)
            archive.add("ledger.json", String(decoding: try PrettyText.pretty(LedgerSummary(report)), as: UTF8.self))
        } catch {
            let message = (error as? PipelineError)?.message ?? "\(error)"
            archive.add("store.txt", "\(message)\n")
            StandardError.write("kymo: \(message); the archive has no metrics or no ledger\n")
        }
    }

    /// Readable only by the owner.
    private func write(_ bytes: [UInt8]) throws {
        guard !FileManager.default.fileExists(atPath: out) else {
            throw StandardError.exit("\(out) exists: name another file with --out", code: ExitStatus.cannotCreate)
        }
        guard
            FileManager.default.createFile(
                atPath: out, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else {
            throw StandardError.exit(
                "cannot write \(out): name a file in a folder that is yours with --out", code: ExitStatus.cannotCreate)
        }
        StandardError.write("kymo: wrote \(out), \(bytes.count) bytes; look at it with tar xzf before you send it\n")
    }
}

/// What is known of the machine, without its name.
private enum SystemFacts {
    private static let files = [
        "/etc/os-release", "/proc/version", "/proc/meminfo", "/proc/loadavg", "/proc/self/limits",
        "/proc/sys/net/core/rmem_max", "/proc/sys/net/core/rmem_default", "/proc/net/snmp", "/proc/pressure/io",
    ]

    static func text(_ directory: String) -> String {
        let process = ProcessInfo.processInfo
        var lines = ["processors \(process.activeProcessorCount) of \(process.processorCount)"]
        let free = try? FileManager.default.attributesOfFileSystem(forPath: directory)[.systemFreeSize] as? Int
        lines.append("bytes free where the data directory is: \(free.map { "\($0)" } ?? "unknown")")
        for file in files {
            guard let bytes = FileManager.default.contents(atPath: file) else { continue }
            lines += ["", "== \(file)", String(decoding: bytes, as: UTF8.self)]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
