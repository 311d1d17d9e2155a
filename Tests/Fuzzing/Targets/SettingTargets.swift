import FoundationEssentials
@testable import Kymograph
import KymographCore
@testable import KymographTemplates

/// Files that an administrator writes.
extension FuzzTarget {
    static let settings = [
        FuzzTarget(name: "configuration", longest: 2_048, run: configuration),
        FuzzTarget(name: "lists", longest: 1_024, run: lists),
    ]

    /// What can be used is the same when it is printed and read again.
    private static func configuration(_ bytes: [UInt8]) {
        // Files that are named are not read: what is in them is not in the input.
        guard !String(decoding: bytes, as: UTF8.self).contains("clude") else { return }
        let (settings, findings) = load(bytes)
        for finding in findings { demand(!finding.text.isEmpty, "a finding without words") }
        guard !findings.contains(where: { $0.severity == .error }) else { return }
        let printed = EffectiveSettings(settings, withDefaults: true).json(withOrigins: false)
        let (again, others) = load(printed)
        let text = String(decoding: printed, as: UTF8.self)
        demand(!others.contains { $0.severity == .error }, "\(others.map(\.text)) of \(text)")
        let second = EffectiveSettings(again, withDefaults: true).json(withOrigins: false)
        demand(second == printed, "\(text) becomes \(String(decoding: second, as: UTF8.self))")
    }

    private static func load(_ bytes: [UInt8]) -> (settings: PipelineSettings, diagnostics: [Diagnostic]) {
        ConfigurationLoader.load(ConfigurationInput(file: (name: "kymo.yaml", bytes: bytes)))
    }

    /// Lists of rules, peers and patients, in YAML, and patients in a table.
    private static func lists(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        switch input.choice(4) {
        case 0: _ = try? RulesFile.open(file("rules.yaml", input.rest))
        case 1: _ = try? PeersFile.open(file("peers.yaml", input.rest))
        case 2: _ = PatientsFile.check(file("patients.yaml", input.rest))
        default: _ = PatientsFile.check(file("patients.csv", input.rest))
        }
    }

    /// Where files of inputs are: whoever starts this makes it and removes it, since a target that fails cannot.
    private static let folder: String = {
        let path = ProcessInfo.processInfo.environment["KYMO_FUZZ_FOLDER"] ?? ""
        demand(!path.isEmpty, "name a folder for files with KYMO_FUZZ_FOLDER")
        return path
    }()

    /// Writes a file whose last line has an end, and gives its path.
    private static func file(_ name: String, _ bytes: [UInt8]) -> String {
        let path = "\(folder)/\(name)"
        demand(FileManager.default.createFile(atPath: path, contents: Data(bytes + [0x0A])), "\(path) is not written")
        return path
    }
}
