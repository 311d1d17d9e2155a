/// Reads what one match of a template says: whose reading it is, when it was made, and its values.
struct MatchReader: ~Copyable {
    /// The series of the reading that was read last (``SeriesKey``).
    private(set) var key = ByteWriter(capacity: 512)
    /// The values of that reading, as far as they are not in it.
    private(set) var payload = ReadingPayload()
    private var values: MatchValueReader
    /// A text that is written with escapes, or an id.
    private var text = ByteWriter(capacity: 256)

    init(_ code: FlatTemplates) { values = MatchValueReader(code) }

    /// Optional values that were left out since the last call.
    mutating func takeLeftOut() -> Int { values.takeLeftOut() }

    /// The reading of a match, whose ``key`` and ``payload`` it leaves behind.
    @inline(__always)
    mutating func read(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, _ context: borrowing SourceContext,
        received: Instant
    ) throws(MatchFailure) -> Measurement {
        guard match.template.isReading else { return try readRetraction(match, &evaluator, context, received) }
        try readKey(match, &evaluator, context)
        let time = try readTimestamp(match, &evaluator, context)
        guard time.instant <= received.advanced(by: context.maxFuture) else {
            throw match.failure(.clockAhead, .timestamp)
        }
        var measurement = Measurement(instant: time.instant, received: received)
        measurement.timeForm = time.form
        payload.removeAll()
        try values.read(match, &evaluator, &measurement, &payload)
        try readStart(match, &evaluator, context, &measurement)
        try readId(match, &evaluator)
        guard payload.count <= ReadingPayload.longest else { throw match.failure(.valueTooLong, .value) }
        measurement.payloadBytes = payload.count
        return measurement
    }

    // MARK: Whose reading it is

    private mutating func readKey(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, _ context: borrowing SourceContext
    ) throws(MatchFailure) {
        SeriesKey.begin(into: &key)
        var head = SeriesKey.Head(type: Int(match.template.type))
        head.device = try readPart(
            match.template.device, .device, match, &evaluator, fallback: context.defaultDevice)
        if head.device == 0 { throw match.failure(.noDevice, .device) }
        if !match.template.patient.isAbsent || !context.defaultPatient.isEmpty {
            head.patient = try readPart(
                match.template.patient, .patient, match, &evaluator, fallback: context.defaultPatient)
        }
        if head.patient == 0, context.requiresPatient, !match.template.retracts {
            throw match.failure(.noPatient, .patient)
        }
        if !match.template.encounter.isAbsent {
            head.encounter = try readPart(match.template.encounter, .encounter, match, &evaluator, fallback: [])
        }
        if !match.template.correlation.isAbsent {
            head.correlation = try readPart(match.template.correlation, .correlation, match, &evaluator, fallback: [])
        }
        if head.correlation == 0, match.template.needsCorrelation {
            throw match.failure(.noCorrelation, .correlation)
        }
        SeriesKey.finish(head, in: &key)
    }

    /// Adds one identifier to the key and returns its bytes + 1; 0 when there is none.
    @inline(__always)
    private mutating func readPart(
        _ expression: ExpressionCode, _ field: RejectionDetail.Field, _ match: borrowing TemplateMatch,
        _ evaluator: inout ExpressionEvaluator, fallback: [UInt8]
    ) throws(MatchFailure) -> UInt16 {
        let start = key.count
        let found = match.select(expression, &evaluator)
        if found < ExpressionEvaluator.none { throw match.failure(match.unusable(found), field) }
        if found >= 0 {
            let isContainer = evaluator.appendText(
                of: found, match.bytes, compatible: match.template.isCompatible, to: &key)
            // For the reference patient and encounter are never required: what cannot be read counts as missing
            // (section 2.4). But somebody has sent it, and whoever stands for a missing one may be another.
            let isOptional = match.template.isCompatible && (field == .patient || field == .encounter)
            if isContainer {
                guard isOptional else { throw match.failure(.invalidValue, field) }
                if evaluator.isUnclear(found, match.bytes) { throw match.failure(.invalidValue, field) }
            }
        }
        if key.view(start..<key.count).isWhiteSpace {
            key.truncate(to: start)
            if fallback.isEmpty { return 0 }
            key.append(fallback)
        }
        let length = key.count - start
        guard length <= SeriesKey.longestPart else { throw match.failure(.valueTooLong, field) }
        key.reserve(ByteView.padding)
        if !key.view(start..<key.count).isPlainText {
            guard match.isIdentifier(key.view(start..<key.count), of: found, &evaluator) else {
                throw match.failure(.invalidIdentifier, field)
            }
        }
        return UInt16(length + 1)
    }

