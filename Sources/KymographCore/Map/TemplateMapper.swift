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

/// Maps scanned documents with the device templates of one source: the general path.
///
/// All templates and all their matches apply, in file order (mapping dialect, section 2.3); an error is isolated to its
/// template and match (quirk 4, fixed; where compatibility is asked for, it ends the event). Nothing is allocated per
/// reading after warm-up.
///
/// What only reads is mutating as well: otherwise the compiler lends it a copy of everything (Swift 6.3), see
/// ``ObservationEncoder``.
struct TemplateMapper: ~Copyable {
    /// Evaluates expressions, and holds the document.
    var evaluator: ExpressionEvaluator
    let selector: TemplateSelector
    private let templates: RawArray<TemplateCode>
    private var reader: MatchReader
    /// For matches that need a document of their own; made when the first one comes.
    private var composition: MatchComposition?
    /// For templates whose readings are joined; made when the first one comes, and taken out while it is filled.
    private var held: HeldReadings?
    /// Whether several templates give parts of one reading.
    private let joinsReadings: Bool
    /// What is mapped, as it came, where the document was made of it: dead letters keep that.
    private var original: ByteView?
    /// The message that the document was made of: each element of its first member is a result, which has a dead letter
    /// of its own.
    private var message: HL7Reader?
    private var reportedWraps = 0
    private let set: MappingSet
    private let limits: ScanLimits

    /// Prepares the templates `code` of `set`.
    init(_ set: MappingSet, _ code: FlatTemplates, limits: ScanLimits, payloadIsRoot: Bool) {
        self.set = set
        self.limits = limits
        evaluator = ExpressionEvaluator(set, limits: limits, payloadIsRoot: payloadIsRoot)
        selector = TemplateSelector(code.templates, in: set.program)
        templates = RawArray(code.templates)
        reader = MatchReader(code)
        joinsReadings = code.templates.contains(where: \.isJoined)
    }

    /// What happened since the last call.
    mutating func takeNotes() -> MappingNotes {
        let wraps = evaluator.wraps + (composition?.evaluator.wraps ?? 0)
        var taken = MappingNotes()
        taken.leftOut = reader.takeLeftOut()
        taken.wrapped = wraps - reportedWraps
        reportedWraps = wraps
        return taken
    }

    // MARK: Documents

    /// Maps the scanned document, and teaches `known` its shape where that is worth knowing. With `original`, the
    /// document is those bytes rewritten.
    mutating func mapDocument(
        _ bytes: ByteView, original: ByteView? = nil, known: inout KnownPayloads, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) {
        self.original = original
        defer { self.original = nil }
        var outcome = DocumentOutcome()
        let isArray = mapTemplates(
            bytes, known: &known, context: context, received: received, &outcome, output: &output)
        if isArray {
            rejectUnmatchedElements(bytes, outcome, output: &output)
        } else if outcome.failedTemplate >= 0 {
            output.reject(.expressionFailed, bytes: text(documentRange, of: bytes), detail: outcome.failure)
        } else if outcome.matches == 0 {
            output.reject(.noTemplate, bytes: text(documentRange, of: bytes), detail: RejectionDetail())
        } else if outcome.matches == 1, outcome.flatTemplate >= 0, original == nil {
            known.learnDocument(Int(outcome.flatTemplate), selector, evaluator.paths.scanner, bytes)
        }
    }

    /// Maps the document of the group of results that `reader` has read last.
    @inline(never)
    mutating func mapMessage(
        _ reader: HL7Reader, known: inout KnownPayloads, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let document = reader.document
        message = reader
        defer { message = nil }
        do throws(ScanFailure) {
            _ = try evaluator.paths.scanner.scan(document, from: 0)
        } catch {
            return output.reject(error.reason, bytes: text(0..<document.count, of: document), detail: RejectionDetail())
        }
        var outcome = DocumentOutcome()
        mapTemplates(document, known: &known, context: context, received: received, &outcome, output: &output)
        rejectUnmatchedElements(document, outcome, output: &output)
    }

