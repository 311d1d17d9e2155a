import Foundation
import KymographCore
import Testing

/// The reference system's own unit tests of device templates, run here. Every difference is listed, with its reason, in
/// `expected-differences.json`, and every listed one must occur.
@Suite struct ConformanceSuiteTests {
    /// Quirks of the mapping dialect (section 10) that are fixed on purpose.
    private static let fixed: Set<Int> = [
        1, 2, 3, 4, 5, 6, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 30, 32, 33,
    ]

    private struct ListedDifference: Decodable {
        var id: String
        var quirk: Int
        var reason: String
    }

    private func listed() throws -> [ListedDifference] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "expected-differences.json")
        return try JSONDecoder().decode([ListedDifference].self, from: Data(contentsOf: file))
    }

    @Test(.enabled(if: SharedFiles.root != nil, "needs the shared folder; set KYMO_SHARED"))
    func givesWhatTheReferenceGives() throws {
        let root = try #require(SharedFiles.root)
        let listed = try listed()
        var found: Set<String> = []
        var skipped: [String: Int] = [:]
        var run = 0
        for subject in try ConformanceCase.load(from: root) {
            let result = ConformanceCheck.load(subject.device)
            if let reason = subject.reasonToSkip(result.diagnostics) {
                skipped[reason, default: 0] += 1
                continue
            }
            run += 1
            let differences = ConformanceCheck.differences(subject, result)
            if differences.isEmpty { continue }
            found.insert(subject.id)
            #expect(listed.contains { $0.id == subject.id }, "\(subject.id): \(differences.joined(separator: "; "))")
        }
        print("conformance: \(run) run, \(run - found.count) as the reference, \(found.count) differ as listed")
        for (reason, count) in skipped.sorted(by: { $0.key < $1.key }) {
            print("conformance: \(count) skipped: \(reason)")
        }
        #expect(run >= 80)
        #expect(Set(listed.map(\.id)).subtracting(found).isEmpty, "listed, but as the reference")
    }

    @Test func listsOnlyDifferencesThatAreMeant() throws {
        let listed = try listed()
        #expect(Set(listed.map(\.id)).count == listed.count)
        for difference in listed {
            #expect(ConformanceSuiteTests.fixed.contains(difference.quirk), "\(difference.id)")
            #expect(difference.reason.count > 20, "\(difference.id)")
        }
    }
}
