import ArgumentParser
import Kymograph

/// `kymo patients`: patient maps.
struct Patients: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patients", abstract: "Check a patient map, and look up whose a device is.",
        discussion: "Example: kymo patients check patients.csv",
        subcommands: [PatientsCheck.self])
}
