/// What a document as a whole gives: templates, matches, and what is left over.
extension Mapper {
    /// Maps the scanned document.
    mutating func mapDocument(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        var outcome = DocumentOutcome()
        let isArray = mapTemplates(bytes, context: context, received: received, &outcome, output: &output)
        if isArray {
            rejectUnmatchedElements(bytes, outcome, output: &output)
        } else if outcome.failedTemplate >= 0 {
            output.reject(.expressionFailed, bytes: text(documentRange, of: bytes), detail: outcome.failure)
        } else if outcome.matches == 0 {
            output.reject(.noTemplate, bytes: text(documentRange, of: bytes), detail: RejectionDetail())
        } else if outcome.matches == 1, outcome.flatTemplate >= 0, original == nil {
            learnDocument(Int(outcome.flatTemplate), bytes)
        }
    }

    /// Tries all templates on the scanned document; whether it is an array.
    @inline(__always) @discardableResult
    mutating func mapTemplates(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant, _ outcome: inout DocumentOutcome,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Bool {
        evaluator.begin()
        let isArray = evaluator.paths.scanner.tape[body].kind == TokenKind.array
        let isFlat = evaluator.paths.scanner.isFlatObject && evaluator.paths.scanner.root != JSONScanner.payload
        let sorted = isFlat ? candidates(bytes) : nil
        var index = sorted?.lowerBound ?? 0
        let end = sorted?.upperBound ?? templates.count
        while index < end {
            let number = sorted == nil ? index : dispatch[index]
            switch verdict(number, bytes, isFlat: isFlat) {
            case .nothing: break
            case .payload: mapPayload(number, bytes, context: context, received: received, &outcome, output: &output)
            case .unknown:
                mapTemplate(
                    number, bytes, isArray: isArray, context: context, received: received, &outcome, output: &output)
            }
            index &+= 1
        }
        if joinsReadings { handOnHeld(bytes, output: &output) }
        return isArray
    }

    /// The templates that a flat payload can match, as places in ``dispatch``; nil when all must be tried.
    @inline(__always)
    func candidates(_ bytes: ByteView) -> Range<Int>? {
        guard dispatch.name != NameTable.unknown else { return nil }
        guard let token = evaluator.paths.scanner.slot(of: dispatch.name) else { return dispatch.withoutText }
        return dispatch.candidates(evaluator.paths.scanner.tape[token], bytes)
    }

    /// How far a document has come.
    struct DocumentOutcome {
        /// Matches of all templates so far.
        var matches = 0
        /// Whether an error ended the event, as the reference does (quirk 4). What would still have matched is counted.
        var isAborted = false
        /// The last template whose match expression failed, or -1.
        var failedTemplate: Int32 = -1
        /// The template that gave a reading by its plan, or -1.
        var flatTemplate: Int32 = -1

        /// Where the match expression failed.
        var failure: RejectionDetail { RejectionDetail(template: Int(failedTemplate), field: .match) }
    }

    /// The token that holds the readings: the payload, or the Body of a payload that is an envelope.
    var body: Int {
        guard evaluator.paths.scanner.root == JSONScanner.payload else { return JSONScanner.payload }
        return evaluator.paths.scanner.slot(of: NameTable.body) ?? JSONScanner.payload
    }

    var documentRange: Range<Int> { evaluator.paths.scanner.tape[JSONScanner.payload].outerRange }

    /// The text of a rejected part for its dead letter; of a document that was rewritten, all of it as it came.
    mutating func text(_ range: Range<Int>, of bytes: ByteView) -> ByteView { original ?? bytes[range] }

    /// An array is so many readings: each element must be part of a match, or it is rejected by itself. A match
    /// expression that failed is the reason of all that no other template took, and is told once where there are none.
    private mutating func rejectUnmatchedElements(
        _ bytes: ByteView, _ outcome: DocumentOutcome, output: inout some MeasurementOutput & ~Copyable
    ) {
        let hasFailed = outcome.failedTemplate >= 0
        let reason = hasFailed ? Rejection.expressionFailed : .noTemplate
        let detail = hasFailed ? outcome.failure : RejectionDetail()
        var count = 0
        let body = self.body
        let wholes = [0, JSONScanner.payload, body]
        if !wholes.contains(where: { evaluator.paths.scanner.isMatched($0..<$0 + 1) }) {
            for element in evaluator.paths.scanner.children(of: body) {
                let tokens = element..<Int(evaluator.paths.scanner.tape[element].next)
                if evaluator.paths.scanner.isMatched(tokens) { continue }
                let range = evaluator.paths.scanner.tape[element].outerRange
                output.reject(reason, bytes: text(range, of: bytes), detail: detail)
                count += 1
            }
        }
        if hasFailed, count == 0 { output.reject(reason, bytes: text(documentRange, of: bytes), detail: detail) }
    }

    /// What a template's match expression selects, as far as it can be told without a selection.
    @inline(__always)
    private mutating func verdict(_ index: Int, _ bytes: ByteView, isFlat: Bool) -> PathEvaluator.FlatVerdict {
        let gate = gates[index]
        guard gate.requiredNames & evaluator.paths.scanner.nameMask == gate.requiredNames else { return .nothing }
        guard isFlat, !gate.needsSelection else { return .unknown }
        if gate.name != NameTable.unknown {
            guard let token = evaluator.paths.scanner.slot(of: gate.name) else { return .nothing }
            if gate.excludes(evaluator.paths.scanner.tape[token], bytes) { return .nothing }
            if gate.isDecisive, evaluator.paths.scanner.tape[token].flags & Token.escaped == 0 { return .payload }
        }
        return evaluator.paths.flatVerdict(templates[index].match.path, bytes: bytes)
    }

    /// Maps the payload as the one match of a template.
    private mutating func mapPayload(
        _ number: Int, _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        _ outcome: inout DocumentOutcome, output: inout some MeasurementOutput & ~Copyable
    ) {
        outcome.matches += 1
        if plans[number].isUsable {
            switch mapFlat(number, bytes, context: context, received: received, output: &output) {
            case .mapped:
                outcome.flatTemplate = Int32(number)
                return
            case .refused(let reason):
                let detail = RejectionDetail(template: Int(templates[number].index))
                return output.reject(reason, bytes: text(documentRange, of: bytes), detail: detail)
            case .unusual: break
            }
        }
        let template = templates[number]
        let failure = mapMatch(
            template, JSONScanner.payload, bytes, context: context, received: received, output: &output)
        if let failure {
            output.reject(failure.reason, bytes: text(documentRange, of: bytes), detail: failure.detail)
        } else if template.isJoined {
            let range = documentRange
            held?.noteSource(range)
        }
    }

    /// Maps all matches of one template.
    private mutating func mapTemplate(
        _ number: Int, _ bytes: ByteView, isArray: Bool, context: borrowing SourceContext, received: Instant,
        _ outcome: inout DocumentOutcome, output: inout some MeasurementOutput & ~Copyable
    ) {
        let isCompatible = templates[number].isCompatible
        guard let matches = evaluator.matches(templates[number].match, bytes: bytes, compatible: isCompatible) else {
            outcome.failedTemplate = templates[number].index
            outcome.isAborted = outcome.isAborted || isCompatible
            return
        }
        defer { evaluator.release(matches) }
        if matches.count == 0 { return }
        // Only now: copying a template costs more than most matches.
        let template = templates[number]
        outcome.matches += matches.count
        var index = 0
        var element = body + 1
        while index < matches.count {
            evaluator.releaseToMatches()
            let match = evaluator.match(index, of: matches)
            index += 1
            if isArray { markMatched(match) }
            let failure =
                outcome.isAborted
                ? self.failure(.eventAborted, template.index, .none)
                : mapMatch(template, match, bytes, context: context, received: received, output: &output)
            if let failure {
                let range = readingRange(of: match, isArray: isArray, from: &element)
                output.reject(failure.reason, bytes: text(range, of: bytes), detail: failure.detail)
                outcome.isAborted = outcome.isAborted || isCompatible && failure.endsEvent
            } else if template.isJoined {
                let range = readingRange(of: match, isArray: isArray, from: &element)
                held?.noteSource(range)
            }
        }
    }

    /// A match that an expression made counts for the parts of the payload that are in it; one that has none says
    /// nothing of where it came from, and stands for the whole body.
    private mutating func markMatched(_ match: Int) {
        guard ExpressionEvaluator.isProduced(match) else { return evaluator.paths.scanner.markMatched(match) }
        if !evaluator.markParts(of: match) { evaluator.paths.scanner.markMatched(body) }
    }

    /// The original text to keep of a rejected reading: the array's element that it came from, else the document.
    ///
    /// `element` goes along the array with the matches, which come in document order, so that an array full of failures
    /// is walked once.
    private mutating func readingRange(of match: Int, isArray: Bool, from element: inout Int) -> Range<Int> {
        guard isArray, match > body, match < Int(evaluator.paths.scanner.tape[body].next) else { return documentRange }
        if element > match { element = body + 1 }
        while Int(evaluator.paths.scanner.tape[element].next) <= match {
            element = Int(evaluator.paths.scanner.tape[element].next)
        }
        return evaluator.paths.scanner.tape[element].outerRange
    }
}
