/// Turns payloads into measurements with the device templates of one source. One per lane and source mapping.
///
/// All templates and all their matches apply, in file order (mapping dialect, section 2.3); an error is isolated to its
/// template and match (quirk 4, fixed). Nothing is allocated per reading after warm-up.
public struct Mapper: ~Copyable {
    private var evaluator: PathEvaluator
    private let templates: RawArray<TemplateCode>
    /// For each template.
    private let gates: RawArray<TemplateGate>
    private let values: RawArray<ValueCode>
    private var key = ByteWriter(capacity: 512)
    private var payload = ByteWriter(capacity: 512)
    private var text = ByteWriter(capacity: 256)

    /// Most bytes of texts and extra numbers in one reading: what fits in the continuation slots of a ring record.
    public static let longestPayload = 255 * 64

    /// Prepares the templates numbered `templates` of `set`.
    ///
    /// With `payloadIsRoot`, `$` is the payload as it is: for events that somebody else has put into their envelope, or
    /// left without.
    public init(
        _ set: MappingSet, templates indexes: [Int], limits: ScanLimits = ScanLimits(), payloadIsRoot: Bool = false
    ) {
        let code = set.code(of: indexes)
        evaluator = PathEvaluator(program: set.program, limits: limits, payloadIsRoot: payloadIsRoot)
        templates = RawArray(code.templates)
        gates = RawArray(
            code.templates.map { TemplateGate($0.match, requiredNames: $0.requiredNames, in: set.program) })
        values = RawArray(code.values)
    }

    // MARK: Payloads

    /// Maps one line: exactly one JSON document. Blank lines are no readings. `bytes` must be padded.
    public mutating func mapLine(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let start = JSONScanner.skipSpace(bytes, 0)
        if start == bytes.count { return }
        do throws(ScanFailure) {
            let end = JSONScanner.skipSpace(bytes, try evaluator.scanner.scan(bytes, from: start))
            guard end == bytes.count else { throw ScanFailure(reason: .invalidJSON, offset: end) }
        } catch {
            output.reject(error.reason, bytes: bytes, detail: RejectionDetail(offset: error.offset))
            return
        }
        mapDocument(bytes, context: context, received: received, output: &output)
    }

    /// Maps one datagram: a document, or several separated by white space (NDJSON). `bytes` must be padded.
    ///
    /// A document that is not JSON costs the rest of its line, not the lines behind it.
    public mutating func mapDatagram(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        var index = JSONScanner.skipSpace(bytes, 0)
        while index < bytes.count {
            do throws(ScanFailure) {
                let end = try evaluator.scanner.scan(bytes, from: index)
                guard end == bytes.count || bytes[end] <= 0x20 else {
                    throw ScanFailure(reason: .invalidJSON, offset: end)
                }
                mapDocument(bytes, context: context, received: received, output: &output)
                index = end
            } catch {
                let end = Mapper.lineEnd(bytes, max(error.offset, index))
                output.reject(error.reason, bytes: bytes[index..<end], detail: RejectionDetail(offset: error.offset))
                index = end
            }
            index = JSONScanner.skipSpace(bytes, index)
        }
    }

    private static func lineEnd(_ bytes: ByteView, _ start: Int) -> Int {
        var index = start
        while index < bytes.count && bytes[index] != 0x0A { index += 1 }
        return index
    }

    /// Maps the scanned document.
    private mutating func mapDocument(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let isArray = evaluator.scanner.tape[body].kind == TokenKind.array
        let isFlat = evaluator.scanner.isFlatObject && evaluator.scanner.root != JSONScanner.payload
        var matches = 0
        var index = 0
        while index < templates.count {
            switch verdict(index, bytes, isFlat: isFlat) {
            case .nothing: break
            case .payload:
                matches += 1
                mapPayload(index, bytes, context: context, received: received, output: &output)
            case .unknown:
                matches += mapTemplate(
                    index, bytes, isArray: isArray, context: context, received: received, output: &output)
            }
            index += 1
        }
        if isArray {
            rejectUnmatchedElements(bytes, output: &output)
        } else if matches == 0 {
            output.reject(.noTemplate, bytes: bytes[documentRange], detail: RejectionDetail())
        }
    }

    /// The token that holds the readings: the payload, or the Body of a payload that is an envelope.
    private var body: Int {
        guard evaluator.scanner.root == JSONScanner.payload else { return JSONScanner.payload }
        return evaluator.scanner.slot(of: NameTable.body) ?? JSONScanner.payload
    }

    private var documentRange: Range<Int> { evaluator.scanner.tape[JSONScanner.payload].outerRange }

