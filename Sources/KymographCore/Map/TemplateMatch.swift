/// One match of a template in the document that it is looked for in.
struct TemplateMatch: BitwiseCopyable {
    let template: TemplateCode
    /// The token that matched.
    var token: Int
    let bytes: ByteView

    init(_ template: TemplateCode, token: Int, in bytes: ByteView) {
        self.template = template
        self.token = token
        self.bytes = bytes
    }

    /// The token that `expression` selects; none, several or failed.
    @inline(__always)
    func select(_ expression: ExpressionCode, _ evaluator: inout ExpressionEvaluator) -> Int {
        evaluator.single(expression, match: token, bytes: bytes, compatible: template.isCompatible)
    }

    func failure(_ reason: Rejection, _ field: RejectionDetail.Field, value: Int = 0) -> MatchFailure {
        MatchFailure(reason, template: template.index, field, value: value)
    }

    /// Why a selection that is neither a token nor nothing cannot be used.
    func unusable(_ found: Int) -> Rejection {
        found == ExpressionEvaluator.several ? .ambiguousExpression : .expressionFailed
    }

    /// Whether `text`, which is that of token `found`, can be an identifier.
    ///
    /// Two that differ in a lone surrogate only would both have U+FFFD there. Where an expression made the text, it is
    /// not known which part of the document that came from: then no part may have one.
    @inline(never)
    func isIdentifier(_ text: ByteView, of found: Int, _ evaluator: inout ExpressionEvaluator) -> Bool {
        guard text.isIdentifier else { return false }
        guard found >= 0, text.hasReplacementCharacter else { return true }
        let source = evaluator.isPlain(found) ? bytes[evaluator.token(found).range] : bytes
        return !JSONUnescape.hasLoneSurrogate(source)
    }
}

/// Why a match gave no reading.
struct MatchFailure: Error {
    var reason: Rejection
    var detail: RejectionDetail
    /// Whether the reference would end the event here (quirk 4): it notices it while it normalises, and not later,
    /// when it writes the Observation, or never.
    var endsEvent: Bool

    init(_ reason: Rejection, template: Int32, _ field: RejectionDetail.Field, value: Int = 0) {
        self.reason = reason
        detail = RejectionDetail(template: Int(template), field: field, value: value)
        endsEvent = MatchFailure.normalising.contains(reason)
    }

    /// What fails while the reference normalises an event (mapping dialect, section 2.4).
    private static let normalising: Set<Rejection> = [
        .noDevice, .noTimestamp, .invalidTimestamp, .missingValue, .nullValue, .invalidValue, .ambiguousExpression,
        .ambiguousLocalTime,
        .noCorrelation, .expressionFailed,
    ]
}
