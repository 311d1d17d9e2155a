import KymographCore
import KymographTemplates

/// Writes resources as rules leave them, for people.
struct PreviewedResources: ~Copyable {
    /// What becomes of a content.
    enum Outcome {
        case observations([UInt8])
        case resource([UInt8])
        /// No sink gets it.
        case vetoed
        /// There is nothing to write, and why.
        case skipped(Rejection)
    }

    private let rules: EntryRules
    private let decider: EntryRuleDecider?
    private let set: MappingSet
    private let options: ObservationOptions
    private var encoder: ObservationEncoder
    /// What rules did.
    private(set) var steps: [RuleStep] = []
    /// Values that Observations lack.
    private(set) var withheld: [PayloadPreview.Withheld] = []

    init(_ rules: EntryRules, _ set: MappingSet, _ options: ObservationOptions) {
        (self.rules, self.set, self.options) = (rules, set, options)
        decider = EntryRuleDecider(rules, types: set.types, templates: set.fhirTemplates)
        encoder = ObservationEncoder(
            types: set.types, templates: set.fhirTemplates, options: options, digest: .openSSL)
        // From now on they are noted.
        _ = encoder.takeWithheld()
    }

    /// Writes `content`, of the machine's series `series`.
    mutating func write(_ content: WindowContent, series: Int) -> Outcome {
        var plain = ByteWriter()
        let outcome = encoder.encode(content, into: &plain)
        let type = set.types[content.series.type]
        withheld += encoder.takeWithheld().map {
            PayloadPreview.Withheld(type: type.name, value: type.valueNames[$0])
        }
        if case .skipped(let reason) = outcome { return .skipped(reason) }
        let isResource = encoder.takeResource()
        guard let decider else { return PreviewedResources.outcome(plain.view.array, isResource) }
        let ruling = decider.ruling(on: content, series: series) { writer in
            writer.append(plain.view)
            return true
        }
        for (name, _) in decider.takeCounts() { steps.append(RuleStep(rule: name, text: text(of: name))) }
        guard ruling.vetoed != .all else { return .vetoed }
        guard !ruling.patches.isEmpty else { return PreviewedResources.outcome(plain.view.array, isResource) }
        var patched = ObservationEncoder(
            types: set.types, templates: decider.patched(set.fhirTemplates, by: ruling.patches), options: options,
            digest: .openSSL)
        var writer = ByteWriter()
        _ = patched.encode(content, into: &writer)
        return .observations(writer.view.array)
    }

    private static func outcome(_ json: [UInt8], _ isResource: Bool) -> Outcome {
        isResource ? .resource(json) : .observations(json)
    }

    /// What the rule called `name` does.
    private func text(of name: String) -> String {
        guard let rule = rules.rules.first(where: { $0.name == name }) else { return "veto" }
        return rule.action.rawValue + (rule.sinks.isEmpty ? "" : " for \(rule.sinks.joined(separator: ", "))")
    }
}