    /// An array is so many readings: each element must be part of a match, or it is rejected by itself.
    private mutating func rejectUnmatchedElements(_ bytes: ByteView, output: inout some MeasurementOutput & ~Copyable) {
        let body = self.body
        if [0, JSONScanner.payload, body].contains(where: { evaluator.scanner.isMatched($0..<$0 + 1) }) { return }
        for element in evaluator.scanner.children(of: body) {
            let range = element..<Int(evaluator.scanner.tape[element].next)
            if evaluator.scanner.isMatched(range) { continue }
            let bytes = bytes[evaluator.scanner.tape[element].outerRange]
            output.reject(.noTemplate, bytes: bytes, detail: RejectionDetail())
        }
    }

    /// What a template's match expression selects, as far as it can be told without a selection.
    @inline(__always)
    private mutating func verdict(_ index: Int, _ bytes: ByteView, isFlat: Bool) -> PathEvaluator.FlatVerdict {
        let gate = gates[index]
        guard gate.requiredNames & evaluator.scanner.nameMask == gate.requiredNames else { return .nothing }
        guard isFlat else { return .unknown }
        if gate.name != NameTable.unknown {
            guard let token = evaluator.scanner.slot(of: gate.name) else { return .nothing }
            if gate.excludes(evaluator.scanner.tape[token], bytes) { return .nothing }
            if gate.isDecisive, evaluator.scanner.tape[token].flags & Token.escaped == 0 { return .payload }
        }
        return evaluator.flatVerdict(templates[index].match.path, bytes: bytes)
    }

    /// Maps the payload as the one match of a template.
    private mutating func mapPayload(
        _ number: Int, _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let template = templates[number]
        let failure = mapMatch(
            template, JSONScanner.payload, bytes, context: context, received: received, output: &output)
        if let failure { output.reject(failure.reason, bytes: bytes[documentRange], detail: failure.detail) }
    }

