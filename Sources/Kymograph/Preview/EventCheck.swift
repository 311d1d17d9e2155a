package import KymographCore
package import KymographTemplates

/// What mappings make of sample events, as findings: a rehearsal without sockets, for `kymo check --events`
/// (mapping dialect, section 9).
package struct EventCheck: Sendable {
    /// What became of one event.
    package struct Outcome: Sendable {
        /// Measurements and Observations that came out, and what did not.
        package var preview: PayloadPreview
        /// Errors for parts that were rejected, a warning when nothing matches.
        package var findings: [Diagnostic]
    }

    private let set: MappingSet
    private let templates: [Int]
    private let context: SourceContext
    private let received: Instant
    private let patients: PatientRules?

    /// Rehearses the templates numbered `templates` of `set`, as if a source of this context received at `received`;
    /// `patients` say whose devices are.
    package init(
        set: MappingSet, templates: [Int], context: SourceContext, received: Instant, patients: PatientRules? = nil
    ) {
        self.patients = patients
        self.set = set
        self.templates = templates
        self.context = context
        self.received = received
    }

    /// Maps every event of `file`, each on its own: a file that is one JSON document, or a message of HL7 v2, is one
    /// event, any other has one event a line, and empty lines are passed over.
    package func outcomes(of file: MappingFile) -> [Outcome] {
        if set.hasMessages(templates) { return [outcome(file.bytes, file: file.name, line: 1)] }
        var log = DiagnosticLog(file: file.name)
        if JSONNode.parse(file.bytes, log: &log) != nil { return [outcome(file.bytes, file: file.name, line: 1)] }
        let lines = file.bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            let isEmpty = line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            return isEmpty ? nil : outcome(Array(line), file: file.name, line: index + 1)
        }
    }

    /// The findings of all `outcomes`, those that say the same only once, with the place of the first and their number.
    package static func summary(of outcomes: [Outcome]) -> [Diagnostic] {
        var first: [String: Int] = [:]
        var findings: [(finding: Diagnostic, count: Int)] = []
        for finding in outcomes.flatMap(\.findings) {
            if let place = first[finding.message] {
                findings[place].count += 1
            } else {
                first[finding.message] = findings.count
                findings.append((finding, 1))
            }
        }
        return findings.map { finding, count in
            guard count > 1 else { return finding }
            var all = finding
            all.message += " (\(count) times, first here)"
            return all
        }
    }

    private static func advice(for reason: Rejection) -> String {
        let usual = "kymo map --explain shows what each template makes of it"
        return reason == .noDevice ? "\(usual), and --default-device names a device for all that name none" : usual
    }

    private func outcome(_ event: [UInt8], file: String, line: Int) -> Outcome {
        let preview = PayloadPreview(
            payload: event, set: set, templates: templates, context: context, received: received, patients: patients)
        let position = SourcePosition(offset: 0, line: line, column: 1)
        let findings = preview.rejected.map { rejected in
            let isUnmatched = rejected.reason == .noTemplate
            let place = rejected.detail.isEmpty ? "" : ": \(rejected.detail)"
            return Diagnostic(
                isUnmatched ? .warning : .error, file: file, position: position,
                message: isUnmatched
                    ? "no template matches this event, so it gives no measurement"
                    : "the event is rejected as \(rejected.reason.name)\(place)",
                advice: Self.advice(for: rejected.reason),
                code: (isUnmatched ? Finding.eventUnmatched : .eventRejected).rawValue)
        }
        return Outcome(preview: preview, findings: findings)
    }
}