    // MARK: What it takes back

    /// The retraction of a match, whose ``key`` and ``payload`` it leaves behind: of the reading with its id, or
    /// else of that of its time.
    @inline(never)
    private mutating func readRetraction(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, _ context: borrowing SourceContext,
        _ received: Instant
    ) throws(MatchFailure) -> Measurement {
        guard match.template.hasFHIRTemplate else { throw match.failure(.noFHIRTemplate, .none) }
        try readKey(match, &evaluator, context)
        payload.removeAll()
        try readId(match, &evaluator)
        var record = Measurement(instant: received, received: received)
        record.payloadBytes = payload.count
        // The id says which reading it is, whatever time it has.
        if payload.count > 0 { return record }
        guard !match.template.timestamp.isAbsent else { throw match.failure(.ambiguousRetraction, .readingId) }
        let time = try readTimestamp(match, &evaluator, context)
        guard time.instant <= received.advanced(by: context.maxFuture) else {
            throw match.failure(.clockAhead, .timestamp)
        }
        (record.instant, record.timeForm) = (time.instant, time.form)
        return record
    }

    // MARK: When it was made

    private mutating func readTimestamp(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, _ context: borrowing SourceContext
    ) throws(MatchFailure) -> Timestamp {
        let first = settledTime(match.template.timestamp, match, &evaluator, context)
        if case .time(let time) = first { return time }
        if case .unclear = first { throw match.failure(.invalidTimestamp, .timestamp) }
        guard case .failed(let reason) = first else { preconditionFailure("a timestamp is a time or a failure") }
        // The second choice stands for a time that is missing; for the reference, also for one that cannot be read.
        let isReplaced = match.template.isCompatible || reason == .noTimestamp
        if isReplaced, !match.template.alternativeTimestamp.isAbsent,
            case .time(let time) = settledTime(match.template.alternativeTimestamp, match, &evaluator, context)
        {
            return time
        }
        throw match.failure(reason, .timestamp)
    }

    /// A time, or why there is none.
    private enum TimeResult {
        case time(Timestamp)
        case failed(Rejection)
        /// There is one, and nobody can tell which.
        case unclear
    }

    @inline(__always)
    private mutating func settledTime(
        _ expression: ExpressionCode, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator,
        _ context: borrowing SourceContext
    ) -> TimeResult {
        let result = writtenTime(expression, match, &evaluator)
        guard case .time(let time) = result, time.isLocal else { return result }
        return context.settled(time).map { .time($0) } ?? .failed(.ambiguousLocalTime)
    }

    @inline(__always)
    private mutating func writtenTime(
        _ expression: ExpressionCode, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator
    ) -> TimeResult {
        let found = match.select(expression, &evaluator)
        if found == ExpressionEvaluator.none { return .failed(.noTimestamp) }
        if found < 0 { return .failed(match.unusable(found)) }
        if evaluator.isPlain(found), !match.template.isCompatible {
            let token = evaluator.paths.scanner.tape[found]
            if token.flags & Token.escaped == 0, let time = token.time(match.bytes, match.template.format) {
                return .time(time)
            }
        }
        return unusualTime(found, match, &evaluator)
    }

