import KymographCore

/// Every key of the configuration, in the order of the reference. File, environment and flags all read through it.
enum SettingTable {
    private static let millisecond: Int64 = 1_000_000
    private static let most = Int(Int32.max)
    private static let gibibyte = 1 << 30

    /// Keys of the whole pipeline; `sources` and `sinks` are not among them, for they hold keys of their own.
    static let settings: [Setting<PipelineSettings>] =
        windows + patients + output + systems + server + store + audit + admin + limits + machine + log

    private static let windows: [Setting<PipelineSettings>] = [
        .duration("window", \.window, atLeast: millisecond, "Period of templates that summarise and name none"),
        .duration(
            "lateness", \.windows.lateness, "How far a series' event time passes a window's end before it closes"),
        .duration(
            "idle", \.windows.idle,
            "Silence after which a series' windows close, at least a thousandth of their period; `0s` means never"),
        .duration(
            "lateHold", \.windows.lateHold,
            "How long a window that a late reading opens waits for more of them; `0s` means not at all"),
        .duration("maxFuture", \.maxFuture, "How far a reading's time may lie after its receipt"),
        .choice(
            "identity", \.requiresPatient, [("device", false), ("strict", true)],
            "Readings without patient: `device` gives each device a Patient of its own, `strict` rejects them"),
        .names(
            "mappings", "mapping's name or folder", \.mappings,
            "Mappings of sources that name none; in the environment separated by commas"),
        .text(
            "deviceMapping", "file", \.namedFiles.device,
            "A mapping by its two files, of any names: the one with device templates; goes with `fhirMapping`"),
        .text("fhirMapping", "file", \.namedFiles.fhir, "The file with its FHIR templates; goes with `deviceMapping`"),
        .single(
            "framing", "framing", "How the bytes of sources become payloads that do not say it themselves",
            read: { (text, settings) throws(SettingProblem) in settings.framing = try settings.kinds.framing(text) },
            shown: { FramingText.text($0.framing) }),
        .choice(
            "compatibility", \.compatibility, Compatibility.allCases.map { ($0.rawValue, $0) },
            "Whose rules mappings follow that do not say it themselves: ours, or every quirk of iomt-fhir"),
        .choice(
            "watch", \.watchesMappings, [("true", true), ("false", false)],
            "Whether mappings in folders are loaded again when their files change"),
        .choice(
            "watchConfig", \.watchesConfiguration, [("true", true), ("false", false)],
            "Whether this file, and those that it includes, are read again when they change, as on SIGHUP"),
    ]

    private static let patients: [Setting<PipelineSettings>] = [
        .single(
            "patients", "file", "Whose each device is at which times: a patient map ([patients](patients.md))",
            read: { (text, settings) throws(SettingProblem) in
                guard !text.isEmpty else { throw .empty("file") }
                settings.patients.book = try PatientsFile.open(text)
            },
            shown: { $0.patients.book?.path ?? "" }),
        .choice(
            "patientConflict", \.patients.conflict, PatientConflict.allCases.map { ($0.rawValue, $0) },
            "Readings whose message names another patient or encounter than the map: rejected, or of whom the map or "
                + "the message says"),
        .choice(
            "unmapped", \.patients.unmapped, UnmappedReadings.allCases.map { ($0.rawValue, $0) },
            "Readings of devices that the map assigns to no patient at their time: taken if their message names a "
                + "patient (`named`), rejected, or taken in any case"),
        .single(
            "rules", "file", "Which readings are dropped or rejected: a list of rules ([rules](rules.md))",
            read: { (text, settings) throws(SettingProblem) in
                guard !text.isEmpty else { throw .empty("file") }
                settings.rules = try RulesFile.open(text)
            },
            shown: { $0.rules?.path ?? "" }),
    ]

