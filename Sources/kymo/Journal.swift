import Foundation

/// systemd's journal, by its command.
enum Journal {
    private static let command = "/usr/bin/journalctl"

    /// The latest `lines` of `unit`, without the name of the machine; or why there are none.
    static func text(unit: String, lines: Int) -> String {
        guard FileManager.default.isExecutableFile(atPath: command) else { return "there is no \(command)\n" }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = [
            "--unit=\(unit)", "--lines=\(lines)", "--output=short-iso", "--no-hostname", "--no-pager", "--quiet",
        ]
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        do {
            try process.run()
        } catch {
            return "cannot run \(command): \(error)\n"
        }
        let bytes = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        return bytes.isEmpty
            ? "the journal of \(unit) is empty, or this user may not read it\n" : String(decoding: bytes, as: UTF8.self)
    }
}
