import ArgumentParser
import Kymograph

/// `kymo import`: what other programs have kept.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Read what a phone has kept: the export of Apple Health.",
        discussion: "Example: kymo import apple export.zip --patient p-0042 --out ./observations",
        subcommands: [ImportApple.self])
}

/// `kymo import apple`: an export of Apple Health, as `kymo run` reads standard input.
struct ImportApple: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple",
        abstract: "Read an export of Apple Health: export.zip, or the export.xml in it.",
        discussion: """
            The export has no identifier of the person: --patient states it. Records become windows and Observations \
            by the mapping apple-health, or those that --mapping names; all other options are those of 'kymo run'.

            With --data what was read is kept: after an interruption, or with a later export, the same command reads \
            the file again, and what has come before counts as a duplicate.

            Example: kymo import apple export.zip --patient p-0042 --out ./observations
            """)

    @Argument(help: "The archive that the Health app writes, or the file export.xml in it.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Identifier of the person whose export it is.", valueName: "id"))
    var patient: String

    @OptionGroup var settings: SettingOptions

    @Option(help: Run.summaryHelp)
    var summary = TextFormat.text

    func validate() throws {
        guard patient.contains(where: { !$0.isWhitespace }) else {
            throw ValidationError("--patient is blank: name the person whose export it is")
        }
        guard settings.sources.flags.isEmpty else {
            throw ValidationError("import reads the file alone: leave \(settings.sources.flags[0].flag) out")
        }
    }

    func run() throws {
        try InputFile.open(file, "name the archive that the Health app has written, or export.xml in it")
        var run = Run()
        run.settings = settings
        run.summary = summary
        run.settings.sources.kinds = .standardInput
        run.settings.sources.framing = "apple-health,patient=\(patient)"
        if settings.mapping.flags.isEmpty { run.settings.mapping.names = ["apple-health"] }
        try run.run()
    }
}