    /// Tries all templates on one object of `packet`, which has these members, and teaches `known` its shape where one
    /// of them gives a reading; the shape's number.
    @inline(never)
    mutating func mapObject(
        _ members: ElementList<Token>, _ object: ByteView, of packet: ByteView, known: inout KnownPayloads,
        context: borrowing SourceContext, received: Instant, _ outcome: inout DocumentOutcome,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        original = packet
        defer { original = nil }
        evaluator.paths.scanner.adopt(members, of: object)
        let matches = outcome.matches
        outcome.flatTemplate = -1
        mapTemplates(object, known: &known, context: context, received: received, &outcome, output: &output)
        guard outcome.matches == matches + 1, outcome.flatTemplate >= 0 else { return nil }
        return known.learnObject(
            Int(outcome.flatTemplate), selector, evaluator.paths.scanner, members, object)
    }

    /// Tries all templates on the scanned document; whether it is an array.
    @inline(__always) @discardableResult
    private mutating func mapTemplates(
        _ bytes: ByteView, known: inout KnownPayloads, context: borrowing SourceContext, received: Instant,
        _ outcome: inout DocumentOutcome, output: inout some MeasurementOutput & ~Copyable
    ) -> Bool {
        evaluator.begin()
        let isArray = evaluator.paths.scanner.tape[body].kind == TokenKind.array
        let isFlat = evaluator.paths.scanner.isFlatObject && evaluator.paths.scanner.root != JSONScanner.payload
        let sorted = isFlat ? selector.candidates(evaluator.paths.scanner, bytes) : nil
        var index = sorted?.lowerBound ?? 0
        let end = sorted?.upperBound ?? templates.count
        while index < end {
            let number = sorted == nil ? index : selector[index]
            switch selector.verdict(number, templates[number].match.path, &evaluator.paths, bytes, isFlat: isFlat) {
            case .nothing: break
            case .payload:
                mapPayload(
                    number, bytes, known: &known, context: context, received: received, &outcome, output: &output)
            case .unknown:
                mapMatches(
                    of: number, bytes, isArray: isArray, context: context, received: received, &outcome,
                    output: &output)
            }
            index &+= 1
        }
        if joinsReadings { handOnHeld(bytes, output: &output) }
        return isArray
    }

    /// The token that holds the readings: the payload, or the Body of a payload that is an envelope.
    private var body: Int {
        // The first member of such a document.
        if message != nil { return JSONScanner.payload + 1 }
        guard evaluator.paths.scanner.root == JSONScanner.payload else { return JSONScanner.payload }
        return evaluator.paths.scanner.slot(of: NameTable.body) ?? JSONScanner.payload
    }

    private var documentRange: Range<Int> { evaluator.paths.scanner.tape[JSONScanner.payload].outerRange }

    /// The text of a rejected part for its dead letter; of a document that was made of something else, all of that.
    private mutating func text(_ range: Range<Int>, of bytes: ByteView) -> ByteView {
        if let message { return message.letter(of: range) }
        return original ?? bytes[range]
    }

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

    // MARK: Matches

    /// Maps the payload as the one match of a template: by its plan, where `known` has one and nothing is unusual.
    private mutating func mapPayload(
        _ number: Int, _ bytes: ByteView, known: inout KnownPayloads, context: borrowing SourceContext,
        received: Instant, _ outcome: inout DocumentOutcome, output: inout some MeasurementOutput & ~Copyable
    ) {
        outcome.matches += 1
        if let reading = known.readFlat(number, evaluator.paths.scanner, bytes, context, received) {
            // A retraction, which has no values, has no plan.
            let refused =
                templates[number].isJoined
                ? hold(reading, templates[number], payload: ByteView(""), key: known.key.view)
                : output.accept(
                    reading, payload: ByteView(""), key: known.key.view, template: templates[number].index)
            guard let refused else { return outcome.flatTemplate = Int32(number) }
            let detail = RejectionDetail(template: Int(templates[number].index))
            return output.reject(refused, bytes: text(documentRange, of: bytes), detail: detail)
        }
        let match = TemplateMatch(templates[number], token: JSONScanner.payload, in: bytes)
        let failure = mapMatch(match, context: context, received: received, output: &output)
        if let failure {
            output.reject(failure.reason, bytes: text(documentRange, of: bytes), detail: failure.detail)
        } else if match.template.isJoined, !match.template.retracts {
            let range = documentRange
            held?.noteSource(range)
        }
    }