    private static let output: [Setting<PipelineSettings>] = [
        .single(
            "output.to", "`stdout`, `none`, directory, `postgres://…` or `kafka://…`",
            "Where bundles go besides a FHIR server",
            read: { (text, settings) throws(SettingProblem) in
                settings.destination.address = try settings.sinkKinds.destination(text)
            },
            shown: { $0.destination.address?.text ?? SinkKinds.nowhere }),
        .choice(
            "output.format", \.output.format, [("bundle", .bundle), ("ndjson", .ndjson)],
            "One bundle or one Observation a line"),
        .choice(
            "output.fhirVersion", \.output.version, FHIRVersion.allCases.map { ($0.rawValue, $0) },
            "Version of FHIR; mappings that name one must name the same"),
        .choice(
            "output.timePrecision", \.output.timePrecision, TimePrecision.allCases.map { ($0.rawValue, $0) },
            "Most digits of a second's fraction in times: `source` up to nine, `milli` three, `micro` six; what is "
                + "beyond is cut off, but not in identifiers"),
        .choice(
            "output.profile", \.output.profile, OutputProfile.allCases.map { ($0.rawValue, $0) },
            "Implementation guide that Observations follow: none, or `phd`, HL7 Personal Health Devices"),
        .choice(
            "output.bundle", \.output.bundleType,
            [("transaction", .transaction), ("batch", .batch), ("collection", .collection)],
            "Type of bundles: all or nothing, entry by entry, or a container that no server processes"),
        .choice(
            "output.write", \.output.write,
            [
                ("put", .putByID), ("conditional-create", .conditionalCreate),
                ("conditional-update", .conditionalUpdate),
            ],
            "How a server stores an Observation: `put` and `conditional-update` replace the earlier one, by id or by "
                + "identifier; `conditional-create` keeps it"),
        .size(
            "output.attachOver", \.output.attachOver, 0...gibibyte,
            "Samples of one series, in bytes, beyond which they go to a DocumentReference that the Observation names; "
                + "`0` means never"),
        .count("output.maxEntries", \.bundleEntries, 1...100_000, "Most entries of a bundle"),
        .size(
            "output.maxBytes", \.bundleBytes, 1...gibibyte, "Most bytes of a bundle of more than one Observation"),
        .duration(
            "output.maxAge", \.bundleAge,
            "Longest time that an Observation waits for its bundle to fill; with `0s` it leaves at once"),
        .choice(
            "output.compression", \.rotation.compression, [("none", .none), ("zstd", .zstd())],
            "Compression of files in a directory"),
        .text(
            "output.dictionary", "file", \.dictionary,
            "zstd dictionary that `kymo dictionary` made; whoever reads the files needs it, too"),
        .size(
            "output.rotateBytes", \.rotation.maxBytes, 1...most * gibibyte, "Bytes after which the next file begins"),
        .duration(
            "output.rotateAge", \.rotation.maxAge, atLeast: millisecond, "Age after which a file is finished"),
        .duration(
            "output.rotateIdle", \.rotation.maxIdle,
            "How long nothing is written before a file is finished; `0s` means for ever"),
        .choice(
            "output.groupReadable", \.rotation.isGroupReadable, [("true", true), ("false", false)],
            "Whether the group of this user may read the files (modes 0640 and 0750), and not this user alone"),
    ]

    private static let systems: [Setting<PipelineSettings>] = [
        .uri("output.systems.patient", \.output.patientSystem, "Identifier system of patients"),
        .uri("output.systems.device", \.output.deviceSystem, "Identifier system of devices"),
        .uri(
            "output.systems.deviceSubject", \.output.deviceSubjectSystem,
            "Identifier system of the Patient that stands for the wearer of a device without patient"),
        .uri("output.systems.encounter", \.output.encounterSystem, "Identifier system of encounters"),
        .text(
            "output.gateway", "text", \.output.gatewayText,
            "Identifier of this gateway (EUI-64, as `FE-ED-AB-EE-DE-AD-77-C3`) for `output.profile: phd`"),
        .uri("output.systems.gateway", \.output.gatewaySystem, "Identifier system of the gateway"),
        .uri("output.systems.observation", \.output.observationSystem, "Identifier system of Observations"),
        .uri(
            "output.systems.resource", \.output.resourceSystem,
            "Identifier system of other resources that readings become"),
        .text("deadLetter", "file", \.deadLetter, "File for rejected readings, as NDJSON"),
        .text(
            "receipts", "directory", \.receipts,
            "Directory for files of mode 0600, as NDJSON, that say what FHIR servers and event hubs have answered for "
                + "each entry"),
        .text(
            "receiptSocket", "path", \.receiptSocket,
            "Unix socket (mode 0600) from which another program reads the same lines: they wait for it while it is "
                + "slow or away"),
    ]

