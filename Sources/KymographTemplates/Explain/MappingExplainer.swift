package import KymographCore

/// What one device template made of a payload, for `kymo map --explain`.
package struct TemplateExplanation: Sendable {
    /// An expression and what it gave.
    package struct Field: Sendable {
        /// The field's name in the template.
        package var name: String
        /// The expression.
        package var expression: String
        /// The value's text, or why there is none.
        package var result: String
    }

    /// One match of the template.
    package struct Match: Sendable {
        /// The template's expressions, in the order of evaluation.
        package var fields: [Field]
        /// "a reading", or the reason for the rejection and the field that caused it.
        package var outcome: String
    }

    /// The mapping's name.
    package var mapping: String
    /// The template's type name.
    package var typeName: String
    /// Line of the template in its file.
    package var line: Int
    /// The match expression.
    package var matchExpression: String
    /// Why the match expression could not be evaluated; nil when it could.
    package var failure: String?
    /// When there is no match: what the payload has for the names that the expression mentions.
    package var missing: [Field]
    /// When there is no match: the match expression that was probably meant.
    package var meant: String?
    /// The matches.
    package var matches: [Match]
    /// The object of a packet that this is about, as JSON; nil where the payload is JSON itself.
    package var object: String?
    /// Where the value that this is about begins in the payload.
    package var offset = 0
}

