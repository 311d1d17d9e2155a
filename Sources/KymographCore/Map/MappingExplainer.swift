/// What one device template made of a payload, for `kymo map --explain`.
public struct TemplateExplanation: Sendable {
    /// An expression and what it gave.
    public struct Field: Sendable {
        /// The field's name in the template.
        public var name: String
        /// The expression.
        public var expression: String
        /// The value's text, or why there is none.
        public var result: String
    }

    /// One match of the template.
    public struct Match: Sendable {
        /// The template's expressions, in the order of evaluation.
        public var fields: [Field]
        /// "a reading", or the reason for the rejection and the field that caused it.
        public var outcome: String
    }

    /// The mapping's name.
    public var mapping: String
    /// The template's type name.
    public var typeName: String
    /// Line of the template in its file.
    public var line: Int
    /// The match expression.
    public var matchExpression: String
    /// When there is no match: what the payload has for the names that the expression mentions.
    public var missing: [Field]
    /// The matches.
    public var matches: [Match]
}

/// Says why a payload gave the readings it gave, or none. Slow and thorough; not for the path of readings.
public struct MappingExplainer: ~Copyable {
    private let set: MappingSet
    private let templates: [Int]
    private var evaluator: PathEvaluator

    /// Explains the templates numbered `templates` of `set`.
    public init(_ set: MappingSet, templates: [Int], limits: ScanLimits = ScanLimits()) {
        self.set = set
        self.templates = templates
        evaluator = PathEvaluator(program: set.program, limits: limits)
    }

    /// Explains one document. `bytes` must be padded.
    ///
    /// - Throws: ``ScanFailure`` when it is not JSON.
    public mutating func explain(
        _ bytes: ByteView, context: SourceContext, received: Instant
    ) throws(ScanFailure) -> [TemplateExplanation] {
        var explanations: [TemplateExplanation] = []
        for index in templates {
            // Scanned again for each template, because the mapper that finds the outcome has a scanner of its own.
            _ = try evaluator.scanner.scan(bytes, from: 0)
            explanations.append(explain(index, bytes, context, received))
        }
        return explanations
    }

    private mutating func explain(
        _ index: Int, _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> TemplateExplanation {
        let linked = set.templates[index]
        let template = linked.template
        let root = evaluator.scanner.root
        let mark = evaluator.mark
        let range = evaluator.select(template.match.path, root: root, current: root, bytes: bytes)
        let nodes = range.map { evaluator.node($0) }
        evaluator.release(to: mark)
        let outcomes = outcomes(of: index, bytes, context, received)
        var matches: [TemplateExplanation.Match] = []
        for (number, node) in nodes.enumerated() {
            let outcome = number < outcomes.count ? outcomes[number] : "not evaluated"
            matches.append(.init(fields: fields(template, node, bytes), outcome: outcome))
        }
        return TemplateExplanation(
            mapping: set.mappings[linked.mapping], typeName: template.typeName, line: template.position.line,
            matchExpression: template.match.text, missing: nodes.isEmpty ? mentioned(template.match.path, bytes) : [],
            matches: matches)
    }

    /// What the mapper itself says of each match, in order.
    private func outcomes(
        of index: Int, _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> [String] {
        var mapper = Mapper(set, templates: [index])
        var output = OutcomeTexts(set: set)
        mapper.mapLine(bytes, context: context, received: received, output: &output)
        return output.texts
    }

    private mutating func fields(
        _ template: DeviceTemplate, _ match: Int, _ bytes: ByteView
    ) -> [TemplateExplanation.Field] {
        let named: [(String, TemplateExpression?)] = [
            ("deviceIdExpression", template.device), ("timestampExpression", template.timestamp),
            ("startExpression", template.start), ("correlationIdExpression", template.correlation),
            ("patientIdExpression", template.patient), ("encounterIdExpression", template.encounter),
        ]
        let values = template.values.map { value -> (String, TemplateExpression?) in
            ("value \(value.name)\(value.isRequired ? " (required)" : "")", value.expression)
        }
        var fields: [TemplateExplanation.Field] = []
        for (name, expression) in named + values {
            guard let expression else { continue }
            let root = expression.fromMatch ? match : evaluator.scanner.root
            let found = evaluator.single(expression.path, root: root, bytes: bytes)
            fields.append(.init(name: name, expression: expression.text, result: text(of: found, bytes)))
        }
        return fields
    }

    private func text(of token: Int, _ bytes: ByteView) -> String {
        if token == PathEvaluator.none { return "nothing" }
        if token == PathEvaluator.several { return "several tokens, where one is needed" }
        let text = bytes[evaluator.scanner.tape[token].outerRange].string
        return text.count > 80 ? text.prefix(80) + "…" : text
    }

    /// The names that a match expression mentions, and what the payload has for them.
    private func mentioned(_ path: PathReference, _ bytes: ByteView) -> [TemplateExplanation.Field] {
        var names: [UInt16] = []
        collectNames(path, &names)
        return names.map { name in
            let token = evaluator.scanner.tape.firstIndex { $0.name == name }
            return .init(
                name: set.program.names[Int(name)], expression: "",
                result: token.map { text(of: $0, bytes) } ?? "not in the payload")
        }
    }

    private func collectNames(_ path: PathReference, _ names: inout [UInt16]) {
        guard !path.isAbsent else { return }
        for step in set.program.steps[Int(path.start)..<Int(path.start + path.count)] {
            for name in set.program.names(of: step) where !names.contains(name) { names.append(name) }
            if step.operation == .filterChildren || step.operation == .filterDescendants {
                collectNames(predicate: Int(step.argument), &names)
            }
        }
    }

    private func collectNames(predicate index: Int, _ names: inout [UInt16]) {
        let predicate = set.program.predicates[index]
        if predicate.operation == .and || predicate.operation == .or {
            collectNames(predicate: Int(predicate.left), &names)
            collectNames(predicate: Int(predicate.right), &names)
            return
        }
        collectNames(set.program.operands[Int(predicate.left)].path, &names)
        if predicate.operation != .exists { collectNames(set.program.operands[Int(predicate.right)].path, &names) }
    }
}

/// Keeps what a mapper says of each match as text.
private struct OutcomeTexts: MeasurementOutput {
    let set: MappingSet
    var texts: [String] = []

    init(set: MappingSet) { self.set = set }

    mutating func accept(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Rejection? {
        texts.append("a reading")
        return nil
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        guard reason != .noTemplate else { return }
        let text = set.describe(detail)
        texts.append(text.isEmpty ? "rejected: \(reason.name)" : "rejected: \(reason.name), \(text)")
    }
}

extension RawArray {
    /// The first index whose element satisfies `condition`, or nil.
    func firstIndex(where condition: (Element) -> Bool) -> Int? {
        for index in 0..<count where condition(self[index]) { return index }
        return nil
    }
}
