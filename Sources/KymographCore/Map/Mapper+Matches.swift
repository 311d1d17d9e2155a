/// What one match of a template gives.
extension Mapper {
    /// Why a match gave no reading.
    struct Failure: Error {
        var reason: Rejection
        var detail: RejectionDetail
        /// Whether the reference would end the event here (quirk 4): it notices it while it normalises, and not later,
        /// when it writes the Observation, or never.
        var endsEvent: Bool
    }

    mutating func failure(
        _ reason: Rejection, _ template: Int32, _ field: RejectionDetail.Field, value: Int = 0
    ) -> Failure {
        let detail = RejectionDetail(template: Int(template), field: field, value: value)
        return Failure(reason: reason, detail: detail, endsEvent: Mapper.normalising.contains(reason))
    }

    /// What fails while the reference normalises an event (mapping dialect, section 2.4).
    private static let normalising: Set<Rejection> = [
        .noDevice, .noTimestamp, .invalidTimestamp, .missingValue, .nullValue, .invalidValue, .ambiguousExpression,
        .ambiguousLocalTime,
        .noCorrelation, .expressionFailed,
    ]

    /// Maps one match; nil when it gave a reading.
    mutating func mapMatch(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Failure? {
        let needsPaths = ExpressionEvaluator.isProduced(match) ? !template.takesMadeMatches : false
        if template.needsComposition || needsPaths {
            return mapComposed(template, match, bytes, context: context, received: received, output: &output)
        }
        return mapReading(template, match, bytes, context: context, received: received, output: &output)
    }

    @inline(__always)
    private mutating func mapReading(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Failure? {
        do throws(Failure) {
            guard template.hasFHIRTemplate else { throw failure(.noFHIRTemplate, template.index, .none) }
            try readKey(template, match, bytes, context)
            let time = try readTimestamp(template, match, bytes, context)
            guard time.instant <= received.advanced(by: context.maxFuture) else {
                throw failure(.clockAhead, template.index, .timestamp)
            }
            var measurement = Measurement(instant: time.instant, received: received)
            measurement.timeForm = time.form
            payload.removeAll()
            try readValues(template, match, bytes, &measurement)
            try readStart(template, match, bytes, context, &measurement)
            try readId(template, match, bytes)
            guard payload.count <= Mapper.longestPayload else { throw failure(.valueTooLong, template.index, .value) }
            measurement.payloadBytes = payload.count
            let refused =
                template.isJoined
                ? hold(measurement, template) : output.accept(measurement, payload: payload.view, key: key.view)
            if let refused { throw failure(refused, template.index, .none) }
            return nil
        } catch {
            return error
        }
    }

    /// Maps a match over a document of its own, in which the match is the member `matchedToken`: for expressions that
    /// look at all members of the envelope, and for matches that are not in the payload but were made by JMESPath.
    @inline(never)
    private mutating func mapComposed(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Failure? {
        var composition = takeComposition()
        guard let composed = composition.compose(match, &evaluator, bytes) else {
            self.composition = consume composition
            return failure(.tooManyValues, template.index, .match)
        }
        swap(&evaluator, &composition.evaluator)
        let failure = mapReading(
            template, composed, composition.bytes, context: context, received: received, output: &output)
        swap(&evaluator, &composition.evaluator)
        self.composition = consume composition
        return failure
    }

    /// The token that `expression` selects; none, several or failed.
    @inline(__always)
    mutating func select(
        _ expression: ExpressionCode, _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView
    ) -> Int {
        evaluator.single(expression, match: match, bytes: bytes, compatible: template.isCompatible)
    }

    /// The text of a string or number, valid until the next call.
    @inline(__always)
    mutating func content(of found: Int, _ bytes: ByteView) -> ByteView {
        let token = evaluator.token(found)
        let source = evaluator.source(of: found, bytes)
        return token.flags & Token.escaped == 0 ? source[token.range] : unescaped(source[token.range])
    }

    @inline(never)
    private mutating func unescaped(_ bytes: ByteView) -> ByteView {
        text.removeAll()
        JSONUnescape.append(bytes, into: &text)
        // Numbers are read eight bytes at a time.
        text.reserve(ByteView.padding)
        return text.view
    }
}

/// A document made for one match: the envelope, and the match as its member `matchedToken` (mapping dialect, section
/// 2.3), replacing a member of the same name.
struct MatchComposition: ~Copyable {
    /// Evaluates expressions over the composed document.
    var evaluator: ExpressionEvaluator
    private var text = ByteWriter(capacity: 1024)

    init(_ set: MappingSet, limits: ScanLimits) {
        // The envelope and the match's member come on top of what the payload may have.
        let limits = ScanLimits(depth: limits.depth + 2, values: limits.values * 2 + 4)
        evaluator = ExpressionEvaluator(set, limits: limits, payloadIsRoot: true)
    }

    /// The composed document.
    var bytes: ByteView { text.view }

    /// Composes the document for `match` of the document in `source`; the match's token in it, or nil when the caps on
    /// documents refuse it.
    mutating func compose(_ match: Int, _ source: inout ExpressionEvaluator, _ bytes: ByteView) -> Int? {
        text.removeAll()
        appendEnvelope(source, bytes)
        text.append(",\"matchedToken\":")
        guard source.appendJSON(match, bytes, to: &text) else { return nil }
        text.append("}")
        text.reserve(ByteView.padding)
        guard (try? evaluator.paths.scanner.scan(text.view, from: 0)) != nil else { return nil }
        evaluator.begin()
        let members = evaluator.paths.scanner.children(of: JSONScanner.payload)
        return members.last
    }

    /// Writes the envelope's members without the closing brace.
    private mutating func appendEnvelope(_ source: borrowing ExpressionEvaluator, _ bytes: ByteView) {
        let payload = bytes[source.paths.scanner.tape[JSONScanner.payload].outerRange]
        if source.paths.scanner.root == JSONScanner.payload {
            let isObject = source.paths.scanner.tape[JSONScanner.payload].kind == TokenKind.object
            let isEmpty = Int(source.paths.scanner.tape[JSONScanner.payload].next) == JSONScanner.payload + 1
            if isObject, !isEmpty { return text.append(payload[0..<(payload.count - 1)]) }
            // Templates demand an object as root; there is nothing else to show beside the match.
            return text.append("{\"Body\":null")
        }
        text.append("{\"Body\":")
        text.append(payload)
        text.append(",\"Properties\":{},\"SystemProperties\":{}")
    }
}
