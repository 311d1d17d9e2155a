import Kymograph
import KymographCore
import KymographTemplates

/// Tells what each template made of a payload: on standard error, or as a part of the document that is written.
struct Explanation {
    /// Whether it is a part of the document.
    let isJSON: Bool
    private let mappings: [MappingFiles]
    private let set: MappingSet
    private let templates: [Int]
    private let context: SourceContext
    /// Name of the file of device templates of each mapping, without its folder.
    private let files: [String: String]

    init(_ set: MappingSet, _ mappings: [MappingFiles], _ context: SourceContext, isJSON: Bool) {
        self.set = set
        self.isJSON = isJSON
        self.mappings = mappings
        self.context = context
        templates = set.templates(of: mappings.map(\.name))
        files = mappings.reduce(into: [:]) { files, mapping in
            files[mapping.name] = mapping.deviceFile.split(separator: "/").last.map(String.init)
        }
    }

    /// What each template made of `payload`, for programs.
    func explain(_ payload: [UInt8], received: Instant) -> PayloadExplanation {
        PayloadExplanation(payload: payload, set: set, mappings: mappings, context: context, received: received)
    }

    /// Prints what each template made of `payload`.
    func write(_ payload: [UInt8], received: Instant) {
        var explainer = MappingExplainer(set, templates: templates)
        let storage = PaddedBytes(copying: payload)
        var found: [TemplateExplanation] = []
        do throws(ScanFailure) {
            try explainer.explain(storage.view, context: context, received: received) { template in
                if let last = found.last, last.offset != template.offset || last.object != template.object {
                    write(found)
                    found = []
                    if last.offset != template.offset {
                        StandardError.writeLine("value at byte \(template.offset):")
                    }
                }
                found.append(template)
            }
            write(found)
        } catch {
            write(found)
            StandardError.writeLine("the payload is refused: \(error.reason.name) at byte \(error.offset)")
        }
    }

    /// Prints what rules did.
    func write(_ steps: [RuleStep]) {
        for step in steps { StandardError.write("rule \(step.rule): \(step.text)\n") }
    }

    /// Prints which values Observations lack, and why.
    func write(_ withheld: [PayloadPreview.Withheld]) {
        for one in withheld {
            StandardError.writeLine(
                "Observation of \(one.type): '\(one.value)' is withheld: \(PayloadPreview.Withheld.explanation)")
        }
    }

    /// Writes what the templates made of one value: those that match, then those nearest to it.
    private func write(_ templates: [TemplateExplanation]) {
        if let decoded = templates.first?.object { StandardError.writeLine("decoded: \(decoded)") }
        // The sort keeps the order of those that are equally near.
        for template in templates.sorted(by: { $0.nearness > $1.nearness }) { write(template) }
    }

    private func write(_ template: TemplateExplanation) {
        let file = files[template.mapping] ?? TemplateKind.device.fileName
        StandardError.writeLine("\(template.mapping), type \(template.typeName) (\(file) line \(template.line))")
        if let failure = template.failure {
            StandardError.writeLine("  \(template.matchExpression): \(failure)")
        } else if template.matches.isEmpty {
            StandardError.writeLine("  no match for \(template.matchExpression)")
            if let meant = template.meant { StandardError.writeLine("    did you mean '\(meant)'?") }
            for field in template.missing { StandardError.writeLine("    \(field.name): \(field.result)") }
        }
        for (index, match) in template.matches.enumerated() {
            StandardError.writeLine("  match \(index + 1) of \(template.matchExpression): \(match.outcome.text)")
            for field in match.fields {
                StandardError.writeLine("    \(field.name) \(field.expression): \(field.result)")
            }
        }
    }
}
