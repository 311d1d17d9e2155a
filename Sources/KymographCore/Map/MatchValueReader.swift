/// Reads the values of matches into the payload of their readings.
struct MatchValueReader: ~Copyable {
    private let values: RawArray<ValueCode>
    private var ruled: RuledValueReader
    private var samples = SampleCollector()
    private var text = ByteWriter(capacity: 256)
    /// The text of a number as the reference reads it.
    private var numeral = ByteWriter(capacity: 256)
    /// Optional values that were left out because their expression selected several tokens.
    private var leftOut = 0

    init(_ code: FlatTemplates) {
        values = RawArray(code.values)
        ruled = RuledValueReader(code)
    }

    /// ``leftOut`` since the last call.
    mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }

    /// Reads all values of a match.
    mutating func read(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, _ measurement: inout Measurement,
        _ payload: inout ReadingPayload
    ) throws(MatchFailure) {
        var stored = 0
        var storedSlot: Int16 = -1
        var index = 0
        while index < Int(match.template.valueCount) {
            let value = values[Int(match.template.firstValue) + index]
            let before = stored
            let reason: Rejection?
            // Rules are ours; whatever they refuse, the reference would have taken.
            var endsEvent = value.rule < 0
            if value.rule >= 0 {
                let isThere = value.slot == storedSlot
                reason =
                    isThere
                    ? nil : ruled.read(value, match, &evaluator, &measurement, &payload, &stored, leftOut: &leftOut)
            } else {
                let found = match.select(value.expression, &evaluator)
                // Values lie in slot order; of several with one name the first that is there counts.
                reason =
                    value.slot == storedSlot
                    ? value.absence(found, match, &evaluator, leftOut: &leftOut)
                    : readValue(value, found, match, &evaluator, &measurement, &payload, &stored)
                // A scalar that is no number shows only when the Observation is written.
                if reason == .invalidValue, match.template.isCompatible { endsEvent = !evaluator.isScalar(found) }
            }
            if let reason {
                var failure = match.failure(reason, .value, value: index)
                failure.endsEvent = failure.endsEvent && endsEvent
                throw failure
            }
            if stored > before { storedSlot = value.slot }
            index += 1
        }
        // The reference writes Observations without any value (quirk 17).
        if stored == 0, !match.template.isCompatible { throw emptiness(match, &evaluator) }
        if payload.count > ReadingPayload.longest - 16 { throw match.failure(.valueTooLong, .value) }
    }

    /// Why a reading has no value: the first that is no number, or that there is none.
    @inline(never)
    private mutating func emptiness(
        _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator
    ) -> MatchFailure {
        for index in 0..<Int(match.template.valueCount) {
            let value = values[Int(match.template.firstValue) + index]
            guard value.isNumeric, value.rule < 0 else { continue }
            let found = match.select(value.expression, &evaluator)
            guard found >= 0 else { continue }
            let token = evaluator.token(found)
            guard token.kind != TokenKind.null, !token.isContainer else { continue }
            let isInexact = number(found, match, &evaluator) == .inexact
            return match.failure(isInexact ? .inexactNumber : .invalidValue, .value, value: index)
        }
        return match.failure(.missingValue, .value)
    }

    /// Keeps what is no number as the text that it is, so that the reading's other values are written and this one is
    /// seen to be unusable. False where it must not be missing, or another entry may give it.
    @inline(never)
    private mutating func setAside(
        _ value: ValueCode, _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator,
        _ payload: inout ReadingPayload
    ) -> Bool {
        guard !value.isRequired, !match.template.isCompatible else { return false }
        var entries = 0
        var index = Int(match.template.firstValue)
        let end = index + Int(match.template.valueCount)
        while index < end {
            if values[index].slot == value.slot { entries += 1 }
            index += 1
        }
        guard entries == 1 else { return false }
        return storeText(value, found, match, &evaluator, &payload) == nil
    }

    /// Stores one value, or says why the reading must be rejected. An optional value that cannot be used is left out.
    @inline(__always)
    private mutating func readValue(
        _ value: ValueCode, _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator,
        _ measurement: inout Measurement, _ payload: inout ReadingPayload, _ stored: inout Int
    ) -> Rejection? {
        // A plain number where one is read: nearly all values.
        if value.isNumeric, evaluator.isPlain(found), !match.template.isCompatible {
            let token = evaluator.paths.scanner.tape[found]
            if token.kind == TokenKind.number, case .number(let number) = DecimalParser.parse(match.bytes[token.range])
            {
                payload.store(number, in: Int(value.slot), of: &measurement)
                stored += 1
                return nil
            }
        }
        return readUnusual(value, found, match, &evaluator, &measurement, &payload, &stored)
    }

    @inline(never)
    private mutating func readUnusual(
        _ value: ValueCode, _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator,
        _ measurement: inout Measurement, _ payload: inout ReadingPayload, _ stored: inout Int
    ) -> Rejection? {
        if let reason = value.absence(found, match, &evaluator, leftOut: &leftOut) { return reason }
        guard found >= 0 else { return nil }
        let token = evaluator.token(found)
        if token.kind == TokenKind.array, value.takesSamples {
            return samples.read(value, found, match.bytes, &evaluator, &payload, &stored)
        }
        if token.kind == TokenKind.null || token.isContainer { return nil }
        if value.isNumeric {
            if let reason = readNumber(value, found, token, match, &evaluator, &measurement, &payload) {
                if reason == .missingValue { return reason }
                return setAside(value, found, match, &evaluator, &payload) ? nil : reason
            }
        } else if let reason = storeText(value, found, match, &evaluator, &payload) {
            return reason
        }
        stored += 1
        return nil
    }

    /// Stores a number, which may be a text; or says why it is none.
    private mutating func readNumber(
        _ value: ValueCode, _ found: Int, _ token: Token, _ match: borrowing TemplateMatch,
        _ evaluator: inout ExpressionEvaluator, _ measurement: inout Measurement, _ payload: inout ReadingPayload
    ) -> Rejection? {
        guard token.kind == TokenKind.number || token.kind == TokenKind.string else { return .invalidValue }
        let isCompatible = match.template.isCompatible
        switch isCompatible ? compatibleNumber(found, match, &evaluator) : number(found, match, &evaluator) {
        case .number(let number): payload.store(number, in: Int(value.slot), of: &measurement)
        // The reference notices nothing but blanks as it notices a value that is not there.
        case .malformed: return isCompatible && value.isRequired && numeral.view.isBlank ? .missingValue : .invalidValue
        case .inexact: return .inexactNumber
        }
        return nil
    }

    @inline(__always)
    private mutating func number(
        _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator
    ) -> DecimalParser.Result {
        DecimalParser.parse(evaluator.content(of: found, match.bytes, unescaped: &text))
    }

    /// The number as the reference reads it: through its text (quirks 28 and 33).
    @inline(never)
    private mutating func compatibleNumber(
        _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator
    ) -> DecimalParser.Result {
        numeral.removeAll()
        _ = evaluator.appendText(of: found, match.bytes, compatible: true, to: &numeral)
        return CompatibleDecimal.parse(numeral.view, scratch: &text)
    }

    private mutating func storeText(
        _ value: ValueCode, _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator,
        _ payload: inout ReadingPayload
    ) -> Rejection? {
        text.removeAll()
        _ = evaluator.appendText(of: found, match.bytes, compatible: match.template.isCompatible, to: &text)
        guard text.count <= ReadingPayload.longestText else { return .valueTooLong }
        if value.isRequired && text.view.isBlank { return .missingValue }
        payload.append(slot: Int(value.slot), text: text.view)
        return nil
    }
}

extension ValueCode {
    /// Why the reading cannot do without what was not found; ``MappingNotes/leftOut`` counts what it can do without.
    @inline(__always)
    func absence(
        _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, leftOut: inout Int
    ) -> Rejection? {
        if found >= 0 {
            guard isRequired else { return nil }
            let token = evaluator.token(found)
            if token.kind == TokenKind.null { return .nullValue }
            let isSamples = takesSamples && token.kind == TokenKind.array
            return token.isContainer && !isSamples ? .invalidValue : nil
        }
        if found == ExpressionEvaluator.none { return isRequired ? .missingValue : nil }
        // Several tokens for an optional value end the event in the reference; here the value is left out (quirk 5).
        if match.template.isCompatible || isRequired || found == ExpressionEvaluator.failed {
            return match.unusable(found)
        }
        leftOut += 1
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
