import ArgumentParser
import Kymograph

/// Options that stand under one title in the help of `run`.
protocol SettingGroup: ParsableArguments {
    /// What was given, for ``ConfigurationInput/flags``.
    var flags: [SettingFlag] { get }
}

/// A setting's key, the flag that gives it, and its value.
typealias SettingFlag = (key: String, flag: String, value: String)

extension SettingGroup {
    /// Those of `options` that have a value.
    static func given(_ options: [(key: String, flag: String, value: String?)]) -> [SettingFlag] {
        options.compactMap { option in option.value.map { (option.key, option.flag, $0) } }
    }
}

/// Where readings come from, and what is said of all sources of the command line.
struct SourceSettings: SettingGroup {
    @OptionGroup var kinds: SourceOptions

    @Option(
        name: [.customLong("framing"), .customLong("payload")],
        help: ArgumentHelp(
            "How bytes become payloads: \(Self.framings). Default: lines (NDJSON).",
            valueName: "framing"))
    var framing: String?

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

    @Flag(help: "Let other machines send by TCP, HTTP and MLLP without encryption; of the sources of the command line.")
    var insecure = false

    /// The framings, for people.
    private static var framings: String { IngestKinds.builtIn.framings.map(\.name).joined(separator: ", ") }

    var flags: [SettingFlag] {
        kinds.flags
            + Self.given([
                ("insecure", "--insecure", insecure ? "true" : nil), ("framing", "--framing", framing),
                ("defaultDevice", "--default-device", defaultDevice),
                ("defaultPatient", "--default-patient", defaultPatient), ("timezone", "--timezone", timezone),
            ])
    }
}

/// What payloads mean.
struct MappingSettings: SettingGroup {
    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            "Mapping of the payloads: a catalogue name, or a folder (with a / in it). Repeatable. Default: reading.",
            valueName: "name|dir"))
    var names: [String] = []

    @OptionGroup var files: MappingFileOptions

    @Flag(
        inversion: .prefixedNo,
        help: "Whether mappings in folders are loaded again when their files change. Default: --watch.")
    var watch: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the file of --config is read again when it changes, as on SIGHUP. Default: --no-watch-config.")
    var watchConfig: Bool?

    @Option(help: CompatibilityOption.help)
    var compatibility: String?

    var flags: [SettingFlag] {
        names.map { ("mappings", "--mapping", $0) } + files.flags
            + Self.given([
                ("watch", watch == false ? "--no-watch" : "--watch", watch.map(String.init)),
                (
                    "watchConfig", watchConfig == false ? "--no-watch-config" : "--watch-config",
                    watchConfig.map(String.init)
                ),
                ("compatibility", "--compatibility", compatibility),
            ])
    }
}

/// How readings become windows.
struct WindowSettings: SettingGroup {
    @Option(
        help: ArgumentHelp("Window of templates that name no period: 30s, 5m, 1h. Default: 5m.", valueName: "length"))
    var window: String?

    @Option(help: ArgumentHelp("How late a device's readings may come. Default: 30s.", valueName: "length"))
    var lateness: String?

    @Option(
        help: ArgumentHelp("Close windows of devices quiet for this long; 0s never. Default: 10s.", valueName: "length")
    )
    var idle: String?

    var flags: [SettingFlag] {
        Self.given([("window", "--window", window), ("lateness", "--lateness", lateness), ("idle", "--idle", idle)])
    }
}

/// Where bundles and rejected readings go.
struct OutputSettings: SettingGroup {
    @Option(
        help: ArgumentHelp(
            "stdout, a directory for rotating files, a database (postgres://…), or a topic "
                + "(kafka://…). Default: stdout.",
            valueName: "stdout|dir|url"))
    var out: String?

    @Option(
        help: ArgumentHelp(
            "Transaction bundles, or one Observation a line. Default: bundle.", valueName: "bundle|ndjson"))
    var format: String?

    @Option(help: FHIRVersionOption.help)
    var fhirVersion: String?

    @Option(
        help: ArgumentHelp(
            "FHIR server that gets all bundles; needs --server-identity. Authorization: --config.", valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Where the server's Patients and Devices come from: create, lookup, lookupWithEncounter.",
            valueName: "mode"))
    var serverIdentity: String?

    @Option(help: ArgumentHelp("Append rejected readings with their bytes to this file.", valueName: "file"))
    var deadLetter: String?

    var flags: [SettingFlag] {
        Self.given([
            ("output.to", "--out", out), ("output.format", "--format", format),
            ("output.fhirVersion", "--fhir-version", fhirVersion), ("deadLetter", "--dead-letter", deadLetter),
            ("server.url", "--server", server), ("server.identity", "--server-identity", serverIdentity),
        ])
    }
}

/// What outlives the process.
struct DurabilitySettings: SettingGroup {
    @Option(
        help: ArgumentHelp(
            "Keep readings, windows and bundles here. Default: $STATE_DIRECTORY, else the user's state folder.",
            valueName: "dir"),
        completion: .directory)
    var data: String?

    @Option(help: KeyFileOption.help, completion: .file())
    var keyFile: String?

    @Flag(help: "Keep nothing on disk: what is in memory is lost when the process dies.")
    var ephemeral = false

    var flags: [SettingFlag] {
        Self.given([
            ("ephemeral", "--ephemeral", ephemeral ? "true" : nil), ("data", "--data", data),
            (KeyFileOption.key, KeyFileOption.flag, keyFile),
        ])
    }
}

/// Threads and processors.
struct TuningSettings: SettingGroup {
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

    var flags: [SettingFlag] {
        Self.given([
            ("lanes", "--lanes", lanes), ("shards", "--shards", shards), ("processors", "--processors", processors),
            ("fastPath", fastPath == false ? "--no-fast-path" : "--fast-path", fastPath.map(String.init)),
        ])
    }
}

/// What is told of the run while it lasts: over HTTP, and on standard error.
struct ObservingSettings: SettingGroup {
    @Option(
        help: ArgumentHelp(
            "Serve /metrics, /livez and /readyz over HTTP here, such as 127.0.0.1:5790. Default: none.",
            valueName: "host:port"))
    var admin: String?

    @Flag(help: "Serve the console there, too, on an address of this machine; 'kymo console login' gives codes.")
    var console = false

    @Option(
        help: ArgumentHelp(
            "What 'run' writes to standard error: auto (journald where that is the journal, else text).",
            valueName: "text|json|journald"))
    var logFormat: String?

    @Option(
        help: ArgumentHelp(
            "Leave out of it what matters less. Default: info.", valueName: "error|warning|info|debug"))
    var logLevel: String?

    var flags: [SettingFlag] {
        Self.given([
            ("http.admin", "--admin", admin), ("console.enabled", "--console", console ? "true" : nil),
            ("log.format", "--log-format", logFormat),
            ("log.level", "--log-level", logLevel),
        ])
    }
}
