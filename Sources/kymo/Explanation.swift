import Kymograph
import KymographCore
import KymographTemplates

/// Prints what each template made of a payload.
struct Explanation {
    private let set: MappingSet
    private let templates: [Int]
    private let context: SourceContext
    /// Name of the file of device templates of each mapping, without its folder.
    private let files: [String: String]

    init(_ set: MappingSet, _ mappings: [MappingFiles], _ context: SourceContext) {
        self.set = set
        self.context = context
        templates = set.templates(of: mappings.map(\.name))
        files = mappings.reduce(into: [:]) { files, mapping in
            files[mapping.name] = mapping.deviceFile.split(separator: "/").last.map(String.init)
        }
    }

    func write(_ payload: [UInt8]) {
        var explainer = MappingExplainer(set, templates: templates)
        let storage = PaddedBytes(copying: payload)
        do throws(ScanFailure) {
            var object: String?
            var offset: Int?
            try explainer.explain(storage.view, context: context, received: WallClock.now()) { template in
                if let last = offset, last != template.offset {
                    StandardError.write("value at byte \(template.offset):\n")
                }
                offset = template.offset
                if let decoded = template.object, decoded != object { StandardError.write("decoded: \(decoded)\n") }
                object = template.object
                write(template)
            }
        } catch {
            StandardError.write("the payload is refused: \(error.reason.name) at byte \(error.offset)\n")
        }
    }

    private func write(_ template: TemplateExplanation) {
        let file = files[template.mapping] ?? TemplateKind.device.fileName
        StandardError.write("\(template.mapping), type \(template.typeName) (\(file) line \(template.line))\n")
        if let failure = template.failure {
            StandardError.write("  \(template.matchExpression): \(failure)\n")
        } else if template.matches.isEmpty {
            StandardError.write("  no match for \(template.matchExpression)\n")
            if let meant = template.meant { StandardError.write("    did you mean '\(meant)'?\n") }
            for field in template.missing { StandardError.write("    \(field.name): \(field.result)\n") }
        }
        for (index, match) in template.matches.enumerated() {
            StandardError.write("  match \(index + 1) of \(template.matchExpression): \(match.outcome)\n")
            for field in match.fields {
                StandardError.write("    \(field.name) \(field.expression): \(field.result)\n")
            }
        }
    }
}
