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

    /// Who can write a folder exchanges a file in it, whatever the mode of the file. It is told once, at the first file.
    @Test func aFolderThatOthersWriteIsTold() {
        _ = unsafe chmod(folder.path, 0o777)
        let found = warnings()
        #expect(found.count == 1, "\(found)")
        #expect(
            found.first?.hasPrefix("kymo.yaml:1:1: warning: ") == true
                && found.first?.contains(" can be changed by users other than its owner (mode 0777)") == true,
            "\(found)")
    }

    /// What a link leads to lies in a folder, too.
    @Test func theFolderBehindALinkIsTold() {
        folder.write("shared/rules.yaml", Files.text(folder.file("rules.yaml")))
        _ = unsafe chmod(folder.file("shared/rules.yaml"), 0o644)
        _ = unsafe chmod(folder.file("shared"), 0o755)
        _ = unsafe unlink(folder.file("rules.yaml"))
        _ = unsafe symlink(folder.file("shared/rules.yaml"), folder.file("rules.yaml"))
        #expect(warnings() == [])
        _ = unsafe chmod(folder.file("shared"), 0o757)
        let found = warnings()
        #expect(found.count == 1 && found.first?.contains("shared/ can be changed") == true, "\(found)")
    }

    /// Each of the folders that hold patients, rules and the folders of mappings, at the setting.
    @Test(arguments: [("lists", "kymo.yaml:1:11: "), ("rules", "kymo.yaml:2:8: "), ("maps", "kymo.yaml:3:12: ")])
    func foldersOfWhatIsNamed(name: String, place: String) {
        for (from, to) in [("patients.csv", "lists"), ("rules.yaml", "rules")] {
            folder.write("\(to)/\(from)", Files.text(folder.file(from)))
        }
        _ = unsafe mkdir(folder.file("maps"), 0o755)
        for file in ["device.json", "fhir.json"] { folder.write("maps/m/\(file)", "{}") }
        folder.write(
            "kymo.yaml",
            "patients: \(folder.file("lists/patients.csv"))\nrules: \(folder.file("rules/rules.yaml"))\n"
                + "mappings: [\(folder.file("maps/m/"))]\n")
        for path in ["lists", "rules", "maps", "maps/m"] { _ = unsafe chmod(folder.file(path), 0o755) }
        for path in ["lists/patients.csv", "rules/rules.yaml", "maps/m/device.json", "maps/m/fhir.json", "kymo.yaml"] {
            _ = unsafe chmod(folder.file(path), 0o644)
        }
        #expect(warnings() == [])
        _ = unsafe chmod(folder.file(name), 0o757)
        let found = warnings()
        #expect(found.count == 1, "\(found)")
        #expect(
            found.first?.hasPrefix(place) == true
                && found.first?.contains("\(name)/ can be changed by users other than its owner (mode 0757)") == true,
            "\(found)")
    }

    /// With the sticky bit only the owner of a file exchanges it: others do so with what is theirs.
    @Test(.enabled(if: getuid() == 0, "only root can give a file to another user"))
    func aStickyFolderIsToldForFilesOfOthers() {
        _ = unsafe chmod(folder.path, 0o1777)
        #expect(warnings() == [])
        _ = unsafe chown(folder.file("rules.yaml"), 65_534, 65_534)
        let found = warnings()
        #expect(found.count == 1, "\(found)")
        #expect(
            found.first?.hasPrefix("kymo.yaml:3:8: warning: ") == true
                && found.first?.contains(" can be changed by users other than its owner (mode 01777)") == true,
            "\(found)")
    }

    /// What is no file, such as a terminal or a pipe that a shell names, has no owner that matters.
    @Test func whatIsNoFileIsNotLookedAt() {
        let input = ConfigurationInput(flags: [], environment: [:], file: ("/dev/null", Array("window: 1m\n".utf8)))
        let texts = ConfigurationLoader.load(input).diagnostics.map(\.text)
        #expect(!texts.contains { $0.contains("can be changed") }, "\(texts)")
    }
}
