package import KymographCore

/// Which template a payload that no template matched was probably meant for.
package enum NearestTemplate {
    /// What each text begins with.
    package static let prefix = "nearest template: "

    /// The template of those numbered `templates` whose match expression mentions most of what the payload has, and
    /// what of its expression fails; nil when none mentions anything that is there, or the payload cannot be read.
    package static func text(
        _ set: MappingSet, templates: [Int], payload: [UInt8], context: SourceContext, received: Instant
    ) -> String? {
        var explainer = MappingExplainer(set, templates: templates, tellsOutcomes: false)
        let storage = PaddedBytes(copying: payload)
        var best: (score: Int, text: String)?
        do throws(ScanFailure) {
            try explainer.explain(storage.view, context: context, received: received) { template in
                // What has matched is no candidate.
                let score = template.matches.isEmpty ? template.nearness : 0
                if score > best?.score ?? 0 { best = (score, text(of: template)) }
            }
        } catch {
            return nil
        }
        return best?.text
    }

    /// The same of templates that were explained; nil when one of them has matched.
    package static func text(among templates: [TemplateExplanation]) -> String? {
        guard let best = templates.map(\.nearness).max(), best > 0, best < .max else { return nil }
        return templates.first { $0.nearness == best }.map(text)
    }

    private static func text(of template: TemplateExplanation) -> String {
        let place = "mapping \(template.mapping), type \(template.typeName), line \(template.line)"
        let expression = "typeMatchExpression \(template.matchExpression)"
        if let failure = template.failure { return "\(prefix)\(place): \(expression) \(failure)" }
        if let meant = template.meant { return "\(prefix)\(place): \(expression): did you mean '\(meant)'?" }
        // A name that is missing says more than one that is there with another value.
        let field = template.missing.first { $0.result == TemplateExplanation.absent } ?? template.missing.first
        let reason = field.map { ": \($0.name): \($0.result)" } ?? ""
        return "\(prefix)\(place): \(expression)\(reason)"
    }
}