    @inline(never)
    private mutating func unusualTime(
        _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator
    ) -> TimeResult {
        let kind = evaluator.token(found).kind
        if kind == TokenKind.null { return .failed(.noTimestamp) }
        if kind == TokenKind.object, evaluator.isUnclear(found, match.bytes) { return .unclear }
        if match.template.format == .iso8601 {
            guard kind == TokenKind.string else { return .failed(.invalidTimestamp) }
            let text = evaluator.content(of: found, match.bytes, unescaped: &text)
            let time = match.template.isCompatible ? CompatibleTime.parse(text) : TimestampParser.iso8601(text)
            return time.map { .time($0) } ?? .failed(.invalidTimestamp)
        }
        guard kind == TokenKind.number || kind == TokenKind.string,
            let time = TimestampParser.epoch(
                evaluator.content(of: found, match.bytes, unescaped: &text), match.template.format)
        else { return .failed(.invalidTimestamp) }
        return .time(time)
    }

    /// The start of the interval that the reading covers becomes its length, in nanoseconds.
    private mutating func readStart(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, _ context: borrowing SourceContext,
        _ measurement: inout Measurement
    ) throws(MatchFailure) {
        guard match.template.durationSlot >= 0, !match.template.start.isAbsent else { return }
        switch settledTime(match.template.start, match, &evaluator, context) {
        case .time(let start):
            let (length, overflow) = measurement.instant.nanoseconds.subtractingReportingOverflow(
                start.instant.nanoseconds)
            guard !overflow, length >= 0 else { throw match.failure(.invalidTimestamp, .start) }
            guard length > 0 else { return }
            let end = payload.count
            payload.store(Decimal64(mantissa: length), in: Int(match.template.durationSlot), of: &measurement)
            payload.moveRecord(from: end)
        case .failed(.noTimestamp): return
        case .failed(let reason): throw match.failure(reason, .start)
        case .unclear: throw match.failure(.invalidTimestamp, .start)
        }
    }

    // MARK: What the sender calls it

    /// Keeps the reading's id, if it has one.
    private mutating func readId(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator
    ) throws(MatchFailure) {
        guard match.template.idSlot >= 0, !match.template.readingId.isAbsent else { return }
        let found = match.select(match.template.readingId, &evaluator)
        if found == ExpressionEvaluator.none { return }
        if found < 0 { throw match.failure(match.unusable(found), .readingId) }
        text.removeAll()
        if evaluator.appendText(of: found, match.bytes, compatible: match.template.isCompatible, to: &text) {
            throw match.failure(.invalidValue, .readingId)
        }
        if text.view.isWhiteSpace { return }
        guard text.count <= SeriesKey.longestPart else { throw match.failure(.valueTooLong, .readingId) }
        guard match.isIdentifier(text.view, of: found, &evaluator) else {
            throw match.failure(.invalidIdentifier, .readingId)
        }
        let start = payload.count
        payload.append(slot: Int(match.template.idSlot), text: text.view)
        payload.moveRecord(from: start)
    }
}

extension Token {
    /// The time that the token's text says; nil when it says none in this form.
    @inline(__always)
    func time(_ bytes: ByteView, _ format: TimestampFormat) -> Timestamp? {
        if flags & Token.known != 0 { return time }
        if format == .iso8601 { return kind == TokenKind.string ? TimestampParser.iso8601(bytes[range]) : nil }
        let isText = kind == TokenKind.number || kind == TokenKind.string
        return isText ? TimestampParser.epoch(bytes[range], format) : nil
    }
}

extension ByteView {
    /// Whether there is nothing but white space; other control characters are none.
    @inline(__always)
    var isWhiteSpace: Bool {
        var index = 0
        while index < count {
            let byte = self[index]
            if byte > 0x20 || byte < 0x20 && !(0x09...0x0D).contains(byte) { return false }
            index += 1
        }
        return true
    }
}
