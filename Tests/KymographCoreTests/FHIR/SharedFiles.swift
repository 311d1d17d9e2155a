import Foundation

/// Where shared material and its Python interpreter are; tests that need them are skipped without.
enum SharedFiles {
    /// The folder that `KYMO_SHARED` names, or `../shared` beside the package; nil when there is none.
    static let root: URL? = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["KYMO_SHARED"].map { URL(fileURLWithPath: $0) }
        let root = named ?? package.deletingLastPathComponent().appendingPathComponent("shared")
        return FileManager.default.fileExists(atPath: root.path) ? root : nil
    }()

    /// Whether the bundle checker can run.
    static let canValidate: Bool = root != nil && run(["-c", "import fhir.resources"]).status == 0

    /// Checks `text` as a file called `name` (its ending says what it is); empty when there are no errors or warnings.
    static func complaints(_ text: String, name: String, version: String = "R4") throws -> String {
        guard let root else { return "no shared folder" }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        let script = root.appendingPathComponent("fhir/validate_bundle.py").path
        let result = run([script, "--strict", "--version", version, file.path])
        return result.status == 0 ? "" : result.output
    }

    static func run(_ arguments: [String]) -> (status: Int32, output: String) {
        let process = Process()
        let python = ProcessInfo.processInfo.environment["KYMO_PYTHON"] ?? "python3"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        do { try process.run() } catch { return (-1, "\(error)") }
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
