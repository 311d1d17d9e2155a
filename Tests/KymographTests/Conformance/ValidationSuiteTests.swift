import Foundation
import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// The reference system's own unit tests of its validator (mapping dialect, section 9), run here. No case differs.
@Suite struct ValidationSuiteTests {
    @Test(.enabled(if: ValidationCase.root != nil, "needs the shared folder; set KYMO_SHARED"))
    func findsWhatTheReferenceFinds() throws {
        let cases = try ValidationCase.load(from: try #require(ValidationCase.root))
        for subject in cases {
            let differences = try ValidationCheck.differences(subject)
            #expect(differences.isEmpty, "\(subject.id): \(differences.joined(separator: "; "))")
        }
        print("conformance of validation: \(cases.count) run, none differs")
        #expect(cases.count == 11)
    }
}

/// Runs one case and says how the outcome differs; empty when it does not.
private struct ValidationCheck {
    let subject: ValidationCase
    let result: (set: MappingSet?, diagnostics: [Diagnostic])
    var differences: [String] = []

    static func differences(_ subject: ValidationCase) throws -> [String] {
        var check = ValidationCheck(subject: subject, result: subject.loaded())
        guard subject.device != nil || subject.fhir != nil else { return check.refusal() }
        let issues = (subject.expected["template_issues"] ?? subject.expected["template_errors"]) as? [[String: Any]]
        check.compareIssues(issues ?? [], with: check.templateFindings)
        check.compareEvents(subject.expected["device_results"] as? [[String: Any]] ?? [])
        return check.differences
    }

    private mutating func expect(_ condition: Bool, _ what: String) {
        if !condition { differences.append(what) }
    }

    /// A mapping without any file is a folder that has none.
    private func refusal() -> [String] {
        let folder = Scratch()
        do throws(MappingFilesError) {
            _ = try MappingFiles.load(directory: folder.path)
            return ["an error expected"]
        } catch {
            if case .missingFile = error { return [] }
            return ["an error that names the missing file expected, found \(error)"]
        }
    }

    // MARK: Mapping files

    /// Errors, and those warnings that the reference's validator has; ours knows more.
    private var templateFindings: [Diagnostic] {
        let warnings = [Finding.noFHIRTemplate.rawValue, Finding.unusedValue.rawValue]
        return result.diagnostics.filter { $0.severity == .error || warnings.contains($0.code) }
    }

    private mutating func compareIssues(_ expected: [[String: Any]], with found: [Diagnostic]) {
        expect(found.count == expected.count, "\(expected.count) findings expected, found \(found.map(\.text))")
        for issue in expected {
            let isThere = found.contains { matches($0, issue) }
            expect(isThere, "\(issue) expected, found \(found.map(\.text))")
        }
    }

    private func matches(_ finding: Diagnostic, _ issue: [String: Any]) -> Bool {
        let level = finding.severity == .error ? "ERROR" : "WARN"
        let line = issue["line"] as? Int ?? finding.position.line
        let category = issue["category"] as? String
        let file = category == "FHIRTRANSFORMATION" ? "fhir.json" : "device.json"
        // A finding about both files is, with us, at the place in the device file that has no partner.
        let isPlaced = level == "WARN" || category == nil || finding.file == file
        guard level == issue["level"] as? String, line == finding.position.line, isPlaced else { return false }
        let words = (issue["message_contains"] ?? issue["message_starts"]) as? String ?? ""
        return finding.message.contains(words) || says(finding, words)
    }

    /// Whether our words say what theirs do: the same names are in both, and the code tells what is wrong.
    private func says(_ finding: Diagnostic, _ words: String) -> Bool {
        let codes = [
            "No matching Fhir Template": Finding.noFHIRTemplate, "is not represented within": .unusedValue,
            "No measurements were produced": .eventUnmatched, "Unable to extract required value": .eventRejected,
            "No Fhir Template exists": .eventRejected,
        ]
        guard let code = codes.first(where: { words.contains($0.key) })?.value, finding.code == code.rawValue else {
            return false
        }
        let names = words.matches(of: /\[(\w+)\]|using (\S+)/).map { $0.1 ?? $0.2 ?? "" }
        return names.allSatisfy { finding.message.lowercased().contains($0.lowercased()) }
    }

    // MARK: Events

