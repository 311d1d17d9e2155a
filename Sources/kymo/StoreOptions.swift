import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit

/// Which store a command looks at.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Data directory of 'kymo run'. Default: as there: $STATE_DIRECTORY, else the user's state folder.",
            valueName: "dir"), completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp("Configuration file of 'kymo run' (YAML or JSON).", valueName: "file"), completion: .file())
    var config: String?

    @Option(help: KeyFileOption.help, completion: .file())
    var keyFile: String?

    /// The settings that name the directory, after which an encrypted store can be read; prints what is wrong and exits
    /// with status 78 when they cannot be used. `flags` are settings that the command line names besides.
    func settings(_ flags: [(key: String, flag: String, value: String)] = []) throws -> PipelineSettings {
        let settings = try lockedSettings(flags)
        // Without a key, a command that only asks a running instance needs none.
        guard settings.store.encryption.isOn else { return settings }
        _ = try StandardError.translating { () throws(PipelineError) in try settings.unlockStore() }
        return settings
    }

    /// The same, before the key is looked at.
    func lockedSettings(_ flags: [(key: String, flag: String, value: String)] = []) throws -> PipelineSettings {
        var flags = flags
        if let data { flags.append(("data", "--data", data)) }
        if let keyFile { flags.append((KeyFileOption.key, KeyFileOption.flag, keyFile)) }
        let environment = ProcessInfo.processInfo.environment
        let input = ConfigurationInput(flags: flags, environment: environment, file: try ConfigurationFile.read(config))
        var (settings, diagnostics) = ConfigurationLoader.load(input)
        let errors = diagnostics.filter { $0.severity == .error }
        Diagnostics.write(errors)
        guard errors.isEmpty else { throw ExitCode(ExitStatus.config) }
        settings.settleStore(environment: environment)
        return settings
    }

    /// The data directory.
    func directory() throws -> String { try directory(of: try settings()) }

    /// The data directory that `settings` name.
    func directory(of settings: PipelineSettings) throws -> String {
        guard let directory = settings.store.directory else {
            throw StandardError.exit("there is no place for data: name one with --data DIR", code: ExitStatus.config)
        }
        return directory
    }

    /// Opens the store for reading.
    func reader() throws -> StoreReader { try StoreReader.opened(try directory()) }
}

/// The flag that names the key of an encrypted store.
enum KeyFileOption {
    static let key = "encryption.keyFile"
    static let flag = "--key-file"
    static let help = ArgumentHelp(
        "File with the key of the encrypted store: docs/encryption.md.", valueName: "file")
}

extension StoreReader {
    /// Opens the store in `directory`, or ends the command with a message.
    static func opened(_ directory: String) throws -> StoreReader {
        try StandardError.translating { () throws(PipelineError) in try StoreReader(directory: directory) }
    }
}

extension StandardError {
    /// Calls `body`, and turns its error into a message and an exit code.
    static func translating<Value: ~Copyable>(_ body: () throws(PipelineError) -> Value) throws -> Value {
        do throws(PipelineError) {
            return try body()
        } catch {
            throw exit(error.message, code: error.exitCode)
        }
    }
}

/// A time such as `2026-03-01T08:00:00Z`.
struct TimeArgument: ExpressibleByArgument, Sendable {
    let instant: Instant

    init?(argument: String) {
        guard let instant = TimestampReader.instant(argument) else { return nil }
        self.instant = instant
    }
}

/// Whose readings of which time.
struct SpanOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only of this device. Repeatable: of any of them.", valueName: "id"))
    var device: [String] = []

    @Option(help: ArgumentHelp("Only of this patient. Repeatable: of any of them.", valueName: "id"))
    var patient: [String] = []

    @Option(help: ArgumentHelp("Only from this time on: 2026-03-01T08:00:00Z.", valueName: "time"))
    var from: TimeArgument?

    @Option(help: ArgumentHelp("Only before this time.", valueName: "time"))
    var to: TimeArgument?

    /// The filter.
    var filter: ArchiveFilter {
        var filter = ArchiveFilter()
        (filter.devices, filter.patients) = (device.asIdentifiers, patient.asIdentifiers)
        (filter.from, filter.to) = (from?.instant, to?.instant)
        return filter
    }
}

extension [String] {
    /// What was given, as a filter: nil, which is any, when nothing was.
    fileprivate var asked: Set<String>? { isEmpty ? nil : Set(self) }

    /// The same of identifiers, which are bytes.
    fileprivate var asIdentifiers: Set<IdentifierText>? { isEmpty ? nil : Set(map { IdentifierText($0) }) }
}

