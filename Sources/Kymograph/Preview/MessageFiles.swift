import FoundationEssentials
import Glibc
import KymographCore

/// The files of messages that a user names, those of folders included.
package enum MessageFiles {
    /// Expands `path`: of a folder its files in byte order of their names, without hidden ones, those of editors,
    /// expected outputs of examples, and templates; a file is itself.
    ///
    /// - Throws: ``MessageInputError`` when there is nothing at `path`, or it cannot be read.
    package static func list(_ path: String) throws(MessageInputError) -> [String] {
        var isFolder = false
        guard path == "-" || FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw .missing(path, isMissing: true)
        }
        guard isFolder else { return [path] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw .forbidden(path)
        }
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        return names.sorted().filter(isMessage).map { "\(folder)/\($0)" }.filter { isFile($0) && !isTemplate($0) }
    }

    /// The payload of `message`: its bytes, or those that a file of hexadecimal digits spells.
    ///
    /// - Throws: ``MessageInputError`` when such a file has something else in it.
    package static func payload(of message: InputMessage) throws(MessageInputError) -> [UInt8] {
        guard isHex(message.file) else { return message.bytes }
        do {
            return try HexText.decode(message.bytes)
        } catch {
            throw MessageInputError(
                message: "\(message.file):\(error.line): not hexadecimal; write two digits a byte",
                exitCode: ExitStatus.dataError)
        }
    }

    /// Whether the file's whole content is one message whose bytes are spelled in hexadecimal.
    package static func isHex(_ path: String) -> Bool { path.hasSuffix(".in.hex") }

    private static func isMessage(_ name: String) -> Bool {
        !name.hasPrefix(".") && !name.hasSuffix("~") && !name.hasSuffix(".out.json")
    }

    /// Whether it is a regular file: a pipe in a folder might never end.
    private static func isFile(_ path: String) -> Bool {
        FileSystem.target(path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
    }

    /// Whether the file has templates, which may lie beside messages.
    private static func isTemplate(_ path: String) -> Bool {
        guard let beginning = try? MessageReader.beginning(of: path), beginning.contains(Array("templateType".utf8)),
            let content = FileManager.default.contents(atPath: path)
        else { return false }
        let file = TemplateFile(path: path, bytes: [UInt8](content))
        return TemplateKind.allCases.contains { file.has($0) }
    }
}
