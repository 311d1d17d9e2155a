import FoundationEssentials
import Kymograph

/// Reads whole inputs for the commands that look at one payload.
enum InputFile {
    /// The content of `path`, or of standard input when it is nil or `-`; nil when it cannot be read.
    static func read(_ path: String?) -> [UInt8]? {
        guard let path, path != "-" else { return StandardDescriptors.readInput() }
        return FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    }
}

/// Writes data to standard output.
enum StandardOutput {
    /// Writes all of `bytes`, or exits with status 74.
    static func write(_ bytes: [UInt8]) throws {
        guard StandardDescriptors.write(bytes, to: 1) else {
            throw StandardError.exit("standard output takes no more; is the disk full?", code: ExitStatus.ioError)
        }
    }
}
