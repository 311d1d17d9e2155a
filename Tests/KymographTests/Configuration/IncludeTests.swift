import CommandSupport
import Kymograph
import KymographTemplates
import Testing

/// Files that a configuration file includes.
@Suite struct IncludeTests {
    private static let minute: Int64 = 60_000_000_000
    private let folder = TemporaryFolder()

    /// Loads `kymo.yaml` of the folder after writing `files`.
    private func load(
        _ files: [String: String], environment: [String: String] = [:],
        flags: [(key: String, flag: String, value: String)] = []
    ) -> (settings: PipelineSettings, messages: [String]) {
        for (name, text) in files { folder.write(name, text) }
        let path = folder.file("kymo.yaml")
        let input = ConfigurationInput(flags: flags, environment: environment, file: (path, Files.read(path)))
        let (settings, diagnostics) = ConfigurationLoader.load(input)
        return (settings, diagnostics.map { $0.text.replacing("\(folder.path)/", with: "") })
    }

    /// What includes stands above what is included, wherever in the file it says so, and flags above all.
    @Test func theIncludingFileHasTheLastWord() {
        let files = [
            "kymo.yaml": "lanes: 3\ninclude: [base.yaml, 'conf.d/*.yaml']\n", "base.yaml": "lanes: 2\nwindow: 2m\n",
            "conf.d/10.yaml": "include: more/deep.yaml\nidle: 1s\n", "more/deep.yaml": "shards: 9\n",
            "conf.d/more/deep.yaml": "idle: 5s\nlateness: 7s\noutput: {format: ndjson}\n",
            "conf.d/20.yaml": "output:\n  to: ./out\n", "conf.d/.hidden.yaml": "shards: 9\n",
            "conf.d/notes.txt": "shards: 9\n",
        ]
        folder.write("conf.d/20.yaml", "")
        let result = load(files)
        #expect(result.messages == [])
        let settings = result.settings
        #expect(settings.lanes == 3 && settings.window == 2 * Self.minute && settings.windows.idle == 1_000_000_000)
        #expect(settings.windows.lateness == 7_000_000_000 && settings.shards == 0)
        #expect(settings.output.format == .ndjson && settings.destination == .directory("./out"))
        let names = settings.configurationFiles.map { $0.replacing("\(folder.path)/", with: "") }
        #expect(
            names == ["kymo.yaml", "base.yaml", "conf.d/10.yaml", "conf.d/more/deep.yaml", "conf.d/20.yaml"])
        #expect(settings.origins["lanes"]?.place == "\(folder.path)/kymo.yaml:1:8")
        #expect(settings.origins["output.to"]?.place == "\(folder.path)/conf.d/20.yaml:2:7")
        let stronger = load(files, environment: ["KYMO_LANES": "4", "KYMO_SHARDS": "5"], flags: [("shards", "-", "6")])
        #expect(stronger.settings.lanes == 4 && stronger.settings.shards == 6)
    }

    @Test func sourcesAndSinksAreJoined() {
        let result = load(
            [
                "kymo.yaml": "include: ${PARTS}.yaml\nsources: [{stdin: true}]\n",
                "parts.yaml": "sources: [{udp: '127.0.0.1:1'}, {unix: a}]\nsinks: [{to: stdout}]\n",
            ], environment: ["PARTS": "parts"])
        #expect(result.messages == [])
        let names = result.settings.sources.map(\.configuration.address.name)
        #expect(names == ["udp 127.0.0.1:1", "unix a", "stdin"] && result.settings.sinks.count == 1)
    }

    /// Findings name the file that the value is from.
    @Test func placesAreOfTheRightFile() {
        let result = load([
            "kymo.yaml": "include: [a.yaml, b.yaml]\nlanes: 0\n", "a.yaml": "# one\nwindow: soon\nwindw: 1m\n",
            "b.yaml": "sources:\n  - udp: x\n  - {}\nmappings: [a, a]\n",
        ])
        let places = result.messages.map { $0.split(separator: " ")[0] }
        #expect(
            places == [
                "a.yaml:2:9:", "a.yaml:3:1:", "b.yaml:2:10:", "b.yaml:3:5:", "b.yaml:4:15:", "kymo.yaml:2:8:",
            ])
    }

    /// Two files beside each other do not decide which one is read last.
    @Test func aKeyOfTwoFilesIsAnError() {
        let files = [
            "kymo.yaml": "include: [a.yaml, b.yaml]\n", "a.yaml": "window: 1m\nlanes: 2\n",
            "b.yaml": "shards: 2\noutput: {to: x}\nlanes: 3\n",
        ]
        #expect(
            load(files).messages == [
                "b.yaml:3:8: error: lanes: it is given in a.yaml:2:8, too; keep one of them, or state it in kymo.yaml, "
                    + "which overrides both"
            ])
        let overridden = load(files.merging(["kymo.yaml": "include: [a.yaml, b.yaml]\nlanes: 4\n"]) { $1 })
        #expect(overridden.messages == [] && overridden.settings.lanes == 4)
    }

    @Test(arguments: [
        (
            "include: none.yaml",
            "1:10: error: include: none.yaml cannot be read: No such file or directory; name a file that is there"
        ),
        ("include: conf.d", "1:10: error: include: conf.d is a folder; name its files, such as conf.d/*.yaml"),
        (
            "include: [a.yaml, ./a.yaml]",
            "1:19: error: include: ./a.yaml is included in kymo.yaml:1:11 already; include it once"
        ),
        ("include: [a.yaml, a.yaml]", "1:19: error: include: 'a.yaml' is named twice; remove one"),
        ("include: []", "1:10: error: include: the list is empty; name at least one, or remove the key"),
        (
            "include: {a: b}",
            "1:10: error: include: found keys and values; write a file, or pattern of files such as conf.d/*.yaml, or a "
                + "list of them"
        ),
        (
            "include: kymo.yaml",
            "1:10: error: include: a file includes itself: kymo.yaml → kymo.yaml; remove one of these includes"
        ),
        ("include: 'x/*.yaml'", "1:10: warning: include: no file matches 'x/*.yaml'; add one, or remove the pattern"),
        (
            "output:\n  include: a.yaml",
            "2:3: error: unknown key 'output.include'; write it at the left margin: a section includes nothing"
        ),
    ])
    func problems(file: String, message: String) {
        let result = load(["kymo.yaml": file, "a.yaml": "lanes: 2\n", "conf.d/b.yaml": ""])
        #expect(result.messages == ["kymo.yaml:\(message)"])
    }

    /// Keys that name mappings replace each other, so that two files of one rank contradict each other by them.
    @Test(arguments: ["mappings: wristband\n", "deviceMapping: d.json\nfhirMapping: f.json\n"])
    func mappingsOfTwoFilesAreAnError(second: String) {
        let files = ["kymo.yaml": "include: [a.yaml, b.yaml]\n", "a.yaml": "mappings: reading\n", "b.yaml": second]
        let found = load(files).messages
        #expect(
            !found.isEmpty && found.allSatisfy { $0.contains("error: ") && $0.contains("it is given in a.yaml:1:11") })
        let overridden = load(files.merging(["kymo.yaml": "include: [a.yaml, b.yaml]\nmappings: thermometer\n"]) { $1 })
        #expect(overridden.messages == [] && overridden.settings.mappings == ["thermometer"])
        let alone = load(files.merging(["a.yaml": "lanes: 2\n"]) { $1 })
        #expect(alone.messages == [])
    }

    @Test func circlesEnd() {
        let result = load([
            "kymo.yaml": "include: a.yaml", "a.yaml": "lanes: 2\ninclude: b.yaml", "b.yaml": "include: [a.yaml]",
        ])
        #expect(
            result.messages == [
                "b.yaml:1:11: error: include: a file includes itself: a.yaml → b.yaml → a.yaml; remove one of these "
                    + "includes"
            ])
    }
}
