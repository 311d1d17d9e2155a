package import KymographCore

/// Which template a payload that no template matched was probably meant for.
package enum NearestTemplate {
    /// What each text begins with.
    package static let prefix = "nearest template: "

    /// What is found for a payload.
    package enum Finding {
        /// A template matches each of its documents; the first one that does.
        case matches(String)
        /// Of a document that none matches, the nearest.
        case nearest(String)
    }

    /// The template of those numbered `templates` that matches the payload, else the one whose match expression
    /// mentions most of what the payload has, and what of its expression fails; nil when none mentions anything that is
    /// there, or the payload cannot be read.
    package static func find(
        _ set: MappingSet, templates: [Int], payload: [UInt8], context: SourceContext, received: Instant
    ) -> Finding? {
        var explainer = MappingExplainer(set, templates: templates, tellsOutcomes: false)
        let storage = PaddedBytes(copying: payload)
        var search = Search()
        do throws(ScanFailure) {
            try explainer.explain(storage.view, context: context, received: received) { search.note($0) }
        } catch {
            return nil
        }
        return search.finding
    }

    /// Goes through what each template makes of each document.
    private struct Search {
        /// Of each document, the first template that matches it.
        private var matching: [Int: TemplateExplanation] = [:]
        /// Of each document, the nearest of those that do not, and of those that mention nothing, any.
        private var nearest: [Int: TemplateExplanation] = [:]

        mutating func note(_ template: TemplateExplanation) {
            let document = template.document
            if template.matchCount > 0 {
                if matching[document] == nil { matching[document] = template }
            } else if nearest[document].map({ template.nearness > $0.nearness }) ?? true {
                nearest[document] = template
            }
        }

        var finding: Finding? {
            let open = nearest.filter { matching[$0.key] == nil }.min { $0.key < $1.key }?.value
            if let open { return open.nearness > 0 ? .nearest(text(of: open)) : nil }
            return matching.min { $0.key < $1.key }.map { .matches(place(of: $0.value)) }
        }
    }

    /// The same of templates that were explained; nil when one of them has matched.
    package static func text(among templates: [TemplateExplanation]) -> String? {
        guard let best = templates.map(\.nearness).max(), best > 0, best < .max else { return nil }
        return templates.first { $0.nearness == best }.map(text)
    }

    private static func place(of template: TemplateExplanation) -> String {
        "mapping \(template.mapping), type \(template.typeName), line \(template.line)"
    }

    private static func text(of template: TemplateExplanation) -> String {
        let place = place(of: template)
        let expression = "typeMatchExpression \(template.matchExpression)"
        if let failure = template.failure { return "\(prefix)\(place): \(expression) \(failure)" }
        if let meant = template.meant { return "\(prefix)\(place): \(expression): did you mean '\(meant)'?" }
        let obstacles = template.obstacles.map { "\($0.name): \($0.result)" }
        return "\(prefix)\(place): \(expression)" + (obstacles.isEmpty ? "" : ": \(obstacles.joined(separator: ", "))")
    }
}