/// Which archived windows, and how their Observations are written.
struct ArchiveOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions

    @Option(
        help: ArgumentHelp(
            "Only of this type, as the mapping names it. Repeatable: of any of them.", valueName: "name"))
    var type: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only windows that have this tag, by their template or a reading. Repeatable: any of them.",
            valueName: "code|system|code"))
    var tag: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only readings of this source, as 'kymo sources' names it. Repeatable: of any of them.",
            valueName: "name"))
    var source: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only the Observation of this id, or with this identifier. Repeatable: any of them.",
            valueName: "id|system|value"))
    var id: [String] = []

    @OptionGroup var span: SpanOptions

    @Flag(
        help: """
            Windows that are still open, too, with what they have by now: as 'preliminary' Observations. Whether an \
            instance runs or not.
            """)
    var open = false

    @Option(help: ArgumentHelp("Only windows that were written at this time or later.", valueName: "time"))
    var modifiedFrom: TimeArgument?

    @Option(help: ArgumentHelp("Only windows that were written before this time.", valueName: "time"))
    var modifiedTo: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Mapping whose templates write Observations, as for 'kymo run'. Repeatable. Default: reading.",
            valueName: "name|dir"))
    var mapping: [String] = []

    @OptionGroup var mappingFiles: MappingFileOptions

    @Option(help: FHIRVersionOption.help)
    var fhirVersion: String?

    func validate() throws {
        guard !id.contains(where: \.isEmpty) else { throw ValidationError("--id must not be empty") }
    }

    /// Whether anything but ``id`` says which windows are meant.
    var selectsWindows: Bool {
        let names = [type, span.device, span.patient, tag, source]
        let times = [span.from, span.to, modifiedFrom, modifiedTo]
        return names.contains { !$0.isEmpty } || times.contains { $0 != nil }
    }

    /// Refuses ``id`` beside `option`, which is about whole windows.
    func refuseIDs(with option: String) throws {
        guard id.isEmpty else {
            throw ValidationError(
                "\(option) is about whole windows, and --id about one Observation, which may be a part of one: "
                    + "leave one of them out")
        }
    }

    /// What is asked of `reader`; exits with status 78 when a tag is asked for and the mappings do not fit.
    func filter(_ reader: StoreReader) throws -> ArchiveFilter {
        var filter = span.filter
        filter.typeNames = type.asked
        (filter.modifiedFrom, filter.modifiedTo) = (modifiedFrom?.instant, modifiedTo?.instant)
        if !tag.isEmpty { filter.tags = ArchiveTags(tag, types: tagged(try mappings(reader).set)) }
        if !source.isEmpty { filter.sources = try sources(reader) }
        return filter
    }

    /// The numbers of the sources that are named; exits with status 65 when one is none of the store.
    private func sources(_ reader: StoreReader) throws -> Set<Int> {
        let names = try StandardError.translating { () throws(PipelineError) in try reader.sourceNames() }
        var numbers: Set<Int> = []
        for one in source {
            let found = names.filter { $0.value.utf8.elementsEqual(one.utf8) }.keys
            guard !found.isEmpty else {
                let known = names.values.sorted().joined(separator: ", ")
                throw StandardError.exit(
                    "the store has no readings of a source '\(one)'; it has those of \(known)",
                    code: ExitStatus.dataError)
            }
            numbers.formUnion(found)
        }
        return numbers
    }

    /// What writes the Observations of the windows of `reader` that are asked for; exits with status 78 when the
    /// mappings do not fit.
    func encoder(_ reader: StoreReader) throws -> ArchiveEncoder {
        try refuseUnwritable(reader)
        return try writingWhatItCan(reader)
    }

    /// Exits with status 78 when no template writes a type with windows that are asked for.
    func refuseUnwritable(_ reader: StoreReader) throws {
        let (set, _, former) = try mappings(reader)
        let names = try unwritable(ArchiveEncoder.unwritable(set, stored: former), reader)
        guard names.isEmpty else {
            throw StandardError.exit(
                "the mappings have no template for \(names.joined(separator: ", ")): name those of 'kymo run' with "
                    + "--mapping or --config, or ask for --readings",
                code: ExitStatus.config)
        }
    }

    /// What writes the Observations of types that have a template, and none of others.
    private func writingWhatItCan(_ reader: StoreReader) throws -> ArchiveEncoder {
        let (set, settings, _) = try mappings(reader)
        return ArchiveEncoder(set: set, options: settings.output)
    }

    /// The mappings that are named, how Observations are written by them, and the types with windows that are asked for
    /// which no template writes.
    func tableMappings(
        _ reader: StoreReader
    ) throws -> (set: MappingSet, options: ObservationOptions, lacking: [String]) {
        let (set, settings, former) = try mappings(reader)
        return (set, settings.output, try unwritable(ArchiveEncoder.unwritable(set, stored: former), reader))
    }

    /// Those of the types called `names` of which windows are asked for. Which tags their templates have is not known.
    private func unwritable(_ names: [String], _ reader: StoreReader) throws -> [String] {
        let names = names.filter { type.isEmpty || type.contains($0) }
        guard !names.isEmpty else { return [] }
        var filter = try filter(reader)
        filter.tags = nil
        return try names.filter { name in
            filter.typeNames = [name]
            var open = OpenSelection(isAsked: self.open)
            return try StandardError.translating { [filter] () throws(PipelineError) in
                try !reader.windows(filter, with: &open, limit: 1).isEmpty
            }
        }
    }

    /// What finds the Observations of ``id``; nil when none are asked for. Types without template do not matter where
    /// what is asked for is of another one.
    func finder(_ reader: StoreReader) throws -> ArchiveEncoder? {
        guard !id.isEmpty else { return nil }
        return try writingWhatItCan(reader)
    }

    /// Names of the types that have one of the tags.
    private func tagged(_ set: MappingSet) -> Set<String> {
        tag.reduce(into: []) { $0.formUnion(ArchiveEncoder.types(tagged: $1, set)) }
    }

    /// The mappings that are named, continuing the types of the store.
    private func mappings(
        _ reader: StoreReader
    ) throws -> (set: MappingSet, settings: PipelineSettings, former: [FormerType]) {
        var flags: [(key: String, flag: String, value: String)] = mapping.map { ("mappings", "--mapping", $0) }
        flags += mappingFiles.flags
        if let fhirVersion { flags.append(("output.fhirVersion", "--fhir-version", fhirVersion)) }
        let settings = try store.settings(flags)
        let former = try StandardError.translating { () throws(PipelineError) in try reader.formerTypes() }
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings, continuingStored: former)
        guard let set else {
            Diagnostics.write(diagnostics.filter { $0.severity == .error })
            throw ExitCode(ExitStatus.config)
        }
        return (set, settings, former)
    }
}
