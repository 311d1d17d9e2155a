package import KymographCore

/// Everything that `kymo run` can be told. Durations are in nanoseconds, sizes in bytes.
package struct PipelineSettings: Sendable {
    /// One source and what it contributes to its readings.
    package struct Source: Sendable {
        /// Where readings come from, and the limits of the socket.
        package var configuration: SourceConfiguration
        /// Mappings by catalogue name or folder; those of ``PipelineSettings`` when it names none in any way.
        package var mappings: [String] = []
        /// A mapping by its two files.
        package var namedFiles = NamedMappingFiles()
        /// Device of readings that name none.
        package var defaultDevice: String?
        /// Patient of readings that name none.
        package var defaultPatient: String?
        /// Patterns of the types that it takes; empty for all.
        package var types: [String] = []
        /// Tags that its readings get.
        package var tags: [String] = []
        /// Readings of this time and later are not taken; nil for no end.
        package var until: StopTime?
        /// The wall clock by which times without an offset are read; nil for UTC.
        package var timezone: LocalTimeZone?
        /// How its bytes become payloads; nil for ``PipelineSettings/framing``. Sources of streams only.
        package var statedFraming: StreamFraming?
        /// The name in messages, dead letters and the ledger; nil for what ``configuration`` is called.
        package var statedName: String?
        /// The number of the source in the ledger (``ReadingSource``), once there is one.
        var ledgerNumber = 0
        /// Whether a reload has removed it: its number stays its own.
        var isRemoved = false
        /// When that was, once it is done.
        var removedAt: Instant?
        /// Where the source's values were written, by key (`udp`, `mappings[0]`); empty for a source made in code.
        package var origins: [String: SettingOrigin] = [:]

        /// Makes a source with the defaults.
        package init(_ address: some SourceAddress) {
            configuration = SourceConfiguration(address)
        }

        /// What is taken of it.
        var intake: IntakeLimits.Source { IntakeLimits.Source(types: types, until: until?.instant) }

        /// The name in messages, dead letters and the ledger.
        package var name: String { statedName ?? configuration.address.name }
    }

    /// The kinds of sources and framings that the configuration may name.
    package var kinds = IngestKinds.builtIn
    /// The kinds of sinks that the configuration may name.
    package var sinkKinds = SinkKinds.builtIn
    /// Sources; empty for the default ones.
    package var sources: [Source] = []
    /// The sources that have a number, of earlier runs too; none before a pipeline has looked.
    var knownSources: [(name: String, number: Int)] = []
    /// Mappings of sources that name none.
    package var mappings: [String] = [PipelineSettings.usualMapping]
    /// A mapping by its two files, for the same sources.
    package var namedFiles = NamedMappingFiles()
    /// Whether mappings in folders are loaded again when their files change.
    package var watchesMappings = true
    /// Whether the configuration is read again when its files change.
    package var watchesConfiguration = false
    /// Period of templates that name none and summarise.
    package var window: Int64 = 300_000_000_000
    /// How windows close, and the limits of what they hold.
    package var windows = WindowSettings(lateHold: 1_000_000_000)
    /// How far a reading's time may lie after its receipt.
    package var maxFuture: Int64 = 300_000_000_000
    /// Whose rules mappings follow that do not say it themselves.
    package var compatibility = Compatibility.none
    /// Whether readings without patient are rejected (`identity: strict`).
    package var requiresPatient = false
    /// Whose devices are.
    package var patients = PatientSettings()
    /// What is taken; nil for all.
    package var rules: RuleBook?
    /// What a program decides behind the rules; nil for nothing.
    package var interceptor: (any ReadingInterceptor)?
    /// The same of resources.
    package var entryInterceptor: (any EntryInterceptor)?
    /// Is shown each block of entries before sinks get it; nil for nothing.
    package var batchWatcher: (@Sendable (ByteView) -> Void)?
    /// Limits of one document.
    package var scan = ScanLimits()
    /// Whether payloads like others before are read without a scan.
    package var usesFastPath = true
    /// How the bytes of streams and serial lines become payloads that do not say it themselves.
    package var framing = StreamFraming.lines
    /// Longest line of a stream, or longest payload of a frame.
    package var lineBytes = 1 << 20
    /// Names of sources of the configuration in whose place others are read, which flags name.
    var replacedSources: [String] = []
    /// Whether dead letters are mapped again, and nothing else: the sources are those of letters, and frames that never
    /// came have been noticed once.
    var isReplay = false
    /// Payloads that come a second time.
    let returning = ReturningLetters()
    /// Threads that receive and map; 0 for as many as suit the machine.
    package var lanes = 0
    /// Threads that keep windows and write bundles; 0 for as many as suit the machine.
    package var shards = 0
    /// Processors that lanes, and then shards, are bound to in turn; empty to leave it to the system.
    package var processors: [Int] = []
    /// How lanes and shards wait for each other.
    package var wait = WaitStrategy.sleep
    /// Slots of each ring, a power of two of at least 512.
    package var ringSlots = 8_192
    /// Where output goes besides ``server``.
    package var destination = Destination.standardOutput
    /// How Observations and bundles are written.
    package var output = ObservationOptions.withHashes
    /// Most entries of a bundle.
    package var bundleEntries = 100
    /// Most bytes of a bundle that has more than one Observation.
    package var bundleBytes = 1 << 20
    /// Longest time that an Observation waits for its bundle to fill.
    package var bundleAge: Int64 = 200_000_000
    /// When files in a directory are completed, and how they are compressed.
    package var rotation = RotationOptions()
    /// File of the zstd dictionary for compressed files, or nil.
    package var dictionary: String?
    /// File for dead letters, or nil.
    package var deadLetter: String?
    /// File that is made for rejected readings, once there is one, where neither ``deadLetter`` nor a store keeps them.
    package var rejectedFile: String?
    /// The FHIR server that bundles go to, besides ``destination``.
    package var server = ServerSettings()
    /// The FHIR server that gets AuditEvents; none where it is not named.
    package var auditServer = ServerSettings()
    /// Sinks, in place of ``destination`` and ``server``; empty for these two.
    package var sinks: [Sink] = []
    /// Places that sinks have had in this process, at least.
    var sinkPlaces = 0
    /// The listener for metrics and health.
    package var admin = AdminSettings()
    /// The console, at the same listener.
    package var console = ConsoleSettings()
    /// The FHIR search of the archive, at the same listener.
    package var search = SearchSettings()
    /// Directory of the files of receipts; nil for none.
    package var receipts: String?
    /// Path of the Unix socket from which receipts are read; nil for none.
    package var receiptSocket: String?
    /// What is kept on disk.
    package var store = StoreSettings()
    /// Longest time for delivering what is there after the first signal to stop.
    package var drainLimit: Int64 = 30_000_000_000
    /// Whether a crash may leave a core file, and debuggers may attach.
    package var allowsCoreDumps = false
    /// Whether the process may change only files that the settings name (``Sandbox``).
    package var isConfined = true
    /// What is written to standard error.
    package var log = LogSettings()
    /// Where values other than the defaults were written, by dotted key (`output.format`, `mappings[0]`).
    package var origins: [String: SettingOrigin] = [:]

    /// The files that were read, each after the file that includes it.
    package var configurationFiles: [String] = []
    /// The paths and patterns that they include, also of files that are not there.
    var includes: [String] = []

    /// The defaults.
    package init() {}

    /// The mapping of those that name none.
    package static let usualMapping = "reading"

    /// Decides what nobody stated about keeping data: what reads nothing but its standard input keeps nothing, so that
    /// it gives the same output a second time; everything else keeps its data in the usual place of `environment`.
    package mutating func settleStore(environment: [String: String]) {
        if store.keeping == .auto { store.keeping = isPipe(environment) ? .nothing : .everything }
        if store.directory == nil { store.directory = StoreDirectory.usual(environment) }
    }

    /// Whether only what ends by itself is read, nobody has named a directory, and all sinks take what comes: for a
    /// server that is away it must be kept. systemd names one for a service, which may write to files.
    private func isPipe(_ environment: [String: String]) -> Bool {
        guard store.directory == nil, readsOnlyWhatEnds else { return false }
        let sinks = outgoingSinks.map { $0.address?.kind.capabilities ?? [] }
        let isService = environment[StoreDirectory.variableOfServices]?.isEmpty == false
        return sinks.allSatisfy { $0.contains(.pipe) } || !isService && !sinks.contains { $0.contains(.mayBeAway) }
    }

    /// Whether all sources end by themselves, as standard input does.
    package var readsOnlyWhatEnds: Bool {
        listeningSources.allSatisfy { $0.configuration.capabilities.contains(.ends) }
    }

    /// What is listened to when no source is given.
    package static var defaultSources: [Source] {
        [Source(.udp(host: "127.0.0.1", port: 5757)), Source(.unixStream(path: "./kymo.sock"))]
    }

    /// Where a run that began at `time` puts rejected readings that nothing else keeps, as a pipe's; nil when something
    /// does.
    package func fileOfRejected(at time: Instant, process: Int32) -> String? {
        guard deadLetter == nil, store.keeping == .nothing, readsOnlyWhatEnds else { return nil }
        return "./kymo-rejected-\(OutputName(start: time, sequence: 0, suffix: "").start)-\(process).ndjson"
    }
}
