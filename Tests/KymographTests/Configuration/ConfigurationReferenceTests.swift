import Foundation
import Kymograph
import Testing

/// `docs/configuration.md` says what the loader does.
@Suite struct ConfigurationReferenceTests {
    private static let page: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let bytes = FileManager.default.contents(atPath: root.appending(path: "docs/configuration.md").path)
        return String(decoding: bytes ?? Data(), as: UTF8.self)
    }()

    /// The complete example.
    private static var example: String {
        let parts = page.components(separatedBy: "```yaml\n")
        return parts.count > 1 ? parts[1].components(separatedBy: "```")[0] : ""
    }

    @Test func listsEverySettingWithItsDefault() {
        let table = ConfigurationReference.settingsTable
        #expect(Self.page.contains(table), "replace the table of settings by:\n\(table)")
    }

    @Test func listsEveryKeyOfASource() {
        let table = ConfigurationReference.sourcesTable
        #expect(Self.page.contains(table), "replace the table of sources by:\n\(table)")
    }

    @Test func theExampleLoadsWithoutFinding() {
        let result = load(Self.example)
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.settings.sources.count == 6)
        #expect(result.settings.destination == .directory("/var/lib/kymo/bundles"))
        let mappings = ConfigurationLoader.checkMappings(result.settings)
        #expect(mappings.diagnostics.filter { $0.severity == .error }.map(\.text) == [])
    }

    @Test func theExampleNamesEveryKey() {
        let rows = ConfigurationReference.settingsTable.split(separator: "\n").dropFirst(2)
        let origins = load(Self.example).settings.origins
        for row in rows {
            let key = String(row.split(separator: "`")[1])
            #expect(origins[key] != nil, "the example does not name \(key)")
        }
    }

    /// The messages that the page shows are those of the program.
    @Test func theMessagesShownAreReal() {
        let file = "lateness: 30s\n\nwindw: 5m\n\n\noutput:\n   format: bundel\n"
        let result = load(file, environment: ["KYMO_LANES": "0"])
        for diagnostic in result.diagnostics {
            #expect(Self.page.contains("    \(diagnostic.text)\n"), "the page lacks \(diagnostic.text)")
        }
        #expect(result.diagnostics.count == 3)
    }
}