    private static let limits: [Setting<PipelineSettings>] = [
        .count(
            "limits.devices", \.windows.limits.maxDevices, 1...most,
            "Devices that a lane or a shard may meet from its start on"),
        .count(
            "limits.series", \.windows.limits.maxSeries, 1...most,
            "Series that a lane or a shard may meet from its start on: device, type, patient, encounter and "
                + "correlation id"),
        .count("limits.windows", \.windows.limits.maxOpenWindows, 1...most, "Open windows of a shard"),
        .count("limits.readingsPerWindow", \.windows.limits.maxReadingsPerWindow, 1...most, "Readings of a window"),
        .count(
            "limits.preliminaryEvery", \.windows.limits.preliminaryEvery, 0...most,
            "An open window is written as preliminary at each multiple of this many readings; 0 means never, as "
                + "does `output.write: conditional-create`"),
        .size(
            "limits.archiveBytes", \.windows.limits.archiveBytes, 1...1_024 * gibibyte,
            "Closed windows that a shard keeps in memory for late readings"),
        .size("limits.lineBytes", \.lineBytes, 1...gibibyte, "Longest line of a stream, or payload of a frame"),
        .count("limits.depth", \.scan.depth, 1...1_024, "Deepest nesting of a document"),
        .count("limits.values", \.scan.values, 1...most, "Most values of a document"),
    ]

    private static let server: [Setting<PipelineSettings>] = ServerSettings.keys.map {
        $0.lifted("server.\($0.key)", \.server)
    }

    private static let store: [Setting<PipelineSettings>] = [
        .text("data", "directory", \.store.directory, "Directory for all that outlives the process"),
        .choice(
            "ephemeral", \.store.keeping, [("auto", .auto), ("true", .nothing), ("false", .everything)],
            "Whether nothing is kept on disk; `auto`: when only stdin is read, without `data` and without a FHIR server"
        ),
        .text(
            "encryption.keyFile", "file", \.store.encryption.keyFile,
            "The key that encrypts what is on the disk: a file of mode 0600 ([encryption](encryption.md))"),
        .text(
            "encryption.credential", "name", \.store.encryption.credential,
            "The same as a credential of systemd, in place of `encryption.keyFile`"),
        .size(
            "store.maxBytes", \.store.maxBytes, 1 << 20...1_024 * gibibyte,
            "Disk space of the store: old windows go first, then senders wait"),
        .duration(
            "store.archiveAge", \.store.archiveAge,
            "Age at which closed windows are dropped; late readings for them are rejected; `0s` means never"),
        .duration(
            "store.keepRaw", \.store.keepRaw,
            "Age at which payloads are dropped that gave readings, for `kymo query --raw`; `0s`: none is kept "
                + "([the archive](operations.md#payloads-as-they-came))"),
        .duration("store.commitInterval", \.store.commitInterval, "Least time between two commits"),
    ]

    private static let audit: [Setting<PipelineSettings>] = ServerSettings.auditKeys.map {
        $0.lifted("audit.\($0.key)", \.auditServer)
    }

