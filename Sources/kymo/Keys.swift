import ArgumentParser
import Kymograph
import KymographCore

/// `kymo keys`: the keys of an encrypted store.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make the key of an encrypted store, encrypt a store, or change its keys.",
        discussion: """
            docs/encryption.md says what is encrypted, and what to keep where.

            Example: kymo keys new /etc/kymograph/key
            """,
        subcommands: [KeysNew.self, KeysEncrypt.self, KeysRotate.self])
}

/// `kymo keys new`.
struct KeysNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a key file.",
        discussion: """
            Writes a random key of 256 bits into a new file of mode 0600. Keep a copy of it away from this machine: \
            without it, nothing that it encrypts can be read. A file that exists is left as it is.

            Example: kymo keys new /etc/kymograph/key
            """)

    @Argument(help: "The new file.", completion: .file())
    var file: String

    func run() throws {
        do throws(SealError) { try SealKey.make(at: file) } catch {
            throw StandardError.exit(error.message, code: ExitStatus.cannotCreate)
        }
    }
}

/// `kymo keys encrypt`.
struct KeysEncrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypt a store that is not encrypted.",
        discussion: """
            Needs room for a second copy, and a store that no instance uses. A command that was interrupted is given \
            again; until it is done, the store is as it was. The blocks of the former file are free, and not \
            overwritten: docs/encryption.md.

            Example: kymo keys encrypt --data /var/lib/kymo --key-file /etc/kymograph/key
            """)

    @OptionGroup var store: StoreOptions

    func run() throws {
        let settings = try store.lockedSettings()
        let directory = try store.directory(of: settings)
        guard settings.store.encryption.isOn else {
            throw StandardError.exit("name the key with --key-file FILE", code: ExitStatus.config)
        }
        let isNew = try StandardError.translating { () throws(PipelineError) in
            try StoreSealing.encrypt(directory, settings.store.encryption)
        }
        if isNew { AuditNote.write(.keys, ["kymo keys encrypt has encrypted the store"], in: directory) }
        StandardError.write("kymo: the store in \(directory) \(isNew ? "is encrypted" : "is encrypted already")\n")
    }
}

/// `kymo keys rotate`.
struct KeysRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Change the key of an encrypted store.",
        discussion: """
            With --new-key-file, the data keys are wrapped by the new key, which takes a moment. With --all, all of \
            the database is written anew with a new data key, which needs room for a second copy; with both, both. No \
            instance may use the store. A command that was interrupted is given again.

            Name the new key in the configuration afterwards.

            Example: kymo keys rotate --data /var/lib/kymo --key-file old.key --new-key-file new.key
            """)

    @OptionGroup var store: StoreOptions

    @Option(
        help: ArgumentHelp("File with the key that takes the place of the present one.", valueName: "file"),
        completion: .file())
    var newKeyFile: String?

    @Flag(help: "Write the database anew with a new data key.")
    var all = false

    func validate() throws {
        guard all || newKeyFile != nil else { throw ValidationError("give --new-key-file FILE, --all or both") }
    }

    func run() throws {
        let settings = try store.lockedSettings()
        let directory = try store.directory(of: settings)
        try StandardError.translating { () throws(PipelineError) in
            try StoreSealing.rotate(directory, settings.store.encryption, new: newKeyFile, isAll: all)
        }
        AuditNote.write(.keys, ["kymo keys rotate has changed the keys of the store"], in: directory)
        StandardError.write("kymo: the keys of the store in \(directory) are changed\n")
    }
}
