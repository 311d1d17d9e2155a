/// Values with a rule: constants, defaults, scales, units and maps (extensions of the mapping dialect).
extension Mapper {
    /// Stores one value with a rule, or says why the reading must be rejected. `isThere` says that an earlier entry
    /// gave a value of this name.
    @inline(never)
    mutating func readRuled(
        _ value: ValueCode, _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, isThere: Bool,
        _ measurement: inout Measurement, _ stored: inout Int
    ) -> Rejection? {
        let rule = Int(value.rule)
        if isThere { return nil }
        ruled.removeAll()
        if let constant = rules.constantText(rule) {
            ruled.append(constant)
        } else {
            let found = select(value.expression, template, match, bytes)
            if found < ExpressionEvaluator.none { return absence(value, found, template) }
            if !appendScalar(found, bytes) {
                let fallback = rules.defaultText(rule)
                let isContainer = found >= 0 && evaluator.token(found).isContainer
                let isRefused = value.isRequired || fallback != nil || value.takesSamples
                if isContainer { return isRefused ? .invalidValue : nil }
                guard let fallback else { return value.isRequired ? missing(found) : nil }
                ruled.append(fallback)
            }
        }
        let length = ruled.count
        var scale: Int8 = 0
        if rules.readsScale(rule), let reason = readScale(rule, template, match, bytes, &scale) { return reason }
        if rules.readsUnit(rule) {
            let unit = select(unitExpressions[rule], template, match, bytes)
            if unit < ExpressionEvaluator.none { return unusable(unit) }
            _ = appendScalar(unit, bytes)
        }
        return storeRuled(value, length, scale, &measurement, &stored)
    }

    /// Reads the payload's power of ten. Without one nothing is known of the number but its digits.
    private mutating func readScale(
        _ rule: Int, _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ scale: inout Int8
    ) -> Rejection? {
        let found = select(scaleExpressions[rule], template, match, bytes)
        if found < ExpressionEvaluator.none { return unusable(found) }
        let start = ruled.count
        defer { ruled.truncate(to: start) }
        guard appendScalar(found, bytes) else { return missing(found) }
        ruled.reserve(ByteView.padding)
        guard case .number(let number) = DecimalParser.parse(ruled.view(start..<ruled.count)), let power = number.whole
        else { return .invalidValue }
        guard Decimal64.exponentRange.contains(Int(power)) else { return .inexactNumber }
        scale = Int8(power)
        return nil
    }

    /// Why a value that is needed is not there: null, or nothing but blanks.
    private mutating func missing(_ found: Int) -> Rejection {
        found >= 0 && evaluator.token(found).kind == TokenKind.null ? .nullValue : .missingValue
    }

    /// Appends what a rule looks at: texts unescaped, numbers as written, booleans as JSON. False when there is nothing
    /// to look at: no token, null, a container, or a blank text.
    private mutating func appendScalar(_ found: Int, _ bytes: ByteView) -> Bool {
        guard found >= 0 else { return false }
        let token = evaluator.token(found)
        let start = ruled.count
        switch token.kind {
        case TokenKind.yes: ruled.append("true")
        case TokenKind.no: ruled.append("false")
        case TokenKind.string, TokenKind.number: _ = token.appendText(evaluator.source(of: found, bytes), to: &ruled)
        default: return false
        }
        guard ruled.view(start..<ruled.count).isBlank else { return true }
        ruled.truncate(to: start)
        return false
    }

    /// Applies the rule to the first `length` bytes, and the rest as unit, and stores what comes out.
    private mutating func storeRuled(
        _ value: ValueCode, _ length: Int, _ scale: Int8, _ measurement: inout Measurement, _ stored: inout Int
    ) -> Rejection? {
        guard ruled.count <= Mapper.longestText else { return .valueTooLong }
        // Numbers are read eight bytes at a time.
        ruled.reserve(ByteView.padding)
        let unit = ruled.view(length..<ruled.count)
        switch rules.apply(Int(value.rule), text: ruled.view(0..<length), unitText: unit, scale: scale) {
        case .rejected(let reason): return reason
        case .number(let number): storeRuled(number, value, &measurement)
        case .text(let text):
            guard value.isNumeric else {
                ValueRecord.append(slot: Int(value.slot), text: text, to: &payload)
                break
            }
            switch DecimalParser.parse(text) {
            case .number(let number): store(number, in: Int(value.slot), &measurement)
            case .malformed: return .invalidValue
            case .inexact: return .inexactNumber
            }
        }
        stored += 1
        return nil
    }

    private mutating func storeRuled(_ number: Decimal64, _ value: ValueCode, _ measurement: inout Measurement) {
        if value.isNumeric { return store(number, in: Int(value.slot), &measurement) }
        text.removeAll()
        text.append(number)
        ValueRecord.append(slot: Int(value.slot), text: text.view, to: &payload)
    }
}
