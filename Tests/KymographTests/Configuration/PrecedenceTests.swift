import Kymograph
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Which layer wins.
@Suite struct PrecedenceTests {
    private static let minute: Int64 = 60_000_000_000

    @Test func withoutInputTheDefaultsHold() {
        let result = ConfigurationLoader.load(ConfigurationInput())
        #expect(result.diagnostics.isEmpty)
        #expect(result.settings.window == 5 * Self.minute)
        #expect(result.settings.sources.isEmpty)
        #expect(
            result.settings.listeningSources.map(\.configuration.address.name) == [
                "udp 127.0.0.1:5757", "unix ./kymo.sock",
            ])
    }

    /// All eight combinations of layers that speak.
    @Test(arguments: 0..<8) func theStrongestLayerThatSpeaksWins(layers: Int) {
        let (file, environment, flag) = (layers & 1 != 0, layers & 2 != 0, layers & 4 != 0)
        let result = load(
            file ? "window: 2m" : "", environment: environment ? ["KYMO_WINDOW": "3m"] : [:],
            flags: flag ? [("window", "--window", "4m")] : [])
        let expected: Int64 = flag ? 4 : environment ? 3 : file ? 2 : 5
        #expect(result.settings.window == expected * Self.minute)
        #expect(result.diagnostics.isEmpty)
    }

    @Test func eachKeyIsDecidedAlone() {
        let result = load(
            "output:\n  format: ndjson\n  bundle: batch\n", environment: ["KYMO_OUTPUT_BUNDLE": "transaction"],
            flags: [("output.to", "--out", "here")])
        #expect(result.settings.output.format == .ndjson)
        #expect(result.settings.output.bundleType == .transaction)
        #expect(result.settings.destination == .directory("here"))
    }

    @Test func mappingsAreReplacedAsAList() {
        let result = load(
            "mappings: [a, b, c]", environment: ["KYMO_MAPPINGS": "d, e"],
            flags: [("mappings", "--mapping", "f"), ("mappings", "--mapping", "./x,y")])
        #expect(result.settings.mappings == ["f", "./x,y"])
        #expect(result.settings.origins["mappings[2]"] == nil)
        #expect(load("mappings: [a, b]", environment: ["KYMO_MAPPINGS": "d, e"]).settings.mappings == ["d", "e"])
        #expect(load("mappings: one").settings.mappings == ["one"])
    }

    @Test func sourcesAreReplacedAsAWhole() {
        let file = "sources:\n- stdin: true\n"
        let environment = ["KYMO_UDP": "127.0.0.1:1,[::1]:2", "KYMO_UNIX": "./a.sock"]
        func names(_ result: (settings: PipelineSettings, diagnostics: [Diagnostic])) -> [String] {
            result.settings.sources.map(\.configuration.address.name)
        }
        #expect(names(load(file)) == ["stdin"])
        #expect(names(load(file, environment: environment)) == ["udp 127.0.0.1:1", "udp [::1]:2", "unix ./a.sock"])
        let flag = PipelineSettings.Source(.unixDatagram(path: "./b.sock"))
        #expect(names(load(file, environment: environment, flagSources: [flag])) == ["unixgram ./b.sock"])
    }

    @Test func anErrorInAnOverriddenLayerIsReported() {
        let result = load("window: soon", flags: [("window", "--window", "1m")])
        #expect(result.settings.window == Self.minute)
        #expect(result.diagnostics.count == 1)
    }

    @Test func anEmptyVariableIsNotSet() {
        #expect(load("window: 2m", environment: ["KYMO_WINDOW": ""]).settings.window == 2 * Self.minute)
    }

    @Test func emptyFilesAndSectionsAreFine() {
        for file in ["", "# nothing\n", "---\n", "output:\n", "output:\n  systems:\nlimits: {}\n"] {
            #expect(messages(file) == [], "\(file)")
        }
    }

    /// Whatever order the keys of a file are in, and whether it is YAML or JSON, it says the same.
    @Test(arguments: Trials.seeds(4)) func orderAndFormDoNotMatter(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let keys = [
            ("window", "7m"), ("lateness", "1s"), ("lanes", "3"), ("ringSlots", "512"), ("drain", "0s"),
            ("deadLetter", "./dead"),
        ].shuffled(using: &generator)
        let yaml = keys.map { "\($0): \($1)\n" }.joined()
        let json = "{\n" + keys.map { "\t\"\($0)\": \"\($1)\"" }.joined(separator: ",\n") + "\n}"
        for file in [yaml, json] {
            let result = load(file)
            #expect(result.diagnostics.isEmpty, "seed \(seed)")
            #expect(result.settings.window == 7 * Self.minute && result.settings.windows.lateness == 1_000_000_000)
            #expect(result.settings.lanes == 3 && result.settings.ringSlots == 512)
            #expect(result.settings.drainLimit == 0 && result.settings.deadLetter == "./dead")
        }
    }
}
