import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// Whose devices are, and what is taken.
struct PatientOptions: SettingGroup {
    @Option(
        help: ArgumentHelp(
            "Patient map: whose each device is at which times (docs/patients.md).", valueName: "file"),
        completion: .file())
    var patients: String?

    @Option(
        help: ArgumentHelp(
            "Readings whose message says otherwise than the map: rejected, or of whom the map or the message says. "
                + "Default: reject.", valueName: "reject|map|message"))
    var patientConflict: String?

    @Option(
        help: ArgumentHelp(
            "Readings of devices that the map assigns to no patient: taken if they name one, rejected, or taken. "
                + "Default: named.", valueName: "named|reject|accept"))
    var unmapped: String?

    @Option(
        help: ArgumentHelp("Rules that say which readings are dropped or rejected (docs/rules.md).", valueName: "file"),
        completion: .file())
    var rules: String?

    var flags: [SettingFlag] {
        Self.given([
            ("rules", "--rules", rules),
            ("patients", "--patients", patients), ("patientConflict", "--patient-conflict", patientConflict),
            ("unmapped", "--unmapped", unmapped),
        ])
    }

    /// The map with how it is applied, the rules for `types`, and those for resources; exits with status 78 when there
    /// are errors.
    func load(
        _ types: [MeasurementType]
    ) throws -> (patients: PatientRules?, rules: RuleDecider, resources: EntryRules) {
        let (settings, diagnostics) = ConfigurationLoader.load(ConfigurationInput(flags: flags))
        Diagnostics.write(diagnostics)
        guard !diagnostics.contains(where: { $0.severity == .error }) else { throw ExitCode(ExitStatus.config) }
        return (settings.patientRules, settings.decider(ofSource: "stdin", types: types), settings.entryRules)
    }
}
