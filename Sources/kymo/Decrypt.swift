import ArgumentParser
import Kymograph
import KymographCore

/// `kymo decrypt`: encrypted files as they would be without encryption.
struct Decrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Write what encrypted files hold to standard output.",
        discussion: """
            Of output files, dead letters and receipts that a run with an encrypted store has written. The data keys \
            are in the data directory, in kymo.keys; a folder with a copy of that file will do.

            Exits with 65 when a file is cut off or was changed, after what is whole before that.

            Example: kymo decrypt rejected.ndjson --data /var/lib/kymo --key-file /etc/kymograph/key
            """)

    @Argument(help: "Files to decrypt, one after the other.", completion: .file())
    var files: [String]

    @OptionGroup var store: StoreOptions

    func run() throws {
        let settings = try store.settings()
        let directory = try store.directory(of: settings)
        let seal = try StandardError.translating { () throws(PipelineError) in try settings.unlockStore() }
        guard let seal else {
            throw StandardError.exit(
                "there is no encrypted store in \(directory): name its data directory with --data DIR",
                code: ExitStatus.noInput)
        }
        AuditNote.write(.decrypt, ["kymo decrypt decrypts \(CountText.of(files.count, "file"))"], in: directory)
        for file in files {
            do { try SealedFile.decrypt(file, seal) { try StandardOutput.write(data: $0) } } catch let error
                as SealError
            {
                throw StandardError.exit(error.message, code: ExitStatus.dataError)
            }
        }
    }
}
