/// Reads values with a rule: constants, defaults, scales, units and maps (extensions of the mapping dialect).
struct RuledValueReader: ~Copyable {
    private let rules: ValueRules
    /// For each rule.
    private let unitExpressions: RawArray<ExpressionCode>
    private let scaleExpressions: RawArray<ExpressionCode>
    /// Text of a value for its rule, with the text of its unit behind it.
    private var ruled = ByteWriter(capacity: 256)
    private var text = ByteWriter(capacity: 64)

    init(_ code: FlatTemplates) {
        rules = ValueRules(code.rules)
        unitExpressions = RawArray(code.units)
        scaleExpressions = RawArray(code.scales)
    }

    /// Stores one value with a rule, or says why the reading must be rejected.
    @inline(never)
    mutating func read(
        _ value: ValueCode, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator,
        _ measurement: inout Measurement, _ payload: inout ReadingPayload, _ stored: inout Int, leftOut: inout Int
    ) -> Rejection? {
        let rule = Int(value.rule)
        ruled.removeAll()
        if let constant = rules.constantText(rule) {
            ruled.append(constant)
        } else {
            let found = match.select(value.expression, &evaluator)
            if found < ExpressionEvaluator.none { return value.absence(found, match, &evaluator, leftOut: &leftOut) }
            if !appendScalar(found, match, &evaluator) {
                let fallback = rules.defaultText(rule)
                let isContainer = found >= 0 && evaluator.token(found).isContainer
                let isRefused = value.isRequired || fallback != nil || value.takesSamples
                if isContainer { return isRefused ? .invalidValue : nil }
                guard let fallback else { return value.isRequired ? missing(found, &evaluator) : nil }
                ruled.append(fallback)
            }
        }
        let length = ruled.count
        var scale: Int8 = 0
        if rules.readsScale(rule), let reason = readScale(rule, match, &evaluator, &scale) { return reason }
        if rules.readsUnit(rule) {
            let unit = match.select(unitExpressions[rule], &evaluator)
            if unit < ExpressionEvaluator.none { return match.unusable(unit) }
            _ = appendScalar(unit, match, &evaluator)
        }
        return store(value, length, scale, &measurement, &payload, &stored)
    }

    /// Reads the payload's power of ten. Without one nothing is known of the number but its digits.
    private mutating func readScale(
        _ rule: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator, _ scale: inout Int8
    ) -> Rejection? {
        let found = match.select(scaleExpressions[rule], &evaluator)
        if found < ExpressionEvaluator.none { return match.unusable(found) }
        let start = ruled.count
        defer { ruled.truncate(to: start) }
        guard appendScalar(found, match, &evaluator) else { return missing(found, &evaluator) }
        ruled.reserve(ByteView.padding)
        guard case .number(let number) = DecimalParser.parse(ruled.view(start..<ruled.count)), let power = number.whole
        else { return .invalidValue }
        guard Decimal64.exponentRange.contains(Int(power)) else { return .inexactNumber }
        scale = Int8(power)
        return nil
    }

    /// Why a value that is needed is not there: null, or nothing but blanks.
    private func missing(_ found: Int, _ evaluator: inout ExpressionEvaluator) -> Rejection {
        found >= 0 && evaluator.token(found).kind == TokenKind.null ? .nullValue : .missingValue
    }

    /// Appends what a rule looks at: texts unescaped, numbers as written, booleans as JSON. False when there is nothing
    /// to look at: no token, null, a container, or a blank text.
    private mutating func appendScalar(
        _ found: Int, _ match: borrowing TemplateMatch, _ evaluator: inout ExpressionEvaluator
    ) -> Bool {
        guard found >= 0 else { return false }
        let token = evaluator.token(found)
        let start = ruled.count
        switch token.kind {
        case TokenKind.yes: ruled.append("true")
        case TokenKind.no: ruled.append("false")
        case TokenKind.string, TokenKind.number:
            _ = token.appendText(evaluator.source(of: found, match.bytes), to: &ruled)
        default: return false
        }
        guard ruled.view(start..<ruled.count).isBlank else { return true }
        ruled.truncate(to: start)
        return false
    }

    /// Applies the rule to the first `length` bytes, and the rest as unit, and stores what comes out.
    private mutating func store(
        _ value: ValueCode, _ length: Int, _ scale: Int8, _ measurement: inout Measurement,
        _ payload: inout ReadingPayload, _ stored: inout Int
    ) -> Rejection? {
        guard ruled.count <= ReadingPayload.longestText else { return .valueTooLong }
        // Numbers are read eight bytes at a time.
        ruled.reserve(ByteView.padding)
        let unit = ruled.view(length..<ruled.count)
        let slot = Int(value.slot)
        switch rules.apply(Int(value.rule), text: ruled.view(0..<length), unitText: unit, scale: scale) {
        case .rejected(let reason): return reason
        case .number(let number) where value.isNumeric: payload.store(number, in: slot, of: &measurement)
        case .number(let number):
            text.removeAll()
            text.append(number)
            payload.append(slot: slot, text: text.view)
        case .text(let text) where value.isNumeric:
            switch DecimalParser.parse(text) {
            case .number(let number): payload.store(number, in: slot, of: &measurement)
            case .malformed: return .invalidValue
            case .inexact: return .inexactNumber
            }
        case .text(let text): payload.append(slot: slot, text: text)
        }
        stored += 1
        return nil
    }
}
