import Foundation
import KymographCore
import KymographTemplates
import Testing

/// The reference system's own unit tests of device templates, run here. Every difference is listed, with its reason, in
/// `expected-differences.json`, and every listed one must occur.
@Suite struct ConformanceSuiteTests {
    /// Quirks of the mapping dialect (section 10) that are fixed on purpose.
    private static let fixed: Set<Int> = [
        1, 2, 3, 4, 5, 6, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 30, 32, 33,
    ]

    @Test(
        .enabled(if: SharedFiles.root != nil, "needs the shared folder; set KYMO_SHARED"),
        arguments: Compatibility.allCases)
    func givesWhatTheReferenceGives(_ compatibility: Compatibility) throws {
        let root = try #require(SharedFiles.root)
        let listed = try ListedDifference.load("expected-differences.json").filter {
            $0.compatibility == compatibility.rawValue
        }
        var found: Set<String> = []
        var run = 0
        for subject in try ConformanceCase.load(from: root) {
            run += 1
            let differences = ConformanceCheck.differences(subject, compatibility)
            if differences.isEmpty { continue }
            found.insert(subject.id)
            #expect(listed.contains { $0.id == subject.id }, "\(subject.id): \(differences.joined(separator: "; "))")
        }
        print(
            "conformance (\(compatibility.rawValue)): \(run) run, \(run - found.count) as the reference, "
                + "\(found.count) differ as listed")
        #expect(run >= 170)
        #expect(Set(listed.map(\.id)).subtracting(found).isEmpty, "listed, but as the reference")
    }

    @Test func listsOnlyDifferencesThatAreMeant() throws {
        let listed = try ListedDifference.load("expected-differences.json")
        #expect(Set(listed.map { "\($0.id) \($0.compatibility)" }).count == listed.count)
        for difference in listed {
            // A case that is judged wrong differs in both modes; all others are fixes of the default.
            if let quirk = difference.quirk {
                #expect(ConformanceSuiteTests.fixed.contains(quirk), "\(difference.id)")
                #expect(difference.compatibility == "none", "\(difference.id)")
            } else {
                #expect(listed.filter { $0.id == difference.id }.count == 2, "\(difference.id)")
            }
            #expect(difference.reason.count > 20, "\(difference.id)")
        }
    }
}
