import Foundation
import Glibc
import KymographCore

/// Maps the bytes of dead letters again, in a data directory that no instance uses: a pipeline whose sources are files
/// with the letters of each source, and which has the settings of the sources otherwise.
public enum LetterReplay {
    /// Runs it to its end. What is rejected again becomes new dead letters. `settings` are those of `kymo run`.
    ///
    /// - Throws: ``PipelineError`` when it cannot begin.
    public static func run(
        _ letters: [StoredLetter], _ settings: PipelineSettings, directory: String,
        notes: @escaping @Sendable (String) -> Void
    ) throws(PipelineError) -> Pipeline.Outcome {
        var settings = settings
        var files: [Int32] = []
        defer { for file in files { close(file) } }
        let known = settings.listeningSources
        settings.sources = []
        for name in Set(letters.map(\.source)).sorted() {
            let lines = letters.filter { $0.source == name }.flatMap { line($0) }
            let file = try open(lines, in: directory)
            files.append(file)
            var source = known.first { $0.name == name } ?? PipelineSettings.Source(.standardInput(descriptor: file))
            source.configuration = SourceConfiguration(.standardInput(descriptor: file))
            source.statedName = name
            source.statedFraming = .lines
            settings.sources.append(source)
            settings.lineBytes = max(settings.lineBytes, lines.count)
        }
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings)
        guard let set else {
            let text = diagnostics.first { $0.severity == .error }?.text ?? "the mappings have errors"
            throw PipelineError(message: text, exitCode: ExitStatus.config)
        }
        return try Pipeline(settings, set: set, notes: notes).run(signals: nil)
    }

    /// The letter as one line. Between the tokens of JSON a line feed is as good as a blank.
    public static func line(_ letter: StoredLetter) -> [UInt8] {
        (letter.bytes ?? []).map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A]
    }

    /// An open file with `lines` that has no name any more.
    private static func open(_ lines: [UInt8], in directory: String) throws(PipelineError) -> Int32 {
        let path = "\(directory)/replay-\(getpid()).ndjson"
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(lines), attributes: [.posixPermissions: 0o600])
        else {
            throw PipelineError(message: "cannot write \(path)", exitCode: ExitStatus.cannotCreate)
        }
        let file = FileSystem.open(path, O_RDONLY)
        FileSystem.remove(path)
        guard file >= 0 else {
            throw PipelineError(message: "cannot read \(path)", exitCode: ExitStatus.cannotCreate)
        }
        return file
    }
}
