import ArgumentParser
import Glibc
import Kymograph
import KymographCore

/// `kymo reset`: a data directory begins from scratch.
struct Reset: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forget all that a data directory has, so that the next run begins from scratch.",
        discussion: """
            For tests, for a directory that another study gets, and where all that was sent is sent again. No \
            instance may run. Says what there is, moves the store into the folder reset-TIME of the directory, and \
            says how to put it back. The audit trail, which notes it, and the keys of an encrypted store stay.

            Asks before anything goes that no sink has: readings of open windows, undelivered bundles, dead letters. \
            --yes answers for scripts; without it and without a terminal, nothing is changed, and it exits with 65. \
            --dry-run says what there is, and changes nothing.

            The next run knows no window: what is sent again becomes the same Observations, under the same ids. A \
            window of which only a part is sent again takes the place of the whole one on a server.

            Example: kymo reset --yes --data /var/lib/kymo
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "Go on without a question.")
    var yes = false

    @Flag(help: "Delete the store instead of moving it aside. Always asks.")
    var delete = false

    @Flag(help: "Say what there is, and change nothing.")
    var dryRun = false

    func run() throws {
        let directory = try store.directory()
        let reset = try StandardError.translating { () throws(PipelineError) in try StoreReset(directory) }
        let isSafe = Self.tell(reset) && !delete
        if dryRun { return }
        if !isSafe, !yes { try confirm(directory) }
        let folder = try StandardError.translating { () throws(PipelineError) in
            try reset.run(isDeleting: delete, at: WallClock.now())
        }
        guard let folder else {
            let earlier = reset.earlier
            let left = earlier.isEmpty ? "" : "; of earlier resets there still are \(earlier.joined(separator: ", "))"
            return StandardError.write("kymo: the store in \(directory) is deleted\(left)\n")
        }
        let names = StoreReset.moved(in: folder).map { "\(folder)/\($0)" }.joined(separator: " ")
        StandardError.write(
            """
            kymo: the store is in \(folder): name that with --data to read it, remove it when you need it no more
            kymo: to put it back, while no instance runs and no other store is there: mv \(names) \(directory)/

            """)
    }

    /// Says what there is; whether all of it has reached its sinks.
    private static func tell(_ reset: StoreReset) -> Bool {
        switch reset.contents {
        case .failure(let error):
            StandardError.write("kymo: warning: what the store in \(reset.path) has cannot be told: \(error.message)\n")
            return false
        case .success(let contents):
            var lines = ["the store in \(reset.path) has \(CountText.of(contents.windows, "closed window"))"]
            if contents.payloads > 0 { lines.append("\(CountText.of(contents.payloads, "payload")) as they came") }
            if contents.openReadings > 0 {
                lines.append("\(CountText.of(contents.openReadings, "reading")) in open windows, which no sink has")
            }
            lines += contents.waiting.map { sink, bundles in
                "\(CountText.of(bundles, "bundle")) that \(sink.isEmpty ? "no sink has" : "\(sink) has not")"
            }
            if contents.letters > 0 {
                lines.append("\(CountText.of(contents.letters, "dead letter")) not replayed or discarded")
            }
            StandardError.write(lines.map { "kymo: \($0)\n" }.joined())
            return contents.isDelivered
        }
    }

    /// Asks; ends the command with status 65 unless the answer is `reset`.
    private func confirm(_ directory: String) throws {
        let refusal = "nothing was changed in \(directory)"
        guard isatty(STDIN_FILENO) == 1 else {
            throw StandardError.exit(
                "\(refusal): that would be lost to whoever has not got it; deliver it first (kymo run, kymo dead "
                    + "replay), or give --yes", code: ExitStatus.dataError)
        }
        StandardError.write("kymo: type 'reset' to go on: ")
        guard readLine() == "reset" else { throw StandardError.exit(refusal, code: ExitStatus.dataError) }
    }
}
