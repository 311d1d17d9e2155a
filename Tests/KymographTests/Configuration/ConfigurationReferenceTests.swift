import CommandSupport
import Foundation
import Kymograph
import KymographTemplates
import Testing

/// `docs/configuration.md` says what the loader does.
@Suite struct ConfigurationReferenceTests {
    private static let page = read("configuration.md")

    private static func read(_ page: String) -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let bytes = FileManager.default.contents(atPath: root.appending(path: "docs/\(page)").path)
        return String(decoding: bytes ?? Data(), as: UTF8.self)
    }

    /// Where the list of peers is that the complete example names, with a token that only its owner can read.
    private static let folder: TemporaryFolder = {
        let folder = TemporaryFolder()
        let token = folder.write("token", "a-token-of-the-example\n")
        _ = unsafe chmod(token, 0o600)
        folder.write("search-peers.yaml", "peers:\n  - {name: emr, tokenFile: \(token)}\n")
        return folder
    }()

    /// The complete example.
    private static var example: String {
        let parts = page.components(separatedBy: "```yaml\n")
        let text = parts.count > 1 ? parts[1].components(separatedBy: "```")[0] : ""
        return text.replacing("/etc/kymograph/search-peers.yaml", with: folder.file("search-peers.yaml"))
    }

    @Test func listsEverySettingWithItsDefault() {
        let table = ConfigurationReference.settingsTable
        #expect(Self.page.contains(table), "replace the table of settings by:\n\(table)")
    }

    @Test func listsEveryKeyOfASource() {
        let table = ConfigurationReference.sourcesTable
        #expect(Self.page.contains(table), "replace the table of sources by:\n\(table)")
    }

    @Test func listsEveryKeyOfASink() {
        let table = ConfigurationReference.sinksTable
        #expect(Self.page.contains(table), "replace the table of sinks by:\n\(table)")
    }

    @Test func theExampleOfSinksLoadsWithoutFinding() throws {
        let parts = Self.page.components(separatedBy: "```yaml\n")
        let example = try #require(parts.map { $0.components(separatedBy: "```")[0] }.first { $0.contains("\nsinks:") })
        let result = load(example)
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.settings.outgoingSinks.count == 4)
    }

    /// What the pages about servers call a setting can be set.
    @Test(arguments: ["delivery.md", "server-access.md"]) func serverPagesNameSettingsThatAre(page: String) {
        let rows = ConfigurationReference.settingsTable.split(separator: "\n").dropFirst(2)
        let keys = Set(rows.map { String($0.split(separator: "`")[1]) })
        let tables = Self.read(page).components(separatedBy: "\n\n").filter { $0.hasPrefix("| setting |") }
        let named = tables.flatMap { $0.split(separator: "\n").dropFirst(2) }.flatMap { row in
            let words = row.split(separator: "|")[0].split(separator: "`", omittingEmptySubsequences: false)
            return words.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
        #expect(named.count > 6 && Set(named).subtracting(keys).isEmpty, "\(Set(named).subtracting(keys))")
    }

    @Test func theExampleLoadsWithoutFinding() {
        let result = load(Self.example)
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.settings.sources.count == 9)
        #expect(result.settings.destination == .directory("/var/lib/kymo/bundles"))
        let mappings = ConfigurationLoader.checkMappings(result.settings)
        #expect(mappings.diagnostics.filter { $0.severity == .error }.map(\.text) == [])
    }

    @Test func aKeyHasOneName() {
        let result = load("encryption: {keyFile: key, credential: key}\n")
        #expect(
            result.diagnostics.map(\.text).contains {
                $0.contains(":1:40: error: ") && $0.contains("it is given besides encryption.keyFile")
            },
            "\(result.diagnostics.map(\.text))")
    }

    @Test func theExampleNamesEveryKey() {
        let rows = ConfigurationReference.settingsTable.split(separator: "\n").dropFirst(2)
        let origins = load(Self.example).settings.origins
        for row in rows {
            let key = String(row.split(separator: "`")[1])
            // With both names of its key, a configuration is refused.
            let named = key == "encryption.credential" ? "encryption.keyFile" : key
            #expect(origins[named] != nil, "the example does not name \(key)")
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
