import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore

/// `kymo dictionary`: a zstd dictionary for small output.
struct TrainDictionary: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dictionary",
        abstract: "Train a zstd dictionary on output, so that single Observations and small bundles get small.",
        discussion: """
            Reads what 'kymo run' writes, one document a line, and writes a file named by version and dictionary \
            number, whose path it prints. One line of five is held out to measure what the dictionary saves. Use it \
            with output.dictionary, and read with 'zstd -D FILE -d'. It has text of the output in it, so that its mode \
            is 0600: it must belong to the user that 'kymo run' runs as.

            Example: kymo dictionary observations.ndjson --out .
            """)

    @Argument(help: "NDJSON of Observations or bundles; standard input by default.", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("Folder of the new file.", valueName: "folder"), completion: .directory)
    var out = "."

    @Option(help: ArgumentHelp("Most KiB of the dictionary, 4…1024.", valueName: "KiB"))
    var size = 112

    func validate() throws {
        guard (4...1_024).contains(size) else { throw ValidationError("--size is from 4 to 1024 KiB") }
    }

    func run() throws {
        let content = try InputFile.read(file, "name a file that 'kymo run' wrote")
        let documents = content.split(separator: 0x0A).map { Array($0) }
        let training = documents.enumerated().filter { $0.offset % 5 != 4 }.map(\.element)
        guard documents.count >= 100, let dictionary = ZstdDictionary.train(training, maxBytes: size << 10) else {
            throw StandardError.exit(
                "\(CountText.of(documents.count, "document")): too few, or too alike, to train on; give at least 100",
                code: ExitStatus.dataError)
        }
        try write(dictionary)
        report(dictionary, documents.enumerated().filter { $0.offset % 5 == 4 }.map(\.element))
    }

    private func write(_ dictionary: ZstdDictionary) throws {
        let path = "\(out)/\(dictionary.fileName)"
        // There is text of readings in it.
        ProcessPrivacy.keepFilesPrivate()
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(dictionary.bytes), attributes: [.posixPermissions: 0o600])
        else {
            throw StandardError.exit(
                "\(path) cannot be written; choose a folder that is there and that you may write to",
                code: ExitStatus.cannotCreate)
        }
        try StandardOutput.write(Array("\(path)\n".utf8))
    }

    private func report(_ dictionary: ZstdDictionary, _ held: [[UInt8]]) {
        let step = max(held.count / 5_000, 1)
        let measured = stride(from: 0, to: held.count, by: step).map { held[$0] }
        let plain = measured.reduce(0) { $0 + ZstdDictionary.compressedSize($1, with: nil) }
        let small = measured.reduce(0) { $0 + ZstdDictionary.compressedSize($1, with: dictionary) }
        let tenths = (plain * 10 + small / 2) / small
        StandardError.write(
            "kymo: \(dictionary.bytes.count) bytes; \(CountText.of(measured.count, "document")) held out: "
                + "\(plain / measured.count) bytes each with zstd, \(small / measured.count) with the dictionary, "
                + "\(tenths / 10).\(tenths % 10) times smaller\n")
    }
}
