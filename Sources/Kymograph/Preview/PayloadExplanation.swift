package import KymographCore
import KymographTemplates

/// What each template made of a payload, with the bytes that its expressions matched (docs/explain.md).
package struct PayloadExplanation: Sendable {
    /// A value of the payload, or an object that was decoded from a packet or message.
    struct Document: Sendable {
        /// Where it begins in the payload.
        var start: Int
        /// The object as JSON, in which all ranges are; nil where they are in the payload.
        var decoded: String?
        /// What each template made of it, in the order of the mappings.
        var templates: [TemplateExplanation]
    }

    private(set) var documents: [Document] = []
    /// Why and where the payload is refused; nil when all of it was read.
    private(set) var refusal: ScanFailure?
    /// The template that was probably meant, in words; nil where one has matched, or none is near.
    private(set) var nearest: String?
    /// Whether time ran out before everything was explained.
    private(set) var isCut = false
    /// Name of the file of device templates of each mapping, without its folder.
    let files: [(mapping: String, file: String)]

    /// Explains `payload`, by the templates of the mappings `files` of `set`; at `deadline` it ends.
    package init(
        payload: [UInt8], set: MappingSet, mappings: [MappingFiles], context: SourceContext, received: Instant,
        until deadline: ContinuousClock.Instant? = nil
    ) {
        files = mappings.map { ($0.name, $0.deviceFile.split(separator: "/").last.map(String.init) ?? $0.deviceFile) }
        let templates = set.templates(of: mappings.map(\.name))
        var explainer = MappingExplainer(
            set, templates: templates, mostMatches: PayloadExplanation.mostMatches, until: deadline)
        let storage = PaddedBytes(copying: payload)
        do throws(ScanFailure) {
            try explainer.explain(storage.view, context: context, received: received) { add($0) }
        } catch {
            refusal = error
        }
        isCut = explainer.isCut
        nearest = NearestTemplate.text(among: documents.flatMap(\.templates))
    }

    private mutating func add(_ template: TemplateExplanation) {
        if documents.count <= template.document {
            documents.append(Document(start: template.offset, decoded: template.object, templates: []))
        }
        documents[documents.count - 1].templates.append(template)
    }
}

extension PayloadExplanation.Document {
    /// Whether a template has matched.
    var isMatched: Bool { templates.contains { $0.matchCount > 0 } }

    /// The place of the template that was probably meant; nil where one has matched, or nothing is near.
    var nearest: Int? {
        guard !isMatched, let best = templates.map(\.nearness).max(), best > 0 else { return nil }
        return templates.firstIndex { $0.nearness == best }
    }
}
