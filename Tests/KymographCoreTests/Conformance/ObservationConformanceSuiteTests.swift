import Foundation
import KymographCore
import Testing

/// The reference system's own unit tests of series, of grouping and of Observations without a server, run here in both
/// modes. Differences are listed with their reasons in `observation-expected-differences.json`.
@Suite struct ObservationConformanceSuiteTests {
    @Test(
        .enabled(if: SharedFiles.root != nil, "needs the shared folder; set KYMO_SHARED"),
        arguments: Compatibility.allCases)
    func givesWhatTheReferenceGives(_ compatibility: Compatibility) throws {
        let root = try #require(SharedFiles.root)
        let listed = try ListedDifference.load("observation-expected-differences.json").filter {
            $0.compatibility == compatibility.rawValue
        }
        var found: Set<String> = []
        let cases = try ObservationConformanceCase.load(from: root)
        for subject in cases {
            let differences = try ObservationConformanceCheck.differences(subject, compatibility)
            if differences.isEmpty { continue }
            found.insert(subject.id)
            #expect(listed.contains { $0.id == subject.id }, "\(subject.id): \(differences.joined(separator: "; "))")
        }
        print(
            "conformance of Observations (\(compatibility.rawValue)): \(cases.count) run, "
                + "\(cases.count - found.count) as the reference, \(found.count) differ as listed")
        #expect(cases.count == 92)
        #expect(Set(listed.map(\.id)).subtracting(found).isEmpty, "listed, but as the reference")
    }

    @Test func listsEachDifferenceOnceWithAReason() throws {
        let listed = try ListedDifference.load("observation-expected-differences.json")
        #expect(Set(listed.map { "\($0.id) \($0.compatibility)" }).count == listed.count)
        #expect(listed.allSatisfy { $0.reason.count > 15 })
    }
}