    /// Maps all matches of one template and returns how many there were.
    private mutating func mapTemplate(
        _ number: Int, _ bytes: ByteView, isArray: Bool, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Int {
        let mark = evaluator.mark
        let root = evaluator.scanner.root
        let matches = evaluator.select(templates[number].match.path, root: root, current: root, bytes: bytes)
        if matches.isEmpty {
            evaluator.release(to: mark)
            return 0
        }
        // Only now: copying a template costs more than most matches.
        let template = templates[number]
        var index = matches.lowerBound
        var element = body + 1
        while index < matches.upperBound {
            let match = evaluator.node(index)
            index += 1
            if isArray { evaluator.scanner.markMatched(match) }
            let failure = mapMatch(template, match, bytes, context: context, received: received, output: &output)
            if let failure {
                let range = readingRange(of: match, isArray: isArray, from: &element)
                output.reject(failure.reason, bytes: bytes[range], detail: failure.detail)
            }
        }
        evaluator.release(to: mark)
        return matches.count
    }

    /// The original text to keep of a rejected reading: the array's element that it came from, else the document.
    ///
    /// `element` goes along the array with the matches, which come in document order, so that an array full of failures
    /// is walked once.
    private func readingRange(of match: Int, isArray: Bool, from element: inout Int) -> Range<Int> {
        guard isArray, match > body, match < Int(evaluator.scanner.tape[body].next) else { return documentRange }
        if element > match { element = body + 1 }
        while Int(evaluator.scanner.tape[element].next) <= match { element = Int(evaluator.scanner.tape[element].next) }
        return evaluator.scanner.tape[element].outerRange
    }

    // MARK: One match

    /// Why a match gave no reading.
    struct Failure: Error {
        var reason: Rejection
        var detail: RejectionDetail
    }

    private func failure(
        _ reason: Rejection, _ template: Int32, _ field: RejectionDetail.Field, value: Int = 0
    ) -> Failure {
        Failure(reason: reason, detail: RejectionDetail(template: Int(template), field: field, value: value))
    }

    private mutating func mapMatch(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Failure? {
        do throws(Failure) {
            guard template.hasFHIRTemplate else { throw failure(.noFHIRTemplate, template.index, .none) }
            try readKey(template, match, bytes, context)
            let time = try readTimestamp(template, match, bytes)
            guard time.instant <= received.advanced(by: context.maxFuture) else {
                throw failure(.clockAhead, template.index, .timestamp)
            }
            var measurement = Measurement(instant: time.instant, received: received)
            measurement.offsetMinutes = time.offsetMinutes
            payload.removeAll()
            try readValues(template, match, bytes, &measurement)
            try readStart(template, match, bytes, &measurement)
            measurement.payloadBytes = UInt16(payload.count)
            let refused = output.accept(measurement, payload: payload.view, key: key.view)
            if let refused { throw failure(refused, template.index, .none) }
            return nil
        } catch {
            return error
        }
    }

    @inline(__always)
    private mutating func token(_ expression: ExpressionCode, _ match: Int, _ bytes: ByteView) -> Int {
        if expression.isAbsent { return PathEvaluator.none }
        return evaluator.single(
            expression.path, root: expression.fromMatch ? match : evaluator.scanner.root, bytes: bytes)
    }

    /// The text of a string or number, valid until the next call.
    @inline(__always)
    private mutating func content(of token: Token, _ bytes: ByteView) -> ByteView {
        token.flags & Token.escaped == 0 ? bytes[token.range] : unescaped(bytes[token.range])
    }

    @inline(never)
    private mutating func unescaped(_ bytes: ByteView) -> ByteView {
        text.removeAll()
        JSONUnescape.append(bytes, into: &text)
        // Numbers are read eight bytes at a time.
        text.reserve(ByteView.padding)
        return text.view
    }

    // MARK: Identity

    private mutating func readKey(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ context: borrowing SourceContext
    ) throws(Failure) {
        SeriesKey.begin(into: &key)
        var head = SeriesKey.Head(type: Int(template.type))
        head.device = try readPart(
            template.device, .device, template.index, match, bytes, fallback: context.defaultDevice)
        if head.device == 0 { throw failure(.noDevice, template.index, .device) }
        if !template.patient.isAbsent || !context.defaultPatient.isEmpty {
            head.patient = try readPart(
                template.patient, .patient, template.index, match, bytes, fallback: context.defaultPatient)
        }
        if head.patient == 0, context.requiresPatient { throw failure(.noPatient, template.index, .patient) }
        if !template.encounter.isAbsent {
            head.encounter = try readPart(template.encounter, .encounter, template.index, match, bytes, fallback: [])
        }
        if !template.correlation.isAbsent {
            head.correlation = try readPart(
                template.correlation, .correlation, template.index, match, bytes, fallback: [])
        }
        if head.correlation == 0, template.needsCorrelation {
            throw failure(.noCorrelation, template.index, .correlation)
        }
        SeriesKey.finish(head, in: &key)
    }

    /// Adds one identifier to the key and returns its bytes + 1; 0 when there is none.
    @inline(__always)
    private mutating func readPart(
        _ expression: ExpressionCode, _ field: RejectionDetail.Field, _ template: Int32, _ match: Int,
        _ bytes: ByteView, fallback: [UInt8]
    ) throws(Failure) -> UInt16 {
        let start = key.count
        let token = token(expression, match, bytes)
        if token == PathEvaluator.several { throw failure(.ambiguousExpression, template, field) }
        if token >= 0 {
            let isContainer = evaluator.appendText(of: token, bytes, to: &key)
            // Patient and encounter are never required: what cannot be read counts as missing (section 2.4).
            let isOptional = field == .patient || field == .encounter
            if isContainer && !isOptional { throw failure(.invalidValue, template, field) }
        }
        if isBlank(from: start) {
            key.truncate(to: start)
            if fallback.isEmpty { return 0 }
            key.append(fallback)
        }
        let length = key.count - start
        guard length <= SeriesKey.longestPart else { throw failure(.valueTooLong, template, field) }
        return UInt16(length + 1)
    }

    @inline(__always)
    private func isBlank(from start: Int) -> Bool {
        var index = start
        while index < key.count {
            if key[index] > 0x20 { return false }
            index += 1
        }
        return true
    }

    // MARK: Time

    private mutating func readTimestamp(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView
    ) throws(Failure) -> Timestamp {
        let first = timestamp(template.timestamp, template.format, match, bytes)
        if case .time(let time) = first { return time }
        if !template.alternativeTimestamp.isAbsent,
            case .time(let time) = timestamp(template.alternativeTimestamp, template.format, match, bytes)
        {
            return time
        }
        guard case .failed(let reason) = first else { preconditionFailure("a timestamp is a time or a failure") }
        throw failure(reason, template.index, .timestamp)
    }

    enum TimeResult {
        case time(Timestamp)
        case failed(Rejection)
    }

    @inline(__always)
    private mutating func timestamp(
        _ expression: ExpressionCode, _ format: TimestampFormat, _ match: Int, _ bytes: ByteView
    ) -> TimeResult {
        let index = token(expression, match, bytes)
        if index == PathEvaluator.none { return .failed(.noTimestamp) }
        if index == PathEvaluator.several { return .failed(.ambiguousExpression) }
        let token = evaluator.scanner.tape[index]
        if token.kind == TokenKind.null { return .failed(.noTimestamp) }
        if format == .iso8601 {
            guard token.kind == TokenKind.string, let time = TimestampParser.iso8601(content(of: token, bytes)) else {
                return .failed(.invalidTimestamp)
            }
            return .time(time)
        }
        guard token.kind == TokenKind.number || token.kind == TokenKind.string,
            let time = TimestampParser.epoch(content(of: token, bytes), format)
        else { return .failed(.invalidTimestamp) }
        return .time(time)
    }

    /// The start of the interval that the reading covers becomes its length, in nanoseconds.
    private mutating func readStart(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ measurement: inout Measurement
    ) throws(Failure) {
        guard template.durationSlot >= 0, !template.start.isAbsent else { return }
        switch timestamp(template.start, template.format, match, bytes) {
        case .time(let start):
            let (length, overflow) = measurement.instant.nanoseconds.subtractingReportingOverflow(
                start.instant.nanoseconds)
            guard !overflow, length >= 0 else { throw failure(.invalidTimestamp, template.index, .start) }
            if length > 0 { store(Decimal64(mantissa: length), in: Int(template.durationSlot), &measurement) }
        case .failed(.noTimestamp): return
        case .failed(let reason): throw failure(reason, template.index, .start)
        }
    }

    // MARK: Values

    private mutating func readValues(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ measurement: inout Measurement
    ) throws(Failure) {
        var stored = 0
        var storedSlot: Int32 = -1
        var index = 0
        while index < Int(template.valueCount) {
            let value = values[Int(template.firstValue) + index]
            let found = token(value.expression, match, bytes)
            let before = stored
            // Values lie in slot order; of several with one name the first that is there counts.
            let reason =
                value.slot == storedSlot
                ? absence(value, found) : readValue(value, found, bytes, &measurement, &stored)
            if let reason { throw failure(reason, template.index, .value, value: index) }
            if stored > before { storedSlot = value.slot }
            index += 1
        }
        if stored == 0 { throw failure(.missingValue, template.index, .value) }
        if payload.count > Mapper.longestPayload - 16 { throw failure(.valueTooLong, template.index, .value) }
    }

    /// Stores one value, or says why the reading must be rejected. An optional value that cannot be used is left out.
    @inline(__always)
    private mutating func readValue(
        _ value: ValueCode, _ found: Int, _ bytes: ByteView, _ measurement: inout Measurement, _ stored: inout Int
    ) -> Rejection? {
        if let reason = absence(value, found) { return reason }
        guard found >= 0 else { return nil }
        let token = evaluator.scanner.tape[found]
        if token.kind == TokenKind.null || token.isContainer { return nil }
        if value.isNumeric {
            guard token.kind == TokenKind.number || token.kind == TokenKind.string else { return .invalidValue }
            switch DecimalParser.parse(content(of: token, bytes)) {
            case .number(let number): store(number, in: Int(value.slot), &measurement)
            case .malformed: return .invalidValue
            case .inexact: return .inexactNumber
            }
        } else if let reason = storeText(value, found, bytes) {
            return reason
        }
        stored += 1
        return nil
    }

    /// Why a required value cannot be there.
    @inline(__always)
    private func absence(_ value: ValueCode, _ found: Int) -> Rejection? {
        guard value.isRequired else { return nil }
        if found == PathEvaluator.none { return .missingValue }
        if found == PathEvaluator.several { return .ambiguousExpression }
        let token = evaluator.scanner.tape[found]
        if token.kind == TokenKind.null { return .nullValue }
        return token.isContainer ? .invalidValue : nil
    }

    @inline(__always)
    private mutating func store(_ number: Decimal64, in slot: Int, _ measurement: inout Measurement) {
        if slot < Measurement.inlineValues {
            measurement.setInline(slot, number)
        } else {
            ValueRecord.append(slot: slot, number: number, to: &payload)
        }
    }

    private mutating func storeText(_ value: ValueCode, _ found: Int, _ bytes: ByteView) -> Rejection? {
        text.removeAll()
        _ = evaluator.appendText(of: found, bytes, to: &text)
        guard text.count <= Mapper.longestPayload else { return .valueTooLong }
        if value.isRequired && text.view.isBlank { return .missingValue }
        ValueRecord.append(slot: Int(value.slot), text: text.view, to: &payload)
        return nil
    }
}

extension ByteView {
    /// Whether there is nothing but white space and control characters.
    var isBlank: Bool {
        var index = 0
        while index < count {
            if self[index] > 0x20 { return false }
            index += 1
        }
        return true
    }
}

extension Token {
    /// The bytes of the value with the quotes of a string.
    var outerRange: Range<Int> {
        kind == TokenKind.string ? (range.lowerBound - 1)..<(range.upperBound + 1) : range
    }

    /// Flag: a template matched this token.
    static let matched: UInt8 = 4
}

extension JSONScanner {
    /// Notes that a template matched `token`.
    mutating func markMatched(_ token: Int) { setFlag(Token.matched, of: token) }

    /// Whether a template matched any token of `range`.
    func isMatched(_ range: Range<Int>) -> Bool {
        range.contains { tape[$0].flags & Token.matched != 0 }
    }
}
