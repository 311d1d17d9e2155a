package import KymographCore

/// Which template a payload that no template matched was probably meant for.
package enum NearestTemplate {
    /// The template of those numbered `templates` whose match expression mentions most of what the payload has, and
    /// what of its expression fails; nil when none mentions anything that is there, or the payload cannot be read.
    package static func text(
        _ set: MappingSet, templates: [Int], payload: [UInt8], context: SourceContext, received: Instant
    ) -> String? {
        var explainer = MappingExplainer(set, templates: templates)
        let storage = PaddedBytes(copying: payload)
        var best: (score: Int, text: String)?
        do throws(ScanFailure) {
            try explainer.explain(storage.view, context: context, received: received) { template in
                let score = score(of: template)
                if score > best?.score ?? 0 { best = (score, text(of: template)) }
            }
        } catch {
            return nil
        }
        return best?.text
    }

    /// How many of the names that the match expression mentions are there; what has matched is no candidate.
    private static func score(of template: TemplateExplanation) -> Int {
        guard template.matches.isEmpty else { return 0 }
        return template.missing.count { $0.result != TemplateExplanation.absent }
    }

    private static func text(of template: TemplateExplanation) -> String {
        let place = "mapping \(template.mapping), type \(template.typeName), line \(template.line)"
        let expression = "typeMatchExpression \(template.matchExpression)"
        if let failure = template.failure { return "nearest template: \(place): \(expression) \(failure)" }
        if let meant = template.meant { return "nearest template: \(place): \(expression): did you mean '\(meant)'?" }
        // A name that is missing says more than one that is there with another value.
        let field = template.missing.first { $0.result == TemplateExplanation.absent } ?? template.missing.first
        let reason = field.map { ": \($0.name): \($0.result)" } ?? ""
        return "nearest template: \(place): \(expression)\(reason)"
    }
}

extension TemplateExplanation {
    /// What is said of a name that the payload does not have.
    package static let absent = "not in the payload"
}