    /// Maps all matches of one template.
    private mutating func mapMatches(
        of number: Int, _ bytes: ByteView, isArray: Bool, context: borrowing SourceContext, received: Instant,
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
        var match = TemplateMatch(templates[number], token: JSONScanner.payload, in: bytes)
        outcome.matches += matches.count
        var index = 0
        var element = body + 1
        while index < matches.count {
            evaluator.releaseToMatches()
            match.token = evaluator.match(index, of: matches)
            index += 1
            if isArray { markMatched(match.token) }
            let failure =
                outcome.isAborted
                ? match.failure(.eventAborted, .none)
                : mapMatch(match, context: context, received: received, output: &output)
            if let failure {
                let range = readingRange(of: match.token, isArray: isArray, from: &element)
                output.reject(failure.reason, bytes: text(range, of: bytes), detail: failure.detail)
                outcome.isAborted = outcome.isAborted || isCompatible && failure.endsEvent
            } else if match.template.isJoined, !match.template.retracts {
                let range = readingRange(of: match.token, isArray: isArray, from: &element)
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

    /// Maps one match; nil when it gave a reading.
    private mutating func mapMatch(
        _ match: borrowing TemplateMatch, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> MatchFailure? {
        let needsPaths = ExpressionEvaluator.isProduced(match.token) ? !match.template.takesMadeMatches : false
        do throws(MatchFailure) {
            let reading =
                match.template.needsComposition || needsPaths
                ? try readComposed(match, context, received)
                : try reader.read(match, &evaluator, context, received: received)
            let refused =
                match.template.isJoined
                ? holdOrRetract(reading, match.template, output: &output)
                : output.accept(
                    reading, payload: reader.payload.view, key: reader.key.view, template: match.template.index)
            guard let refused else { return nil }
            return match.failure(refused, .none)
        } catch {
            return error
        }
    }

    /// Reads a match in a document of its own, in which the match is the member `matchedToken`: for expressions that
    /// look at all members of the envelope, and for matches that are not in the payload but were made by JMESPath.
    @inline(never)
    private mutating func readComposed(
        _ match: borrowing TemplateMatch, _ context: borrowing SourceContext, _ received: Instant
    ) throws(MatchFailure) -> Measurement {
        var composition = self.composition.take() ?? MatchComposition(set, limits: limits)
        guard let token = composition.compose(match.token, &evaluator, match.bytes) else {
            self.composition = consume composition
            throw match.failure(.tooManyValues, .match)
        }
        let composed = TemplateMatch(match.template, token: token, in: composition.bytes)
        let result: Result<Measurement, MatchFailure>
        do throws(MatchFailure) {
            result = .success(try reader.read(composed, &composition.evaluator, context, received: received))
        } catch {
            result = .failure(error)
        }
        self.composition = consume composition
        return try result.get()
    }

    // MARK: Joined readings

    /// Hands on a retraction at once, and keeps a reading.
    @inline(never)
    private mutating func holdOrRetract(
        _ reading: Measurement, _ template: borrowing TemplateCode, output: inout some MeasurementOutput & ~Copyable
    ) -> Rejection? {
        guard template.retracts else {
            return hold(reading, template, payload: reader.payload.view, key: reader.key.view)
        }
        return output.retract(
            reading, payload: reader.payload.view, key: reader.key.view, template: template.index)
    }

    /// Keeps a reading that other templates may give more of; nil when it was taken.
    @inline(never)
    private mutating func hold(
        _ reading: Measurement, _ template: borrowing TemplateCode, payload: ByteView, key: ByteView
    ) -> Rejection? {
        let keyOfReading = ReadingKey(durationSlot: template.durationSlot, idSlot: template.idSlot)
        var held = self.held.take() ?? HeldReadings()
        let fits = held.add(
            reading, payload, key: key, template: template.index, source: documentRange, keyOfReading: keyOfReading)
        self.held = consume held
        return fits ? nil : .valueTooLong
    }

    /// Hands on what the templates of a document have given together.
    @inline(never)
    private mutating func handOnHeld(_ bytes: ByteView, output: inout some MeasurementOutput & ~Copyable) {
        defer { output.endRetractions() }
        guard var held = held.take() else { return }
        for index in 0..<held.count {
            let entry = held[index]
            let refused = output.accept(
                entry.reading, payload: held.view(entry.payload), key: held.view(entry.key), template: entry.template)
            guard let refused else { continue }
            let detail = RejectionDetail(template: Int(entry.template))
            if let message {
                output.reject(refused, bytes: message.letter(of: held.sources(of: index)), detail: detail)
            } else {
                output.reject(refused, bytes: text(entry.source.range, of: bytes), detail: detail)
            }
        }
        held.removeAll()
        self.held = consume held
    }
}
