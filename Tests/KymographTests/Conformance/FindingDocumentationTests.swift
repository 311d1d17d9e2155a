import Foundation
import KymographCore
import KymographTemplates
import Testing

/// Every code of a finding is explained in the documentation, and nothing else is.
@Suite struct FindingDocumentationTests {
    @Test func theTableNamesEveryCode() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/mapping-language.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(
            page.components(separatedBy: "\n## ").first { $0.hasPrefix("What kymo check tells") })
        let cells = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap {
            $0.split(separator: "|").first
        }
        let named = cells.flatMap { $0.matches(of: /`([a-z0-9-]+)`/).map { String($0.1) } }
        #expect(named.sorted() == Finding.allCases.map(\.rawValue).sorted())
    }
}
