/// When a reading was made, and how long it took.
extension Mapper {
    mutating func readTimestamp(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ context: borrowing SourceContext
    ) throws(Failure) -> Timestamp {
        let first = timestamp(template.timestamp, template, match, bytes, context)
        if case .time(let time) = first { return time }
        if !template.alternativeTimestamp.isAbsent,
            case .time(let time) = timestamp(template.alternativeTimestamp, template, match, bytes, context)
        {
            return time
        }
        guard case .failed(let reason) = first else { preconditionFailure("a timestamp is a time or a failure") }
        throw failure(reason, template.index, .timestamp)
    }

    /// A time, or why there is none.
    enum TimeResult {
        case time(Timestamp)
        case failed(Rejection)
    }

    @inline(__always)
    private mutating func timestamp(
        _ expression: ExpressionCode, _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView,
        _ context: borrowing SourceContext
    ) -> TimeResult {
        let result = timestamp(expression, template, match, bytes)
        guard case .time(let time) = result, time.isLocal else { return result }
        return context.settled(time).map { .time($0) } ?? .failed(.ambiguousLocalTime)
    }

    @inline(__always)
    private mutating func timestamp(
        _ expression: ExpressionCode, _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView
    ) -> TimeResult {
        let found = select(expression, template, match, bytes)
        if found == ExpressionEvaluator.none { return .failed(.noTimestamp) }
        if found < 0 { return .failed(unusable(found)) }
        if evaluator.isPlain(found), !template.isCompatible {
            let token = evaluator.paths.scanner.tape[found]
            if token.flags & Token.escaped == 0, let time = time(token, bytes, template.format) {
                return .time(time)
            }
        }
        return unusualTime(found, template, bytes)
    }

    /// The time that a token's text says.
    @inline(__always)
    mutating func time(_ token: Token, _ bytes: ByteView, _ format: TimestampFormat) -> Timestamp? {
        if token.flags & Token.known != 0 { return token.time }
        if format == .iso8601 {
            return token.kind == TokenKind.string ? TimestampParser.iso8601(bytes[token.range]) : nil
        }
        let isText = token.kind == TokenKind.number || token.kind == TokenKind.string
        return isText ? TimestampParser.epoch(bytes[token.range], format) : nil
    }

    @inline(never)
    private mutating func unusualTime(
        _ found: Int, _ template: borrowing TemplateCode, _ bytes: ByteView
    ) -> TimeResult {
        let kind = evaluator.token(found).kind
        if kind == TokenKind.null { return .failed(.noTimestamp) }
        if template.format == .iso8601 {
            guard kind == TokenKind.string else { return .failed(.invalidTimestamp) }
            let text = content(of: found, bytes)
            let time = template.isCompatible ? CompatibleTime.parse(text) : TimestampParser.iso8601(text)
            return time.map { .time($0) } ?? .failed(.invalidTimestamp)
        }
        guard kind == TokenKind.number || kind == TokenKind.string,
            let time = TimestampParser.epoch(content(of: found, bytes), template.format)
        else { return .failed(.invalidTimestamp) }
        return .time(time)
    }

    /// The start of the interval that the reading covers becomes its length, in nanoseconds.
    mutating func readStart(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ context: borrowing SourceContext,
        _ measurement: inout Measurement
    ) throws(Failure) {
        guard template.durationSlot >= 0, !template.start.isAbsent else { return }
        switch timestamp(template.start, template, match, bytes, context) {
        case .time(let start):
            let (length, overflow) = measurement.instant.nanoseconds.subtractingReportingOverflow(
                start.instant.nanoseconds)
            guard !overflow, length >= 0 else { throw failure(.invalidTimestamp, template.index, .start) }
            guard length > 0 else { return }
            let end = payload.count
            store(Decimal64(mantissa: length), in: Int(template.durationSlot), &measurement)
            moveRecord(from: end)
        case .failed(.noTimestamp): return
        case .failed(let reason): throw failure(reason, template.index, .start)
        }
    }
}