    private mutating func compareEvents(_ expected: [[String: Any]]) {
        guard let set = result.set else { return expect(expected.isEmpty, "the mapping does not load") }
        let check = EventCheck(
            set: set, templates: set.templates(of: ["m"]), context: SourceContext(),
            received: Instant(seconds: 1_700_000_000))
        let lines = Array(subject.events.map { $0 + [0x0A] }.joined())
        let outcomes = check.outcomes(of: MappingFile(name: "events", bytes: lines))
        guard !subject.isAggregated else {
            return compareSummary(EventCheck.summary(of: outcomes), expected)
        }
        expect(outcomes.count == expected.count, "\(expected.count) events expected, found \(outcomes.count)")
        for (outcome, result) in zip(outcomes, expected) { compare(outcome, result) }
    }

    private mutating func compareSummary(_ findings: [Diagnostic], _ expected: [[String: Any]]) {
        compareIssues(expected.flatMap { $0["issues"] as? [[String: Any]] ?? [] }.map(eventIssue), with: findings)
        for result in expected {
            let count = result["aggregated_count"] as? Int ?? 0
            expect(
                findings.contains { $0.message.contains("(\(count) times, first here)") },
                "\(count) times expected, found \(findings.map(\.text))")
        }
    }

    /// An event's finding is at the event, not in a mapping file.
    private func eventIssue(_ issue: [String: Any]) -> [String: Any] {
        var issue = issue
        issue["category"] = nil
        return issue
    }

    private mutating func compare(_ outcome: EventCheck.Outcome, _ expected: [String: Any]) {
        let issues = (expected["issues"] as? [[String: Any]] ?? []).map(eventIssue)
        for issue in issues {
            let isThere = outcome.findings.contains { says($0, issue["message_contains"] as? String ?? "") }
            expect(isThere, "\(issue) expected, found \(outcome.findings.map(\.text))")
        }
        expect(outcome.findings.count == issues.count, "found \(outcome.findings.map(\.text))")
        // A measurement without FHIR template is rejected here with that reason, and counted there (quirk 25).
        let orphans = outcome.preview.rejected.count { $0.reason == .noFHIRTemplate }
        let measurements = expected["measurements"] as? [[String: Any]]
        if let count = expected["measurement_count"] as? Int ?? measurements?.count {
            expect(outcome.preview.measurements.count + orphans == count, "\(count) measurements expected")
        }
        for (found, wanted) in zip(outcome.preview.measurements, measurements ?? []) { compare(found, wanted) }
        let observations = expected["observations"] as? [[String: Any]] ?? []
        expect(outcome.preview.observations.count == observations.count, "\(observations.count) Observations expected")
        for (found, wanted) in zip(outcome.preview.observations, observations) { compareObservation(found, wanted) }
    }

    private mutating func compare(_ measurement: [UInt8], _ expected: [String: Any]) {
        let found = object(measurement)
        for name in ["Type", "DeviceId", "PatientId", "EncounterId", "CorrelationId"] {
            expect(found[name] as? String == expected[name] as? String, "\(name) of \(expected) expected")
        }
        let properties = found["Properties"] as? [[String: String]]
        expect(properties == expected["Properties"] as? [[String: String]], "found \(properties ?? [])")
        // The same instant, without the zero at the end.
        let time = (expected["OccurrenceTimeUtc"] as? String ?? "").replacing("0Z", with: "Z")
        expect(found["OccurrenceTimeUtc"] as? String == time, "found \(found["OccurrenceTimeUtc"] ?? "")")
    }

    private mutating func compareObservation(_ observation: [UInt8], _ expected: [String: Any]) {
        let found = object(observation)
        let wanted = expected["component"] as? [[String: String]] ?? []
        // What the blood pressure profile demands and nobody measured is stated as absent here.
        let components = (found["component"] as? [[String: Any]] ?? []).filter { $0["dataAbsentReason"] == nil }
        expect(components.count == wanted.count, "\(wanted.count) components expected, found \(components.count)")
        for (component, wanted) in zip(components, wanted) {
            let text = String(describing: component)
            let data = (component["valueSampledData"] as? [String: Any])?["data"] as? String
            expect(data == wanted["data_contains"], "\(wanted) expected, found \(text)")
            expect(text.lowercased().contains(wanted["code.text"] ?? "-"), "\(wanted) expected, found \(text)")
        }
    }

    private func object(_ bytes: [UInt8]) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]) ?? [:]
    }
}
