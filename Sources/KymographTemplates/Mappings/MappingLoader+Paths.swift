import KymographCore

/// What the paths of a device file's templates say against each other and against what they begin at.
extension MappingLoader {
    /// How many templates must agree on a time before another one is doubted.
    private static let agreement = 3

    /// Notes paths that begin at a bare payload where they begin at the envelope, and the other way round: they select
    /// nothing.
    func checkRoots(of templates: [DeviceTemplate], _ log: inout DiagnosticLog) {
        for template in templates {
            if template.match.path != nil, let meant = EnvelopePath.meantByMatch(template.match.text) {
                noteRoot(template.match.text, meant, "the envelope", template, &log)
            }
            let root = template.kind == .calculated ? "the envelope" : "the match"
            for expression in template.expressions where expression.path != nil {
                let text = expression.text
                guard let meant = EnvelopePath.meant(by: text, template.kind, match: template.match.text)
                else { continue }
                noteRoot(text, meant, root, template, &log)
            }
        }
    }

    private func noteRoot(
        _ text: String, _ meant: String, _ root: String, _ template: DeviceTemplate, _ log: inout DiagnosticLog
    ) {
        log.warning(
            template.position, "the expression \(text) begins at \(root), which has no such member",
            advice: "did you mean '\(meant)'?", finding: .envelopePath)
    }

    /// Notes a template that alone takes its time from another member than the templates beside it, which all agree:
    /// a copy in which the one that differs was forgotten gives times that are not comparable.
    func checkTimes(of templates: [DeviceTemplate], _ log: inout DiagnosticLog) {
        let named = templates.filter { ($0.kind == .jsonPath || $0.kind == .calculated) && !$0.retracts }
        for kind in [DeviceTemplateKind.jsonPath, .calculated] {
            let siblings = named.filter { $0.kind == kind }
            guard
                let usual = siblings.first(where: { first in
                    siblings.count { $0.timestamp?.text == first.timestamp?.text } >= siblings.count - 1
                }), siblings.count > Self.agreement,
                let other = siblings.first(where: { $0.timestamp?.text != usual.timestamp?.text })
            else { continue }
            log.warning(
                other.position,
                "the template takes its time from \(other.timestamp?.text ?? ""), and the \(siblings.count - 1) others "
                    + "of the file from \(usual.timestamp?.text ?? "")",
                advice: "take the same, unless the payloads differ in this", finding: .differentTime)
        }
    }
}