/// Says why a payload gave the readings it gave, or none. Slow and thorough; not for the path of readings.
package struct MappingExplainer: ~Copyable {
    private let set: MappingSet
    private let templates: [Int]
    /// Whether documents that only the reference's reader takes are explained, too.
    private let isLenient: Bool
    private var evaluator: ExpressionEvaluator
    private var composition: MatchComposition
    private var packets: OwnedList<PacketStage>

    /// Explains the templates numbered `templates` of `set`.
    package init(_ set: MappingSet, templates: [Int], limits: ScanLimits = ScanLimits()) {
        self.set = set
        self.templates = templates
        isLenient = templates.contains { set.templates[$0].template.compatibility == .iomtFHIR }
        evaluator = ExpressionEvaluator(set, limits: limits, payloadIsRoot: false)
        composition = MatchComposition(set, limits: limits)
        packets = PacketStage.list(set, templates, needs: PacketNeeds(names: set.program.names))
    }

    /// Explains each value of a payload, or each object of the first packet in it, to `body`. `bytes` must be padded.
    ///
    /// - Throws: ``ScanFailure`` at what is not JSON, or no packet. What comes before it has been explained.
    package mutating func explain(
        _ bytes: ByteView, context: SourceContext, received: Instant, to body: (TemplateExplanation) -> Void
    ) throws(ScanFailure) {
        guard packets.count > 0 else { return try explain(values: bytes, context, received, to: body) }
        let skipsSpace = packets[0].skipsSpace
        let start = skipsSpace ? JSONScanner.skipSpace(bytes, bytes.startBehindByteOrderMark) : 0
        // As for the mapper, blanks are no frame.
        if skipsSpace, start == bytes.count { return }
        if let failure = packets[0].read(bytes, from: start, received: received).failure {
            throw ScanFailure(reason: failure.reason, offset: failure.offset)
        }
        for index in 0..<packets[0].count {
            let object = packets[0][index]
            for var explanation in try explain(document: object, context, received) {
                explanation.object = object.string
                body(explanation)
            }
        }
    }

    private mutating func explain(
        values bytes: ByteView, _ context: SourceContext, _ received: Instant, to body: (TemplateExplanation) -> Void
    ) throws(ScanFailure) {
        let first = JSONScanner.skipSpace(bytes, bytes.startBehindByteOrderMark)
        var index = first
        while index < bytes.count {
            var leniency = Leniency()
            var end: Int?
            var document = bytes[index..<index]
            do throws(ScanFailure) {
                end = try scan(bytes, from: index)
                document = bytes[index..<(end ?? index)]
            } catch {
                guard isLenient else { throw error }
                end = leniency.rewrite(bytes, from: index, into: &evaluator.paths.scanner)
                document = leniency.text.view
                if end == nil, index > first, leniency.isBlank(bytes, from: index) { return }
                guard end != nil else { throw error }
            }
            for var explanation in try explain(document: document, context, received) {
                explanation.offset = index
                body(explanation)
            }
            index = JSONScanner.skipSpace(bytes, end ?? bytes.count)
        }
    }

    /// The end of the value at `start`, if the mapper takes that.
    private mutating func scan(_ bytes: ByteView, from start: Int) throws(ScanFailure) -> Int {
        let end = try evaluator.paths.scanner.scan(bytes, from: start)
        if end == bytes.count || bytes[end] <= 0x20 { return end }
        let isContainer = bytes[end - 1] == UInt8(ascii: "}") || bytes[end - 1] == UInt8(ascii: "]")
        guard isContainer, isLenient || !bytes.goesOnWithDocument(at: end) else {
            throw ScanFailure(reason: .invalidJSON, offset: end)
        }
        return end
    }

    private mutating func explain(
        document bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) throws(ScanFailure) -> [TemplateExplanation] {
        var explanations: [TemplateExplanation] = []
        for place in templates.indices {
            // Scanned again for each template, because the mapper that finds the outcome has a scanner of its own.
            _ = try evaluator.paths.scanner.scan(bytes, from: 0)
            evaluator.begin()
            explanations.append(explain(place, bytes, context, received))
        }
        return explanations
    }

    private mutating func explain(
        _ place: Int, _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> TemplateExplanation {
        let linked = set.templates[templates[place]]
        let template = linked.template
        let outcomes = outcomes(at: place, bytes, context, received)
        let found = matches(template, bytes)
        let failure = found == nil ? failureText : nil
        var matches: [TemplateExplanation.Match] = []
        for number in 0..<(found?.count ?? 0) {
            guard let found else { break }
            evaluator.releaseToMatches()
            let outcome = number < outcomes.count ? outcomes[number] : "not evaluated"
            let node = evaluator.match(number, of: found)
            matches.append(.init(fields: fields(template, node, bytes), outcome: outcome))
        }
        // Not before: a match may have been made by an expression.
        if let found { evaluator.release(found) }
        return TemplateExplanation(
            mapping: set.mappings[linked.mapping], typeName: template.typeName, line: template.position.line,
            matchExpression: template.match.text, failure: failure,
            missing: matches.isEmpty && failure == nil ? missing(template, bytes) : [],
            meant: matches.isEmpty && template.match.path != nil ? meant(by: template, bytes) : nil, matches: matches)
    }

    /// The match expression that was probably meant by one that selects nothing of the envelope.
    private func meant(by template: DeviceTemplate, _ bytes: ByteView) -> String? {
        let text = template.match.text
        if let meant = EnvelopePath.meantByMatch(text) { return meant }
        guard let meant = EnvelopePath.inBody(text) else { return nil }
        do {
            var runner = try ExpressionRunner(text, language: .jsonPath, compatibility: template.compatibility)
            return try runner.run(bytes.array).isEmpty ? nil : meant
        } catch {
            return nil
        }
    }

    /// The matches of the template; nil when its match expression failed.
    private mutating func matches(_ template: DeviceTemplate, _ bytes: ByteView) -> ExpressionEvaluator.Matches? {
        let isCompatible = template.compatibility == .iomtFHIR
        return evaluator.matches(ExpressionCode(template.match), bytes: bytes, compatible: isCompatible)
    }

    /// What can be said of a match expression that selected nothing.
    private mutating func missing(_ template: DeviceTemplate, _ bytes: ByteView) -> [TemplateExplanation.Field] {
        guard let path = template.match.path else { return [] }
        return mentioned(path, bytes)
    }

    private var failureText: String { evaluator.failureText }

    /// What the mapper itself says of each match of the template at `place`, in order: what it says of all templates up
    /// to it, without what it says of those before, because an error may end the event for later ones.
    private func outcomes(
        at place: Int, _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> [String] {
        let before = texts(of: Array(templates[..<place]), bytes, context, received)
        return Array(texts(of: Array(templates[...place]), bytes, context, received).dropFirst(before.count))
    }

    private func texts(
        of templates: [Int], _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> [String] {
        var mapper = Mapper(explaining: set, templates: templates)
        var output = OutcomeTexts(set: set)
        mapper.mapLine(bytes, context: context, received: received, output: &output)
        return output.texts
    }

    private mutating func fields(
        _ template: DeviceTemplate, _ match: Int, _ bytes: ByteView
    ) -> [TemplateExplanation.Field] {
        let named: [(String, TemplateExpression?)] = [
            ("deviceIdExpression", template.device), ("timestampExpression", template.timestamp),
            ("timestampExpression, second choice", template.alternativeTimestamp),
            ("startExpression", template.start), ("correlationIdExpression", template.correlation),
            ("patientIdExpression", template.patient), ("encounterIdExpression", template.encounter),
            ("readingIdExpression", template.readingId),
        ]
        let values = template.values.flatMap { value -> [(String, TemplateExpression?)] in
            let name = "value \(value.name)\(value.isRequired ? " (required)" : "")"
            return [
                (name, value.expression), ("unit of \(value.name)", value.unitExpression),
                ("scale of \(value.name)", value.scaleExpression),
            ]
        }
        let isComposed = template.expressions.contains(where: \.needsComposition)
        if isComposed || ExpressionEvaluator.isProduced(match) {
            guard let composed = composition.compose(match, &evaluator, bytes) else { return [] }
            return MappingExplainer.fields(
                named + values, template, composed, composition.bytes, &composition.evaluator)
        }
        return MappingExplainer.fields(named + values, template, match, bytes, &evaluator)
    }

    private static func fields(
        _ named: [(String, TemplateExpression?)], _ template: DeviceTemplate, _ match: Int, _ bytes: ByteView,
        _ evaluator: inout ExpressionEvaluator
    ) -> [TemplateExplanation.Field] {
        var fields: [TemplateExplanation.Field] = []
        let isCompatible = template.compatibility == .iomtFHIR
        for (name, expression) in named {
            guard let expression else { continue }
            let code = ExpressionCode(expression)
            let found = evaluator.single(code, match: match, bytes: bytes, compatible: isCompatible)
            var result = evaluator.text(of: found, bytes)
            if found == ExpressionEvaluator.none, expression.path != nil,
                let meant = EnvelopePath.meant(by: expression.text, template.kind, match: template.match.text)
            {
                result += "; did you mean '\(meant)'?"
            }
            fields.append(.init(name: name, expression: expression.text, result: result))
        }
        return fields
    }

    /// The names that a match expression mentions, and what the payload has for them.
    private mutating func mentioned(_ path: PathReference, _ bytes: ByteView) -> [TemplateExplanation.Field] {
        var fields: [TemplateExplanation.Field] = []
        for name in set.program.mentionedNames(of: path) {
            let token = evaluator.paths.scanner.tape.firstIndex { $0.name == name }
            let result = token.map { evaluator.text(of: $0, bytes) } ?? TemplateExplanation.absent
            fields.append(.init(name: set.program.names[Int(name)], expression: "", result: result))
        }
        return fields
    }
}

extension ExpressionEvaluator {
    /// What an expression gave, for people: the JSON of a token, cut off when it is long.
    fileprivate mutating func text(of found: Int, _ bytes: ByteView) -> String {
        if found == ExpressionEvaluator.none { return "nothing" }
        if found == ExpressionEvaluator.several { return "several tokens, where one is needed" }
        if found == ExpressionEvaluator.failed { return failureText }
        var writer = ByteWriter(capacity: 256)
        guard appendJSON(found, bytes, to: &writer) else { return "more than the caps allow" }
        let text = writer.view.string
        return text.count > 80 ? text.prefix(80) + "…" : text
    }

    /// Why the last expression failed.
    fileprivate var failureText: String {
        lastError.map { "failed at byte \($0.offset): \($0.message)" } ?? "failed: it cannot be read, or not compared"
    }
}

/// Keeps what a mapper says of each match as text.
private struct OutcomeTexts: MeasurementOutput {
    let set: MappingSet
    var texts: [String] = []

    init(set: MappingSet) { self.set = set }

    mutating func accept(_ measurement: Measurement, payload: ByteView, key: ByteView) -> Rejection? {
        let type = set.types[SeriesKey.identity(key).type]
        let values = type.valueNames.indices.compactMap { value($0, type, measurement, payload) }
        texts.append("a reading" + (values.isEmpty ? "" : ": \(values.joined(separator: ", "))"))
        return nil
    }

    /// The value in `slot` as it was kept, after units and maps.
    private func value(
        _ slot: Int, _ type: MeasurementType, _ measurement: Measurement, _ payload: ByteView
    ) -> String? {
        guard !type.isHidden(slot) else { return nil }
        var writer = ByteWriter(capacity: 64)
        if slot < Measurement.inlineValues, let number = measurement.inline(slot) {
            writer.append(number)
        } else if let record = ValueRecord.find(slot, in: payload) {
            record.appendText(of: payload, to: &writer)
        } else {
            return nil
        }
        return "\(type.valueNames[slot]) = \(writer.view.string)"
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        // Neither is about a match.
        guard reason != .noTemplate, detail.field != .match else { return }
        let text = set.describe(detail)
        let place = text.isEmpty ? "" : ", \(text)"
        texts.append("rejected: \(reason.name)\(place) — \(reason.explanation)")
    }
}

extension RawArray {
    /// The first index whose element satisfies `condition`, or nil.
    func firstIndex(where condition: (Element) -> Bool) -> Int? {
        for index in 0..<count where condition(self[index]) { return index }
        return nil
    }
}
