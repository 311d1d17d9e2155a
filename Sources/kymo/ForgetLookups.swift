import ArgumentParser
import Kymograph

/// `kymo forget-lookups`: a running instance asks its FHIR servers anew.
struct ForgetLookups: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget-lookups",
        abstract: "Have a running instance ask its FHIR servers anew for Devices, Patients and Encounters.",
        discussion: """
            Answers are used for server.identityMaxAge (10 minutes). After a device was given to another patient on \
            the server, this makes the change known at once. SIGHUP does it too.

            Example: kymo forget-lookups --data /var/lib/kymo
            """)

    @OptionGroup var store: StoreOptions

    func run() throws {
        let directory = try store.directory(of: try store.settings())
        guard let answer = ControlClient.ask(ControlRequest(.forgetLookups), directory) else {
            throw StandardError.exit(
                "no instance runs in \(directory): nothing is remembered when none does", code: ExitStatus.noInput)
        }
        if let error = answer.error { throw StandardError.exit(error, code: ExitStatus.dataError) }
    }
}
