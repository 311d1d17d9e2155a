import CommandSupport
import KymographTestKit
import Testing

/// The validator of the shared folder.
enum Validator {
    /// Errors and warnings in NDJSON files, one line each; those whose code begins with one of `passed` do not count.
    static func findings(in files: [String], version: String, passing passed: [String] = []) throws -> [String] {
        let script = "\(SharedMaterial.root ?? "")/fhir/validate_bundle.py"
        let result = try ChildProcess(
            SharedMaterial.python, ["-B", script, "--json", "--max", "100000", "--version", version] + files
        ).finish(seconds: 600)
        let report = try JSONTree(parsing: result.output)
        #expect(report["resources"] != .number("0"), "\(result.error)")
        let issues = try #require(report["issues"]?.elements)
        return issues.compactMap { issue in
            guard let severity = issue["severity"]?.text, severity != "info", let code = issue["code"]?.text,
                !passed.contains(where: code.hasPrefix)
            else { return nil }
            return "\(severity) \(code) \(issue["path"]?.text ?? ""): \(issue["message"]?.text ?? "")"
        }
    }
}
