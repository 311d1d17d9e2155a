import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore
import KymographTemplates

/// The flags of `run`, and how they are joined with environment and file.
struct SettingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Configuration file (YAML or JSON).", valueName: "file"), completion: .file())
    var config: String?

    @OptionGroup var sources: SourceOptions

    @Option(
        help: ArgumentHelp(
            "How bytes become payloads: \(Self.framings). Default: lines (NDJSON).",
            valueName: "framing"))
    var framing: String?

    @Option(
        help: ArgumentHelp(
            "Mapping of the payloads: a catalogue name, or a folder (with a / in it). Repeatable. Default: reading.",
            valueName: "name|dir"))
    var mapping: [String] = []

    @Option(
        help: ArgumentHelp(
            "Device of readings that name none; of the sources of the command line.", valueName: "id"))
    var defaultDevice: String?

    @Option(
        help: ArgumentHelp(
            "Patient of readings that name none; of the sources of the command line.", valueName: "id"))
    var defaultPatient: String?

    @Option(
        help: ArgumentHelp(
            "Time zone of times without an offset, such as Europe/Berlin; of the sources of the command line. "
                + "Default: UTC.", valueName: "zone"))
    var timezone: String?

    @Flag(help: "Let other machines send by TCP without encryption; of the sources of the command line.")
    var insecure = false

    @Flag(
        inversion: .prefixedNo,
        help: "Whether mappings in folders are loaded again when their files change. Default: --watch.")
    var watch: Bool?

    @Option(help: CompatibilityOption.help)
    var compatibility: String?

    @Option(
        help: ArgumentHelp("Window of templates that name no period: 30s, 5m, 1h. Default: 5m.", valueName: "length"))
    var window: String?

    @Option(help: ArgumentHelp("How late a device's readings may come. Default: 30s.", valueName: "length"))
    var lateness: String?

    @Option(
        help: ArgumentHelp("Close windows of devices quiet for this long; 0s never. Default: 10s.", valueName: "length")
    )
    var idle: String?

    @Option(
        help: ArgumentHelp(
            "FHIR server that gets all bundles; needs --server-identity. Authorization: --config.", valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Where the server's Patients and Devices come from: create, lookup, lookupWithEncounter.",
            valueName: "mode"))
    var serverIdentity: String?

    @Option(help: ArgumentHelp("stdout, or a directory for rotating files. Default: stdout.", valueName: "stdout|dir"))
    var out: String?

    @Option(
        help: ArgumentHelp(
            "Transaction bundles, or one Observation a line. Default: bundle.", valueName: "bundle|ndjson"))
    var format: String?

    @Option(help: FHIRVersionOption.help)
    var fhirVersion: String?

    @Option(
        help: ArgumentHelp(
            "Keep readings, windows and bundles here. Default: $STATE_DIRECTORY, else the user's state folder.",
            valueName: "dir"),
        completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Threads that receive and map. Default: auto, one for every two processors.", valueName: "n|auto"))
    var lanes: String?

    @Option(
        help: ArgumentHelp(
            "Threads that keep windows. Default: auto, one for every four processors.", valueName: "n|auto"))
    var shards: String?

    @Option(
        help: ArgumentHelp(
            "Processors that lanes, and then shards, are bound to in turn: 0-3,8. Default: the system decides.",
            valueName: "list"))
    var processors: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether payloads like others before are read without a scan; output is the same. Default: --fast-path.")
    var fastPath: Bool?

    @Flag(help: "Keep nothing on disk: what is in memory is lost when the process dies.")
    var ephemeral = false

    @Option(help: ArgumentHelp("Append rejected readings with their bytes to this file.", valueName: "file"))
    var deadLetter: String?

    /// The framings, for people.
    private static var framings: String { IngestKinds.builtIn.framings.map(\.name).joined(separator: ", ") }

    /// The settings, their mappings, and a watch on the files that these are from; prints what is wrong and exits with
    /// status 78 when they cannot be used.
    func load() throws -> (PipelineSettings, MappingSet, MappingWatch?) {
        var watch: MappingWatch?
        let (settings, set, diagnostics) = try check { watch = MappingWatch($0, configuration: config) }
        Diagnostics.write(diagnostics)
        guard let settings, let set else { throw ExitCode(ExitStatus.config) }
        return (settings, set, watch)
    }

    /// As ``load()``, without printing: what is nil has errors among the diagnostics. `beforeReading` is called before
    /// the mappings are read.
    func check(
        beforeReading: (PipelineSettings) -> Void = { _ in }
    ) throws -> (PipelineSettings?, MappingSet?, [Diagnostic]) {
        var (settings, diagnostics) = ConfigurationLoader.load(try input())
        settings.sources = settings.listeningSources
        settings.settleStore(environment: ProcessInfo.processInfo.environment)
        beforeReading(settings)
        let mappings = ConfigurationLoader.checkMappings(settings)
        let failed = diagnostics.contains { $0.severity == .error }
        diagnostics += mappings.diagnostics
        return failed ? (nil, nil, diagnostics) : (settings, mappings.set, diagnostics)
    }

    /// What flags, environment and file say.
    func input() throws -> ConfigurationInput {
        var flags: [(key: String, flag: String, value: String)] = mapping.map { ("mappings", "--mapping", $0) }
        flags += sources.flags
        if insecure { flags.append(("insecure", "--insecure", "true")) }
        if ephemeral { flags.append(("ephemeral", "--ephemeral", "true")) }
        let single: [(String, String, String?)] = [
            ("framing", "--framing", framing), ("window", "--window", window), ("lateness", "--lateness", lateness),
            ("idle", "--idle", idle), ("defaultDevice", "--default-device", defaultDevice),
            ("defaultPatient", "--default-patient", defaultPatient), ("timezone", "--timezone", timezone),
            ("output.to", "--out", out), ("output.format", "--format", format),
            ("output.fhirVersion", "--fhir-version", fhirVersion),
            ("deadLetter", "--dead-letter", deadLetter), ("data", "--data", data),
            ("server.url", "--server", server), ("server.identity", "--server-identity", serverIdentity),
            ("watch", watch == false ? "--no-watch" : "--watch", watch.map(String.init)),
            ("fastPath", fastPath == false ? "--no-fast-path" : "--fast-path", fastPath.map(String.init)),
            ("compatibility", "--compatibility", compatibility), ("lanes", "--lanes", lanes),
            ("shards", "--shards", shards), ("processors", "--processors", processors),
        ]
        for (key, flag, value) in single {
            if let value { flags.append((key, flag, value)) }
        }
        return ConfigurationInput(
            flags: flags, environment: ProcessInfo.processInfo.environment, file: try configurationFile())
    }

    private func configurationFile() throws -> (name: String, bytes: [UInt8])? {
        guard let config else { return nil }
        guard let data = FileManager.default.contents(atPath: config) else {
            throw StandardError.exit("\(config) cannot be read; name a YAML file", code: ExitStatus.noInput)
        }
        return (config, [UInt8](data))
    }
}
