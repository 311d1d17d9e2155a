import CommandSupport
import Foundation
import Testing

/// The worked example at the head of docs/mapping-language.md gives what the page shows.
@Suite struct WorkedExampleTests {
    /// The section, and the fenced blocks of its list without the blanks before them.
    private let section: String
    private let blocks: [(kind: String, text: String)]

    init() throws {
        let page = Files.text("\(SharedMaterial.package)/docs/mapping-language.md")
        let start = try #require(page.firstRange(of: "## A worked example\n"))
        let end = try #require(page[start.upperBound...].firstRange(of: "\n## "))
        section = String(page[start.upperBound..<end.lowerBound])
        blocks = section.matches(of: /(?s)\n   ```([a-z]+)\n(.*?)\n   ```/).map { match in
            let lines = match.output.2.split(separator: "\n", omittingEmptySubsequences: false)
            let text = lines.map { $0.hasPrefix("   ") ? $0.dropFirst(3) : $0 }.joined(separator: "\n")
            return (String(match.output.1), text)
        }
    }

    /// The first template is on the page; of the second it says what is other.
    private func device() throws -> String {
        let first = try #require(blocks.first { $0.kind == "json" }).text
        let words = try #require(
            section.firstMatch(of: /The second has `(\w+)`, `"(.*?)"` and the value `(\w+)` from `(\S+?)`\./))
        let changes = [
            ("oxygenSaturation", words.output.1), ("$..[?(@spo2)]", words.output.2), ("percent", words.output.3),
            ("$.spo2", words.output.4),
        ]
        let second = changes.reduce(first) { $0.replacing($1.0, with: $1.1) }
        return #"{"templateType": "CollectionContent", "template": [\#(first), \#(second)]}"#
    }

    /// Those of `wristband` that the page names.
    private func fhir() throws -> Data {
        let file = Data(ExampleFiles.mappingFile("wristband", "fhir.json").utf8)
        var all = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
        let templates = try #require(all["template"] as? [[String: Any]])
        let named = templates.filter { entry in
            let name = (entry["template"] as? [String: Any])?["typeName"] as? String ?? ""
            return section.contains("`\(name)`")
        }
        #expect(named.count == 2)
        all["template"] = named
        return try JSONSerialization.data(withJSONObject: all)
    }

    @Test func givesWhatThePageShows() throws {
        let folder = TemporaryFolder()
        let message = try #require(section.firstMatch(of: /sends `({.*?})`/)).output.1
        folder.write("message.json", "\(message)\n")
        folder.write("oximeter/device.json", try device())
        folder.write("oximeter/fhir.json", String(decoding: try fhir(), as: UTF8.self))
        let command = try #require(section.firstMatch(of: /`kymo (map --mapping [^`]*)`/)).output.1
        let done = try Kymo.run(command.split(separator: " ").map(String.init), directory: folder.path)
        #expect(done.end == .exit(0), "\(done.error)")
        let shown = blocks.filter { $0.kind == "text" }.map {
            ShownOutput(lines: $0.text.components(separatedBy: "\n"))
        }
        #expect(shown.count == 2)
        #expect(shown.first?.matches(done.error) == true, "\(done.error)")
        #expect(shown.last?.matches(done.text) == true, "\(done.text)")
        let checked = try Kymo.run(["check", "./oximeter/"], directory: folder.path)
        #expect(checked.end == .exit(0) && !checked.error.contains("warning: "), "\(checked.error)")
    }
}
