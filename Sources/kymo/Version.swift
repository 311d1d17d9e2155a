import ArgumentParser
import Kymograph

/// `kymo version`: what runs here.
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version, and with --verbose those of the system's libraries as they are loaded.",
        discussion: """
            OpenSSL, SQLite, zlib, zstd, libcurl and glibc belong to the system, and its updates mend them without \
            another kymo: this says which ones a process gets now. An SBOM of the build is beside the package's \
            documentation. A running instance has the libraries of when it started.

            Example: kymo version --verbose
            """)

    @Flag(help: "A line for each part: program, commit, compiler and libraries.")
    var verbose = false

    @Option(help: ArgumentHelp("For people, or for programs, with all parts.", valueName: "text|json"))
    var format = TextFormat.text

    func run() throws {
        switch format {
        case .json: try StandardOutput.write(try PrettyText.pretty(ProgramVersions()))
        case .text:
            let text = verbose ? ProgramVersions().text : "kymo \(KymographVersion.text)\n"
            try StandardOutput.write(Array(text.utf8))
        }
    }
}
