/// What a reading says.
extension Mapper {
    mutating func readValues(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ measurement: inout Measurement
    ) throws(Failure) {
        var stored = 0
        var storedSlot: Int16 = -1
        var index = 0
        while index < Int(template.valueCount) {
            let value = values[Int(template.firstValue) + index]
            let before = stored
            let reason: Rejection?
            // Rules are ours; whatever they refuse, the reference would have taken.
            var endsEvent = value.rule < 0
            if value.rule >= 0 {
                let isThere = value.slot == storedSlot
                reason = readRuled(value, template, match, bytes, isThere: isThere, &measurement, &stored)
            } else {
                let found = select(value.expression, template, match, bytes)
                // Values lie in slot order; of several with one name the first that is there counts.
                reason =
                    value.slot == storedSlot
                    ? absence(value, found, template) : readValue(value, found, template, bytes, &measurement, &stored)
                // A scalar that is no number shows only when the Observation is written.
                if reason == .invalidValue, template.isCompatible { endsEvent = !isScalar(found) }
            }
            if let reason {
                var failure = failure(reason, template.index, .value, value: index)
                failure.endsEvent = failure.endsEvent && endsEvent
                throw failure
            }
            if stored > before { storedSlot = value.slot }
            index += 1
        }
        // The reference writes Observations without any value (quirk 17).
        if stored == 0, !template.isCompatible { throw emptiness(template, match, bytes) }
        if payload.count > Mapper.longestPayload - 16 { throw failure(.valueTooLong, template.index, .value) }
    }

    private mutating func isScalar(_ found: Int) -> Bool {
        found >= 0 && !evaluator.token(found).isContainer
    }

    /// Why a reading has no value: the first that is no number, or that there is none.
    @inline(never)
    private mutating func emptiness(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView
    ) -> Failure {
        for index in 0..<Int(template.valueCount) {
            let value = values[Int(template.firstValue) + index]
            guard value.isNumeric, value.rule < 0 else { continue }
            let found = select(value.expression, template, match, bytes)
            guard found >= 0 else { continue }
            let token = evaluator.token(found)
            guard token.kind != TokenKind.null, !token.isContainer else { continue }
            let reason = number(found, bytes) == .inexact ? Rejection.inexactNumber : .invalidValue
            return failure(reason, template.index, .value, value: index)
        }
        return failure(.missingValue, template.index, .value)
    }

    /// Keeps what is no number as the text that it is, so that the reading's other values are written and this one is
    /// seen to be unusable. False where it must not be missing, or another entry may give it.
    @inline(never)
    private mutating func setAside(
        _ value: ValueCode, _ found: Int, _ template: borrowing TemplateCode, _ bytes: ByteView
    ) -> Bool {
        guard !value.isRequired, !template.isCompatible else { return false }
        var entries = 0
        var index = Int(template.firstValue)
        let end = index + Int(template.valueCount)
        while index < end {
            if values[index].slot == value.slot { entries += 1 }
            index += 1
        }
        guard entries == 1 else { return false }
        return storeText(value, found, template, bytes) == nil
    }

    /// Stores one value, or says why the reading must be rejected. An optional value that cannot be used is left out.
    @inline(__always)
    private mutating func readValue(
        _ value: ValueCode, _ found: Int, _ template: borrowing TemplateCode, _ bytes: ByteView,
        _ measurement: inout Measurement, _ stored: inout Int
    ) -> Rejection? {
        // A plain number where one is read: nearly all values.
        if value.isNumeric, evaluator.isPlain(found), !template.isCompatible {
            let token = evaluator.paths.scanner.tape[found]
            if token.kind == TokenKind.number, case .number(let number) = DecimalParser.parse(bytes[token.range]) {
                store(number, in: Int(value.slot), &measurement)
                stored += 1
                return nil
            }
        }
        return readUnusual(value, found, template, bytes, &measurement, &stored)
    }

    @inline(never)
    private mutating func readUnusual(
        _ value: ValueCode, _ found: Int, _ template: borrowing TemplateCode, _ bytes: ByteView,
        _ measurement: inout Measurement, _ stored: inout Int
    ) -> Rejection? {
        if let reason = absence(value, found, template) { return reason }
        guard found >= 0 else { return nil }
        let token = evaluator.token(found)
        if token.kind == TokenKind.array, value.takesSamples {
            return readSamples(value, found, bytes, &stored)
        }
        if token.kind == TokenKind.null || token.isContainer { return nil }
        if value.isNumeric {
            guard token.kind == TokenKind.number || token.kind == TokenKind.string else {
                return setAside(value, found, template, bytes) ? nil : .invalidValue
            }
            switch template.isCompatible ? compatibleNumber(found, bytes) : number(found, bytes) {
            case .number(let number): store(number, in: Int(value.slot), &measurement)
            case .malformed:
                if isMissing(value, template) { return .missingValue }
                return setAside(value, found, template, bytes) ? nil : .invalidValue
            case .inexact: return setAside(value, found, template, bytes) ? nil : .inexactNumber
            }
        } else if let reason = storeText(value, found, template, bytes) {
            return reason
        }
        stored += 1
        return nil
    }

    /// Why the reading cannot do without what was not found.
    @inline(__always)
    mutating func absence(_ value: ValueCode, _ found: Int, _ template: borrowing TemplateCode) -> Rejection? {
        if found >= 0 {
            guard value.isRequired else { return nil }
            let token = evaluator.token(found)
            if token.kind == TokenKind.null { return .nullValue }
            let isSamples = value.takesSamples && token.kind == TokenKind.array
            return token.isContainer && !isSamples ? .invalidValue : nil
        }
        if found == ExpressionEvaluator.none { return value.isRequired ? .missingValue : nil }
        // Several tokens for an optional value end the event in the reference; here the value is left out (quirk 5).
        if template.isCompatible || value.isRequired || found == ExpressionEvaluator.failed { return unusable(found) }
        leftOut += 1
        return nil
    }

    @inline(__always)
    private mutating func number(_ found: Int, _ bytes: ByteView) -> DecimalParser.Result {
        DecimalParser.parse(content(of: found, bytes))
    }

    /// The number as the reference reads it: through its text (quirks 28 and 33).
    @inline(never)
    private mutating func compatibleNumber(_ found: Int, _ bytes: ByteView) -> DecimalParser.Result {
        ruled.removeAll()
        _ = evaluator.appendText(of: found, bytes, compatible: true, to: &ruled)
        return CompatibleDecimal.parse(ruled.view, scratch: &text)
    }

    /// Whether ``compatibleNumber(_:_:)`` found nothing but blanks where a value must be: the reference notices that as
    /// it notices a value that is not there.
    private mutating func isMissing(_ value: ValueCode, _ template: borrowing TemplateCode) -> Bool {
        template.isCompatible && value.isRequired && ruled.view.isBlank
    }

    @inline(__always)
    mutating func store(_ number: Decimal64, in slot: Int, _ measurement: inout Measurement) {
        if slot < Measurement.inlineValues {
            measurement.setInline(slot, number)
        } else {
            ValueRecord.append(slot: slot, number: number, to: &payload)
        }
    }

    private mutating func storeText(
        _ value: ValueCode, _ found: Int, _ template: borrowing TemplateCode, _ bytes: ByteView
    ) -> Rejection? {
        text.removeAll()
        _ = evaluator.appendText(of: found, bytes, compatible: template.isCompatible, to: &text)
        guard text.count <= Mapper.longestText else { return .valueTooLong }
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
