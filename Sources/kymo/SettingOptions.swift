import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore
import KymographTemplates

/// The flags of `run`, and how they are joined with environment and file.
struct SettingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Configuration file (YAML or JSON).", valueName: "file"), completion: .file())
    var config: String?

    @OptionGroup(title: "Sources")
    var sources: SourceSettings

    @OptionGroup(title: "Mapping")
    var mapping: MappingSettings

    @OptionGroup(title: "Patients and rules")
    var patients: PatientOptions

    @OptionGroup(title: "Windows")
    var windows: WindowSettings

    @OptionGroup(title: "Output")
    var output: OutputSettings

    @OptionGroup(title: "Durability")
    var durability: DurabilitySettings

    @OptionGroup(title: "Tuning")
    var tuning: TuningSettings

    @OptionGroup(title: "Metrics, health and log")
    var observing: ObservingSettings

    /// The settings, their mappings, and a watch on the files that these are from; writes what is wrong, with `write`
    /// when they can be used, and else to standard error, and exits with status 78.
    func load(
        writing write: (PipelineSettings, [Diagnostic]) -> Void = { Diagnostics.write($1) }
    ) throws -> (PipelineSettings, MappingSet, MappingWatch?) {
        var watch: MappingWatch?
        let (settings, set, diagnostics) = try check { watch = MappingWatch($0) }
        guard let settings, let set else {
            Diagnostics.write(diagnostics)
            throw ExitCode(ExitStatus.config)
        }
        write(settings, diagnostics)
        return (settings, set, watch)
    }

    /// Reads the same again, in a process that `sandbox` confines; nil without a configuration file, and for one that
    /// came by standard input.
    func rereading(_ sandbox: Sandbox?) throws -> ConfigurationRereading? {
        guard let config, config != "-" else { return nil }
        return ConfigurationRereading(try input(), path: config, sandbox: sandbox)
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
        let groups: [any SettingGroup] = [mapping, sources, patients, durability, windows, output, tuning, observing]
        return ConfigurationInput(
            flags: groups.flatMap(\.flags), environment: ProcessInfo.processInfo.environment,
            file: try ConfigurationFile.read(config))
    }
}
