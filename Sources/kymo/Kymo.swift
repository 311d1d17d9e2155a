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
              kymo simulate --devices 3 --duration 10m --speed max --stdout | kymo run --stdin > bundles.ndjson

            Listen to devices on UDP and write files:
              kymo run --udp 0.0.0.0:5757 --mapping wristband --out ./observations --dead-letter dead.ndjson

            Why is there no output?
              kymo map --mapping ./my-device/ --explain message.json

            Standard output carries data only, messages go to standard error.

            Exit status: 0 success, also after a signal when everything was delivered; 1 failure; 64 wrong command \
            line; 65 input data rejected; 66 no input; 69 no receiver; 70 readings unaccounted for, or an expression \
            failed; 71 cannot bind address; 73 cannot create output; 74 output failed; 75 draining was cut at its \
            limit; 77 not permitted; 78 configuration or mapping wrong; 130 and 143 stopped at once by a second SIGINT \
            or SIGTERM.
            """,
        version: "kymo \(KymographVersion.text)",
        // Each says its name: to derive it from the type's takes a millisecond.
        subcommands: [
            Run.self, Check.self, Test.self, Map.self, Eval.self, Replay.self, Simulate.self, Mappings.self,
            TrainDictionary.self, Query.self, Export.self, Ledger.self,
            Dead.self, Status.self, ForgetLookups.self, Completions.self, Support.self,
        ])

    static func main() {
        StandardDescriptors.reserve()
        main(nil)
    }
}
