import CommandSupport
import Glibc
import Kymograph
import KymographTemplates
import Testing

/// Files that say what readings mean and whose they are, and that others can write.
@Suite struct WritableFileTests {
    private let folder = TemporaryFolder()

    init() {
        let files = [
            "conf.d/a.yaml": "window: 1m\n", "patients.csv": "device,patient\nw-1,p-1\n",
            "rules.yaml": "rules:\n  - {name: bench, then: drop, devices: [\"w-*\"]}\n",
            "peers.yaml": "peers:\n  - {addresses: [10.0.0.0/8], name: ward, devices: [w-1]}\n",
            "m/device.json": "{}", "m/fhir.json": "{}", "device.json": "{}", "fhir.json": "{}",
            "kymo.yaml": """
            include: conf.d/*.yaml
            patients: \(folder.file("patients.csv"))
            rules: \(folder.file("rules.yaml"))
            mappings: [\(folder.file("m/"))]
            deviceMapping: \(folder.file("device.json"))
            fhirMapping: \(folder.file("fhir.json"))
            sources:
              - tcp: 127.0.0.1:0
                peers: \(folder.file("peers.yaml"))

            """,
        ]
        for (name, text) in files {
            folder.write(name, text)
            _ = unsafe chmod(folder.file(name), 0o644)
        }
        for name in ["conf.d", "m"] { _ = unsafe chmod(folder.file(name), 0o755) }
    }

    /// What is said of such files, without the folder.
    private func warnings() -> [String] {
        let path = folder.file("kymo.yaml")
        let input = ConfigurationInput(flags: [], environment: [:], file: (path, Files.read(path)))
        return ConfigurationLoader.load(input).diagnostics.map { $0.text.replacing("\(folder.path)/", with: "") }
            .filter { $0.contains("can be changed by users other than its owner") }
    }

    @Test func filesThatOnlyTheirOwnerWritesAreFine() {
        #expect(warnings() == [])
    }

    /// The place is that of the setting; of a file of the configuration, the file itself.
    @Test(arguments: [
        ("kymo.yaml", "kymo.yaml:1:1: "), ("conf.d/a.yaml", "conf.d/a.yaml:1:1: "), ("conf.d/", "conf.d/a.yaml:1:1: "),
        ("patients.csv", "kymo.yaml:2:11: "), ("rules.yaml", "kymo.yaml:3:8: "), ("m/", "kymo.yaml:4:12: "),
        ("m/fhir.json", "kymo.yaml:4:12: "), ("device.json", "kymo.yaml:5:16: "), ("fhir.json", "kymo.yaml:6:14: "),
        ("peers.yaml", "kymo.yaml:9:12: "),
    ])
    func filesThatOthersWriteAreTold(name: String, place: String) throws {
        let mode: mode_t = name.hasSuffix("/") ? 0o757 : 0o646
        _ = unsafe chmod(folder.file(name), mode)
        let found = warnings()
        #expect(found.count == 1, "\(found)")
        let warning = try #require(found.first)
        #expect(warning.hasPrefix(place) && warning.contains("warning: "), "\(warning)")
        #expect(warning.contains("\(name) can be changed by users other than its owner (mode 0"), "\(warning)")
        #expect(warning.contains("(mode 0\(String(mode, radix: 8)))"), "\(warning)")
        #expect(warning.contains("run 'chmod go-w' on it"), "\(warning)")
    }

    /// What is no file, such as a terminal or a pipe that a shell names, has no owner that matters.
    @Test func whatIsNoFileIsNotLookedAt() {
        let input = ConfigurationInput(flags: [], environment: [:], file: ("/dev/null", Array("window: 1m\n".utf8)))
        let texts = ConfigurationLoader.load(input).diagnostics.map(\.text)
        #expect(!texts.contains { $0.contains("can be changed") }, "\(texts)")
    }
}
