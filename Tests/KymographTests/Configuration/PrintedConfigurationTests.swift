import CommandSupport
import Foundation
import Kymograph
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// What `kymo config` prints is a configuration that gives the same settings.
@Suite struct PrintedConfigurationTests {
    /// Every example of the page.
    /// Where the list of peers is that an example names, with a token that only its owner can read.
    private static let folder: TemporaryFolder = {
        let folder = TemporaryFolder()
        let token = folder.write("token", "a-token-of-the-example\n")
        _ = unsafe chmod(token, 0o600)
        folder.write("search-peers.yaml", "peers:\n  - {name: emr, tokenFile: \(token)}\n")
        return folder
    }()

    private static let examples: [String] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let bytes = FileManager.default.contents(atPath: root.appending(path: "docs/configuration.md").path)
        let parts = String(decoding: bytes ?? Data(), as: UTF8.self).components(separatedBy: "```yaml\n").dropFirst()
        return parts.map { $0.components(separatedBy: "```")[0] }.filter { !$0.contains("include:") }.map { text in
            text.replacing("/etc/kymograph/search-peers.yaml", with: folder.file("search-peers.yaml"))
        }
    }()

    private func json(_ settings: PipelineSettings, withDefaults: Bool = true) -> String {
        String(
            decoding: EffectiveSettings(settings, withDefaults: withDefaults).json(withOrigins: false), as: UTF8.self)
    }

    private func expectRoundTrip(_ file: String, environment: [String: String] = [:]) {
        let settings = load(file, environment: environment).settings
        for withDefaults in [true, false] {
            let printed = EffectiveSettings(settings, withDefaults: withDefaults)
            for text in [printed.yaml, String(decoding: printed.json(withOrigins: false), as: UTF8.self)] {
                let again = load(text)
                #expect(again.diagnostics.map(\.text) == [], "\(text)")
                #expect(json(again.settings) == json(settings), "\(text)")
            }
        }
    }

    @Test func examplesComeBack() {
        #expect(Self.examples.count >= 2)
        let variables = ["FHIR_HOST": "x.example", "CREDENTIALS_DIRECTORY": "/run/credentials"]
        for example in Self.examples { expectRoundTrip(example, environment: variables) }
        expectRoundTrip("")
        expectRoundTrip("output: {to: ./x, bundle: collection}")
        expectRoundTrip("output: {write: conditional-create}\nsources: [{stdin: true}]")
        expectRoundTrip("server: {url: 'https://x/r4/', identity: create}\noutput: {to: none}")
    }

    /// Text that YAML would take for something else.
    @Test(arguments: Trials.seeds(8)) func anyTextComesBack(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let letters = Array(":#[]{},&*!|>'\"%@`$\\ -~?=\u{E9}\u{1F600}\u{85}\t0a/.+")
        for _ in 0..<40 {
            let count = Int.random(in: 1...8, using: &generator)
            let text = String((0..<count).map { _ in letters.randomElement(using: &generator) ?? "a" })
            let flags = [("deadLetter", "-", text), ("mappings", "-", text), ("mappings", "-", "b")]
            let settings = load("", flags: flags).settings
            let yaml = EffectiveSettings(settings, withDefaults: false).yaml
            for printed in [yaml, json(settings, withDefaults: false)] {
                let again = load(printed)
                #expect(again.settings.deadLetter == text, "seed \(seed): \(printed)")
                #expect(again.settings.mappings == [text, "b"], "seed \(seed): \(printed)")
            }
        }
    }

    @Test func originsAreNamed() {
        let settings = load(
            "window: 2m\nsources:\n  - udp: 127.0.0.1:1\n", environment: ["KYMO_LANES": "2"],
            flags: [("shards", "--shards", "3")]
        ).settings
        let text = EffectiveSettings(settings, withDefaults: false).yaml
        let lines = text.split(separator: "\n").dropFirst()
        #expect(
            Array(lines) == [
                "window: 2m # kymo.yaml:1:9", "lanes: 2 # KYMO_LANES", "shards: 3 # --shards", "sources:",
                "  - udp: 127.0.0.1:1 # kymo.yaml:3:10",
            ])
        let all = EffectiveSettings(settings, withDefaults: true)
        #expect(all.yaml.contains("\nlateness: 30s # default\n") && !all.yaml.contains("server"))
        let json = String(decoding: all.json(withOrigins: true), as: UTF8.self)
        #expect(json.contains("\"sources[0].udp\": \"kymo.yaml:3:10\"") && json.contains("\"lanes\": \"KYMO_LANES\""))
    }

    @Test func credentialsInURLsAreMasked() {
        let settings = load("server: {url: 'https://me:secret@x.example/r4?a=b@c', tokenUrl: 'http://t@y/'}").settings
        for text in [EffectiveSettings(settings, withDefaults: false).yaml, json(settings)] {
            #expect(text.contains("https://***@x.example/r4?a=b@c") && text.contains("http://***@y/"), "\(text)")
            #expect(!text.contains("secret"))
        }
        let sinks = load("sinks: [{server: 'https://me:secret@x.example/r4', identity: create}]").settings
        #expect(json(sinks).contains("https://***@x.example/r4") && !json(sinks).contains("secret"))
    }

    /// The example names every key, is accepted without finding, and changes nothing.
    @Test func theExampleIsTheDefaults() {
        let text = ConfigurationExample.yaml
        let result = load(text)
        #expect(result.diagnostics.map(\.text) == [])
        #expect(json(result.settings) == json(PipelineSettings()))
        for row in ConfigurationReference.settingsTable.split(separator: "\n").dropFirst(2) {
            let key = row.split(separator: "`")[1].split(separator: ".").last ?? ""
            #expect(text.contains(" \(key): ") || text.contains("\n\(key): "), "\(key)")
        }
        for table in [ConfigurationReference.sourcesTable, ConfigurationReference.sinksTable] {
            for row in table.split(separator: "\n").dropFirst(2) {
                let key = row.split(separator: "`")[1]
                #expect(text.contains("#     # \(key): ") || text.contains("#     \(key): "), "\(key)")
            }
        }
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }
}