    private static let admin: [Setting<PipelineSettings>] = [
        .single(
            "http.admin", "numeric address and port, or `none`",
            "Where metrics and health are served over HTTP; `none`: nowhere",
            read: { (text, settings) throws(SettingProblem) in
                settings.admin.address = text == AdminSettings.off ? nil : try NetworkAddress.setting(text)
            },
            shown: { $0.admin.address?.text ?? AdminSettings.off }),
        .choice(
            "http.insecure", \.admin.isInsecure, [("true", true), ("false", false)],
            "Whether other machines may ask for them without encryption"),
        .text(
            "http.certificateFile", "file", \.admin.tls.certificateFile,
            "TLS of `http.admin`: its certificate and those between it and an authority, PEM"),
        .text(
            "http.certificateKeyFile", "file", \.admin.tls.keyFile,
            "Its key, PEM, which others cannot read; left out, it is in `http.certificateFile`"),
        .text(
            "http.clientCAFile", "file", \.admin.tls.clientCAFile,
            "Authorities, PEM: whoever asks `http.admin` must show a certificate of one of them"),
        .text(
            "http.clientCRLFile", "file", \.admin.tls.clientCRLFile,
            "Lists of the certificates that these have revoked, PEM"),
        .choice(
            "console.enabled", \.console.isEnabled, [("true", true), ("false", false)],
            "Whether `http.admin` serves the console, too: on an address of this machine alone, or by TLS"),
        .choice(
            "console.edit", \.console.edits, [("true", true), ("false", false)],
            "Whether `kymo console login --role edit` gives codes, for saving mappings in the console"),
        .single(
            "search.peers", "file",
            "Who may search the archive at `/fhir` of `http.admin`: a list of peers with tokens ([search](search.md)); "
                + "left out, it is not served",
            read: { (text, settings) throws(SettingProblem) in
                guard !text.isEmpty else { throw .empty("file") }
                settings.search.peers = try PeersFile.open(text)
            },
            shown: { $0.search.peers?.path ?? "" }),
        .single(
            "search.url", "URL",
            "What links of the search begin with, behind a proxy; left out, the address that was asked",
            read: { (text, settings) throws(SettingProblem) in settings.search.url = try SearchSettings.address(text) },
            shown: { $0.search.url ?? "" }),
    ]

    private static let machine: [Setting<PipelineSettings>] = [
        .countOrAuto("lanes", \.lanes, 1...256, "Threads that receive and map; `auto`: one for every two processors"),
        .countOrAuto(
            "shards", \.shards, 1...256,
            "Threads that keep windows and write bundles; `auto`: one for every four processors"),
        .single(
            "processors", "`0-3,8` or other numbers",
            "Processors that lanes, and then shards, are bound to in turn; left out, the system decides",
            read: { (text, settings) throws(SettingProblem) in settings.processors = try ProcessorListText.parse(text)
            },
            shown: { ProcessorListText.text($0.processors) }),
        .choice(
            "wait", \.wait, WaitStrategy.allCases.map { ($0.rawValue, $0) },
            "How lanes and shards wait for each other; all but `sleep` keep a processor busy for each"),
        .choice(
            "fastPath", \.usesFastPath, [("true", true), ("false", false)],
            "Whether payloads like others before are read without a scan; output is the same, and `false` is slower"),
        .powerOfTwo("ringSlots", \.ringSlots, 512...1 << 24, "Slots of the ring between a lane and a shard"),
        .duration("drain", \.drainLimit, "Longest time for delivering what is there after the first signal to stop"),
        .choice(
            "coreDumps", \.allowsCoreDumps, [("true", true), ("false", false)],
            "Whether a crash may leave a core file, which has what the memory held, and debuggers may attach"),
        .choice(
            "sandbox", \.isConfined, [("true", true), ("false", false)],
            "Whether the kernel lets the process change files only where this configuration says, and run no program"),
    ]

    private static let log: [Setting<PipelineSettings>] = [
        .choice(
            "log.format", \.log.format, LogFormat.allCases.map { ($0.rawValue, $0) },
            "Form of what `kymo run` writes to standard error; `auto`: `journald` in the journal, else `text`"),
        .choice(
            "log.level", \.log.level, LogLevel.allCases.map { ($0.rawValue, $0) },
            "What matters less than this is not written to standard error"),
        .duration(
            "log.outboxAge", \.log.outboxAge,
            "Age of the oldest bundle in the outbox that is written to standard error; `0s` means never"),
        .duration(
            "log.silentAfter", \.log.silentAfter,
            "Silence of a source, since the start too, that is written to standard error; `0s` means never"),
    ]
}

extension ObservationOptions {
    /// ``gateway``, nil for none.
    fileprivate var gatewayText: String? {
        get { gateway.isEmpty ? nil : gateway }
        set { gateway = newValue ?? "" }
    }
}
