package import KymographCore

/// Says why a payload gave the readings it gave, or none. Slow and thorough; not for the path of readings.
package struct MappingExplainer: ~Copyable {
    private let set: MappingSet
    private let templates: [Int]
    /// Whether documents that only the reference's reader takes are explained, too.
    private let isLenient: Bool
    /// Whether it says what the mapper makes of each match, which takes a mapper of all templates up to there.
    private let tellsOutcomes: Bool
    private var evaluator: ExpressionEvaluator
    private var composition: MatchComposition
    private var leniency = Leniency()
    /// When it stops, whatever is left; nil for never.
    private let deadline: ContinuousClock.Instant?
    /// Matches of a template that are explained.
    private let mostMatches: Int
    /// Outcomes of the templates before the next one, of the document at hand.
    private var outcomesBefore = 0
    /// Whether it stopped at the deadline.
    package private(set) var isCut = false
    private var packets: OwnedList<PacketStage>
    /// For payloads that are messages.
    private let messages: HL7Reader?

    /// Explains the templates numbered `templates` of `set`; without `tellsOutcomes`, matches have none. At `deadline`
    /// it stops between two matches or templates. Of each template, `mostMatches` are explained.
    package init(
        _ set: MappingSet, templates: [Int], limits: ScanLimits = ScanLimits(), tellsOutcomes: Bool = true,
        mostMatches: Int = .max, until deadline: ContinuousClock.Instant? = nil
    ) {
        self.mostMatches = mostMatches
        self.deadline = deadline
        self.set = set
        self.tellsOutcomes = tellsOutcomes
        self.templates = templates
        isLenient = templates.contains { set.templates[$0].template.compatibility == .iomtFHIR }
        let hasMessages = set.hasMessages(templates)
        messages = hasMessages ? HL7Reader(HL7Needs(names: set.program.names, all: true)) : nil
        evaluator = ExpressionEvaluator(set, limits: limits, payloadIsRoot: hasMessages)
        composition = MatchComposition(set, limits: limits)
        packets = PacketStage.list(set, templates, needs: PacketNeeds(names: set.program.names))
    }

    /// Explains each value of a payload, or each object of the first packet in it, to `body`. `bytes` must be padded.
    ///
    /// - Throws: ``ScanFailure`` at what is not JSON, or no packet. What comes before it has been explained.
    package mutating func explain(
        _ bytes: ByteView, context: SourceContext, received: Instant, to body: (TemplateExplanation) -> Void
    ) throws(ScanFailure) {
        if let messages { return try explain(messages, bytes, context, received, to: body) }
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
                explanation.document = index
                body(explanation)
            }
        }
    }

    /// Explains the documents of a message.
    private mutating func explain(
        _ reader: HL7Reader, _ bytes: ByteView, _ context: SourceContext, _ received: Instant,
        to body: (TemplateExplanation) -> Void
    ) throws(ScanFailure) {
        reader.hasClock = context.timezone != nil
        defer { reader.finish() }
        try reader.begin(bytes)
        var number = 0
        while reader.nextGroup() {
            guard reader.document.count > 0 else { continue }
            for var explanation in try explain(document: reader.document, context, received) {
                explanation.object = reader.document.string
                explanation.document = number
                body(explanation)
            }
            number += 1
        }
    }

    private mutating func explain(
        values bytes: ByteView, _ context: SourceContext, _ received: Instant, to body: (TemplateExplanation) -> Void
    ) throws(ScanFailure) {
        let first = JSONScanner.skipSpace(bytes, bytes.startBehindByteOrderMark)
        var index = first
        var number = 0
        while index < bytes.count {
            var isRewritten = false
            var end: Int?
            var document = bytes[index..<index]
            do throws(ScanFailure) {
                end = try scan(bytes, from: index)
                document = bytes[index..<(end ?? index)]
            } catch {
                guard isLenient else { throw error }
                end = leniency.rewrite(bytes, from: index, into: &evaluator.paths.scanner)
                document = leniency.text.view
                isRewritten = true
                if end == nil, index > first, leniency.isBlank(bytes, from: index) { return }
                guard end != nil else { throw error }
            }
            for var explanation in try explain(document: document, context, received) {
                explanation.offset = index
                explanation.document = number
                explanation.moveRanges { isRewritten ? leniency.original($0) : $0.moved(by: index) }
                body(explanation)
            }
            number += 1
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
        outcomesBefore = 0
        for place in templates.indices where !isOver() {
            // Scanned again for each template, because the mapper that finds the outcome has a scanner of its own.
            _ = try evaluator.paths.scanner.scan(bytes, from: 0)
            evaluator.begin()
            explanations.append(explain(place, bytes, context, received))
        }
        return explanations
    }

    /// Whether the deadline is past.
    private mutating func isOver() -> Bool {
        if !isCut, let deadline, ContinuousClock.now >= deadline { isCut = true }
        return isCut
    }

    private mutating func explain(
        _ place: Int, _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> TemplateExplanation {
        let linked = set.templates[templates[place]]
        let template = linked.template
        let found = matches(template, bytes)
        // A template that matches nothing leaves what the mapper says as it was.
        let outcomes = tellsOutcomes && found?.count != 0 ? outcomes(at: place, bytes, context, received) : []
        let failure = found == nil ? failureText : nil
        var matches: [TemplateExplanation.Match] = []
        for number in 0..<min(found?.count ?? 0, mostMatches) {
            guard let found, !isOver() else { break }
            evaluator.releaseToMatches()
            let outcome = number < outcomes.count ? outcomes[number] : MatchOutcome(text: "not evaluated")
            let node = evaluator.match(number, of: found)
            let range = evaluator.range(of: node)
            matches.append(.init(fields: fields(template, node, bytes), outcome: outcome, range: range))
        }
        // Not before: a match may have been made by an expression.
        if let found { evaluator.release(found) }
        let hasMatches = found.map { $0.count > 0 } ?? false
        return TemplateExplanation(
            mapping: set.mappings[linked.mapping], typeName: template.typeName, line: template.position.line,
            matchExpression: template.match.text, failure: failure,
            missing: !hasMatches && failure == nil ? missing(template, bytes) : [],
            meant: !hasMatches && template.match.path != nil ? meant(by: template, bytes) : nil, matches: matches,
            matchCount: found?.count ?? 0)
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
    private mutating func outcomes(
        at place: Int, _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> [MatchOutcome] {
        let all = outcomes(of: Array(templates[...place]), bytes, context, received)
        defer { outcomesBefore = all.count }
        return Array(all.dropFirst(outcomesBefore))
    }

    private func outcomes(
        of templates: [Int], _ bytes: ByteView, _ context: SourceContext, _ received: Instant
    ) -> [MatchOutcome] {
        var mapper = Mapper(explaining: set, templates: templates)
        var output = MatchOutcomes(set: set)
        mapper.mapLine(bytes, context: context, received: received, output: &output)
        return output.all
    }

    private mutating func fields(
        _ template: DeviceTemplate, _ match: Int, _ bytes: ByteView
    ) -> [TemplateExplanation.Field] {
        let isComposed = template.expressions.contains(where: \.needsComposition)
        guard isComposed || ExpressionEvaluator.isProduced(match) else {
            return MappingExplainer.fields(template, match, bytes, &evaluator)
        }
        guard let composed = composition.compose(match, &evaluator, bytes) else { return [] }
        var fields = MappingExplainer.fields(template, composed, composition.bytes, &composition.evaluator)
        for index in fields.indices { fields[index].range = fields[index].range.flatMap { composition.origin(of: $0) } }
        return fields
    }

    private static func fields(
        _ template: DeviceTemplate, _ match: Int, _ bytes: ByteView, _ evaluator: inout ExpressionEvaluator
    ) -> [TemplateExplanation.Field] {
        var fields: [TemplateExplanation.Field] = []
        let isCompatible = template.compatibility == .iomtFHIR
        for (role, expression) in FieldRole.all(of: template) {
            guard let expression else { continue }
            let code = ExpressionCode(expression)
            let found = evaluator.single(code, match: match, bytes: bytes, compatible: isCompatible)
            var field = evaluator.field(role.text, expression.text, found, bytes)
            field.role = role
            if found == ExpressionEvaluator.none, expression.path != nil,
                let meant = EnvelopePath.meant(by: expression.text, template.kind, match: template.match.text)
            {
                field.meant = meant
                field.result += "; did you mean '\(meant)'?"
            }
            fields.append(field)
        }
        return fields
    }

    /// The names that a match expression mentions, and what the payload has for them.
    private mutating func mentioned(_ path: PathReference, _ bytes: ByteView) -> [TemplateExplanation.Field] {
        var fields: [TemplateExplanation.Field] = []
        for name in set.program.mentionedNames(of: path) {
            let token = evaluator.paths.scanner.tape.firstIndex { $0.name == name }
            let text = set.program.names[Int(name)]
            let absent = TemplateExplanation.Field(name: text, expression: "", result: TemplateExplanation.absent)
            fields.append(token.map { evaluator.field(text, "", $0, bytes) } ?? absent)
        }
        return fields
    }
}

extension ExpressionEvaluator {
    /// What an expression gave.
    fileprivate mutating func field(
        _ name: String, _ expression: String, _ found: Int, _ bytes: ByteView
    ) -> TemplateExplanation.Field {
        var field = TemplateExplanation.Field(name: name, expression: expression, result: "")
        let value = json(of: found, bytes)
        field.valueBytes = value?.count
        field.value = value.flatMap { $0.count <= TemplateExplanation.Field.longestValue ? $0 : nil }
        field.range = range(of: found)
        // The envelope's own members, which the payload does not have.
        if field.value?.isEmpty ?? false { (field.value, field.range) = (Array("{}".utf8), nil) }
        field.result = text(of: found, value)
        return field
    }

    /// The JSON of a token; nil when there is none, or it is larger than the caps allow.
    private mutating func json(of found: Int, _ bytes: ByteView) -> [UInt8]? {
        guard found >= 0 else { return nil }
        var writer = ByteWriter(capacity: 256)
        return appendJSON(found, bytes, to: &writer) ? writer.view.array : nil
    }

    /// What an expression gave, for people: the JSON of a token, cut off when it is long.
    private func text(of found: Int, _ json: [UInt8]?) -> String {
        if found == ExpressionEvaluator.none { return "nothing" }
        if found == ExpressionEvaluator.several { return "several tokens, where one is needed" }
        if found == ExpressionEvaluator.failed { return failureText }
        guard let json else { return "more than the caps allow" }
        let text = String(decoding: json, as: UTF8.self)
        return text.count > 80 ? text.prefix(80) + "…" : text
    }

    /// Why the last expression failed.
    fileprivate var failureText: String {
        lastError.map { "failed at byte \($0.offset): \($0.message)" } ?? "failed: it cannot be read, or not compared"
    }
}

extension Range<Int> {
    /// The range `distance` bytes further on.
    fileprivate func moved(by distance: Int) -> Range<Int> { lowerBound + distance..<upperBound + distance }
}

extension RawArray {
    /// The first index whose element satisfies `condition`, or nil.
    func firstIndex(where condition: (Element) -> Bool) -> Int? {
        for index in 0..<count where condition(self[index]) { return index }
        return nil
    }
}
