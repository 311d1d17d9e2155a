import ArgumentParser
import Kymograph

/// The command `kymo`.
@main
struct Kymo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kymo",
        abstract: "Readings of medical and wearable devices in, compact FHIR Observation bundles out.",
        usage: "kymo <subcommand> [options]",
        discussion: """
            Try it without a device:
              kymo simulate --devices 3 --duration 10m --speed max --stdout |
              kymo run --stdin > bundles.ndjson

            Listen to devices on UDP and write files:
              kymo run --udp 0.0.0.0:5757 --mapping wristband --out ./observations

            Why is there no output?
              kymo map --mapping ./my-device/ --explain message.json

            Standard output carries data only, messages go to standard error.

            Exit status:
            \(ExitStatusText.list)
            docs/commands.md says what each command exits with.
            """,
        version: "kymo \(KymographVersion.text)",
        // Each says its name: to derive it from the type's takes a millisecond.
        subcommands: [
            Run.self, Import.self, Demo.self, Check.self, Config.self, Test.self, Map.self, Migrate.self, Eval.self,
            Replay.self, Simulate.self, Mappings.self, TrainDictionary.self, Query.self, Export.self, Decode.self,
            Compare.self, Ledger.self, Receipts.self, Sources.self, Dead.self, Patients.self, Status.self, Top.self,
            Tap.self,
            ConsoleCommand.self, Flush.self, PauseCommand.self, ResumeCommand.self, ForgetLookups.self,
            Reset.self, Keys.self, Decrypt.self, Audit.self, CapabilitiesCommand.self, Completions.self, Support.self,
            Version.self,
        ])

    static func main() {
        StandardDescriptors.reserve()
        ProcessPrivacy.forbidCoreDumps()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            CommandAnswer.exit(error)
        }
    }
}
