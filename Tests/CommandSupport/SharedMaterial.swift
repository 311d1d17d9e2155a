import Foundation

/// The shared folder with data, validator and server, and the Python that runs them; tests are skipped without.
package enum SharedMaterial {
    package static let environment = ProcessInfo.processInfo.environment

    /// The repository.
    package static let package: String = {
        let file = URL(filePath: #filePath)
        return file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    }()

    /// The folder that `KYMO_SHARED` names, or `../shared` beside the package; nil when there is none.
    package static let root: String? = {
        let named = environment["KYMO_SHARED"] ?? "../shared"
        let path = named.hasPrefix("/") ? named : "\(package)/\(named)"
        return Files.exists("\(path)/fhir") ? path : nil
    }()

    /// The Python interpreter that `KYMO_PYTHON` names.
    package static let python = environment["KYMO_PYTHON"] ?? "python3"

    /// Whether the validator and the server can run.
    package static let canRunPython: Bool =
        root != nil
        && (try? ChildProcess(python, ["-c", "import fhir.resources, jsonschema, aiohttp"]).wait()) == .exit(0)
}
