import ArgumentParser
import FoundationEssentials
import Glibc
import Kymograph
import KymographCore

/// Reads whole inputs.
enum InputFile {
    /// The content of `path`, or of standard input when it is nil or `-`. `advice` says which file is wanted.
    ///
    /// - Throws: exit status 66 when there is no such file, or 77 when permission is missing, after a message.
    static func read(_ path: String?, _ advice: String) throws -> [UInt8] {
        guard let path, path != "-" else {
            guard let input = StandardDescriptors.readInput() else {
                throw StandardError.exit("standard input cannot be read; \(advice)", code: ExitStatus.noInput)
            }
            return input
        }
        do {
            return [UInt8](try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw complaint(
                path, isPermission: (error as? CocoaError)?.code == .fileReadNoPermission, advice)
        }
    }

    /// Makes the file at `path` the standard input.
    ///
    /// - Throws: as ``read(_:_:)``.
    static func open(_ path: String, _ advice: String) throws {
        guard StandardDescriptors.replaceInput(by: path) else {
            throw complaint(path, isPermission: StandardDescriptors.lacksPermission, advice)
        }
    }

    private static func complaint(_ path: String, isPermission: Bool, _ advice: String) -> ExitCode {
        var isFolder = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if isFolder {
            return StandardError.exit(
                "\(path) cannot be read: it is a folder; \(advice)", code: ExitStatus.noInput)
        }
        if let cause = StandardDescriptors.oddity(of: path) {
            return StandardError.exit("\(path) cannot be read: \(cause); \(advice)", code: ExitStatus.noInput)
        }
        if isPermission {
            return StandardError.exit(
                "\(path) cannot be read: permission denied; let this user read it (chmod, chown), or run kymo as "
                    + "its owner", code: ExitStatus.noPermission)
        }
        let cause = exists ? "reading it fails" : "there is no such file"
        let name = path.isEmpty ? "a file without a name" : path
        return StandardError.exit("\(name) cannot be read: \(cause); \(advice)", code: ExitStatus.noInput)
    }
}

/// The file that `--config` names.
enum ConfigurationFile {
    /// Its name and content; nil when none is named.
    ///
    /// - Throws: as ``InputFile/read(_:_:)``.
    static func read(_ path: String?) throws -> (name: String, bytes: [UInt8])? {
        guard let path else { return nil }
        return (path, try InputFile.read(path, "name a YAML or JSON file with --config"))
    }
}

/// Writes to standard output.
enum StandardOutput {
    /// Writes text or JSON, in which control characters are escaped, or exits with status 74.
    static func write(_ text: [UInt8]) throws { try draw(PrintableText.lines(text)) }

    /// Writes bytes that programs read as they are, or exits with status 74. On a terminal control characters are
    /// escaped: nothing that a device has sent commands it.
    static func write(data bytes: [UInt8]) throws {
        try isatty(STDOUT_FILENO) == 1 ? write(bytes) : draw(bytes)
    }

    /// Writes all of `bytes`, which may move the cursor of a terminal, or exits with status 74.
    static func draw(_ bytes: [UInt8]) throws {
        guard StandardDescriptors.write(bytes, to: 1) else {
            throw StandardError.exit(
                "standard output cannot be written: \(StandardDescriptors.lastError)", code: ExitStatus.ioError)
        }
    }
}
