/// Functions on numbers. What passes through unchanged keeps its digits.
extension JMESPathEvaluator {
    /// Whether a number is an integer: written without point and exponent, and not made as a double.
    func isInteger(_ handle: Int) -> Bool {
        token(of: handle).flags & Token.float == 0 && NumberText.isInteger(content(handle))
    }

    /// The value of an integer that fits 64 bits, else nil.
    private func integer(_ handle: Int) -> Int64? {
        token(of: handle).flags & Token.float == 0 ? NumberText.integer(content(handle)) : nil
    }

    // MARK: Making numbers

    mutating func make(integer value: Int64, flags: UInt8 = 0) throws(EvaluationError) -> Int {
        let start = text.count
        text.append(Decimal64(mantissa: value))
        return try make(TokenKind.number, from: start, flags: flags)
    }

    private mutating func make(double value: Double) throws(EvaluationError) -> Int {
        let start = text.count
        DoubleText.append(value, to: &text)
        return try make(TokenKind.number, from: start, flags: Token.float)
    }

    /// Without decimals that are zero.
    private mutating func make(decimal value: Decimal64, flags: UInt8 = 0) throws(EvaluationError) -> Int {
        var value = value
        while value.exponent < 0, value.mantissa % 10 == 0 {
            value.mantissa /= 10
            value.exponent += 1
        }
        let start = text.count
        text.append(value)
        return try make(TokenKind.number, from: start, flags: flags)
    }

    // MARK: Standard functions

    mutating func absolute(_ argument: Int) throws(EvaluationError) -> Int {
        let token = token(of: argument)
        guard content(argument)[0] == UInt8(ascii: "-") else { return argument }
        let start = text.count
        try allowText(Int(token.length))
        appendBytes(token.range.lowerBound + 1..<token.range.upperBound, of: argument)
        return try make(TokenKind.number, from: start, flags: token.flags & Token.float)
    }

    /// The next integer in a direction; of what is no integer it counts as a double, as in the reference system.
    mutating func rounded(_ argument: Int, _ rule: FloatingPointRoundingRule) throws(EvaluationError) -> Int {
        if isInteger(argument) { return argument }
        guard case .number(let number) = DecimalParser.parse(content(argument)) else {
            return try roundedLong(content(argument), rule)
        }
        if number.exponent >= 0 || number.mantissa == 0 { return try make(decimal: number, flags: Token.float) }
        guard number.exponent >= -18 else {
            let away: Int64 = number.mantissa > 0 ? 1 : -1
            return try make(integer: (rule == .up) == (number.mantissa > 0) ? away : 0, flags: Token.float)
        }
        let (quotient, rest) = number.mantissa.quotientAndRemainder(
            dividingBy: Decimal64.powers[Int(-number.exponent)])
        let step: Int64 = rule == .up && rest > 0 ? 1 : rule == .down && rest < 0 ? -1 : 0
        return try make(integer: quotient + step, flags: Token.float)
    }

    /// The next integer from a number of more than 18 digits: exact when it fits 64 bits and has no exponent.
    private mutating func roundedLong(
        _ bytes: ByteView, _ rule: FloatingPointRoundingRule
    ) throws(EvaluationError) -> Int {
        var point = 0
        while point < bytes.count, bytes[point] != UInt8(ascii: ".") { point += 1 }
        let fraction = point < bytes.count ? bytes[point + 1..<bytes.count] : ByteView("")
        guard NumberText.isInteger(fraction), let whole = NumberText.integer(bytes[0..<point]) else {
            return try roundedDouble(NumberText.double(bytes).rounded(rule))
        }
        let hasRest = (0..<fraction.count).contains { fraction[$0] != UInt8(ascii: "0") }
        let isNegative = bytes[0] == UInt8(ascii: "-")
        let step: Int64 = !hasRest || isNegative == (rule == .up) ? 0 : isNegative ? -1 : 1
        let (value, overflow) = whole.addingReportingOverflow(step)
        if overflow { return try roundedDouble(NumberText.double(bytes).rounded(rule)) }
        return try make(integer: value, flags: Token.float)
    }

    private mutating func roundedDouble(_ value: Double) throws(EvaluationError) -> Int {
        if let integer = Int64(exactly: value) { return try make(integer: integer, flags: Token.float) }
        return try make(double: value)
    }

    /// The exact sum where it fits 18 digits, else the sum of doubles. Of integers it is an integer; one number that is
    /// none makes it count as a double, also where the total is whole.
    mutating func sum(_ array: Int) throws(EvaluationError) -> Int {
        if let exact = try exactSum(array) {
            return try make(decimal: exact, flags: hasOnlyIntegers(array) ? 0 : Token.float)
        }
        return try make(double: try doubleSum(array))
    }

    private func hasOnlyIntegers(_ array: Int) -> Bool {
        var cursor = children(of: array)
        while case let place = next(&cursor), place >= 0 {
            if !isInteger(resolved(place)) { return false }
        }
        return true
    }

    private mutating func exactSum(_ array: Int) throws(EvaluationError) -> Decimal64? {
        var sum = ExactSum()
        sum.add(Decimal64(mantissa: 0))
        var cursor = children(of: array)
        while case let place = next(&cursor), place >= 0 {
            try count(1)
            guard case .number(let number) = DecimalParser.parse(content(resolved(place))) else { return nil }
            sum.add(number)
        }
        guard let total = sum.total, total.exponent <= 0, total.mantissa.magnitude < 1_000_000_000_000_000_000 else {
            return nil
        }
        return total
    }

    private mutating func doubleSum(_ array: Int) throws(EvaluationError) -> Double {
        var sum = 0.0
        var cursor = children(of: array)
        while case let place = next(&cursor), place >= 0 {
            try count(1)
            sum += NumberText.double(content(resolved(place)))
        }
        return sum
    }

    /// The mean, exact where it has an end within 18 digits; of nothing, null. It counts as a double.
    mutating func average(_ array: Int) throws(EvaluationError) -> Int {
        let count = try childCount(of: array)
        guard count > 0 else { return JMESPathEvaluator.null }
        guard let total = try exactSum(array) else {
            return try make(double: try doubleSum(array) / Double(count))
        }
        if let exact = JMESPathEvaluator.quotient(total, by: Int64(count)) {
            return try make(decimal: exact, flags: Token.float)
        }
        // Powers of ten beyond 18 are not exact as integers.
        guard total.exponent >= -18 else { return try make(double: try doubleSum(array) / Double(count)) }
        let power = Double(Decimal64.powers[Int(-total.exponent)])
        return try make(double: Double(total.mantissa) / power / Double(count))
    }

    private static func quotient(_ total: Decimal64, by count: Int64) -> Decimal64? {
        var rest = total
        while rest.mantissa % count != 0 {
            let (longer, overflow) = rest.mantissa.multipliedReportingOverflow(by: 10)
            if overflow || rest.exponent < -18 { return nil }
            rest = Decimal64(mantissa: longer, exponent: rest.exponent - 1)
        }
        return Decimal64(mantissa: rest.mantissa / count, exponent: rest.exponent)
    }

    /// A number as it is; the number that a text says; else null.
    ///
    /// A text that is a JSON number keeps its digits. Others are read as the reference system does, which takes blanks
    /// around it, zeros before it, and a point without digits on one side.
    mutating func number(from argument: Int) throws(EvaluationError) -> Int {
        if kind(of: argument) == TokenKind.number { return argument }
        guard kind(of: argument) == TokenKind.string else { return JMESPathEvaluator.null }
        let source = plainText(argument, second: false)
        right.removeAll()
        guard JMESPathEvaluator.appendNumber(source, to: &right) else { return JMESPathEvaluator.null }
        let start = text.count
        try allowText(right.count)
        text.append(right.view)
        return try make(TokenKind.number, from: start)
    }

    /// Writes the number that `source` says as JSON; false when it says none.
    private static func appendNumber(_ source: ByteView, to writer: inout ByteWriter) -> Bool {
        var index = JSONScanner.skipSpace(source, 0)
        var end = source.count
        while end > index, source[end - 1] <= 0x20 { end -= 1 }
        guard index < end else { return false }
        if source[index] == UInt8(ascii: "-") { writer.append(UInt8(ascii: "-")) }
        if source[index] == UInt8(ascii: "-") || source[index] == UInt8(ascii: "+") { index += 1 }
        let whole = JMESPathEvaluator.digits(source, index, end)
        var first = index
        while first + 1 < whole, source[first] == UInt8(ascii: "0") { first += 1 }
        writer.append(first < whole ? source[first..<whole] : ByteView("0"))
        var rest = whole
        var hasDigits = whole > index
        if rest < end, source[rest] == UInt8(ascii: ".") {
            let fraction = JMESPathEvaluator.digits(source, rest + 1, end)
            if fraction > rest + 1 { writer.append(source[rest..<fraction]) }
            hasDigits = hasDigits || fraction > rest + 1
            rest = fraction
        }
        guard hasDigits, appendExponent(source, rest, end, to: &writer) else { return false }
        return true
    }

    private static func appendExponent(
        _ source: ByteView, _ start: Int, _ end: Int, to writer: inout ByteWriter
    ) -> Bool {
        guard start < end else { return true }
        guard source[start] | 0x20 == UInt8(ascii: "e"), start + 1 < end else { return false }
        let hasSign = source[start + 1] == UInt8(ascii: "-") || source[start + 1] == UInt8(ascii: "+")
        let first = start + (hasSign ? 2 : 1)
        guard first < end, digits(source, first, end) == end else { return false }
        writer.append(source[start..<end])
        return true
    }

    private static func digits(_ source: ByteView, _ start: Int, _ end: Int) -> Int {
        var index = start
        while index < end, source[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index
    }

    // MARK: Arithmetic of the reference system

    /// Two integers that fit 64 bits give an integer, anything else a double (mapping dialect, section 3.2).
    mutating func arithmetic(
        _ function: JMESPathFunction, _ one: Int, _ other: Int
    ) throws(EvaluationError) -> Int {
        if let first = integer(one), let second = integer(other) {
            return try make(integer: try integerResult(function, first, second))
        }
        let first = NumberText.double(content(one))
        let second = NumberText.double(content(other))
        switch function {
        case .add: return try make(double: first + second)
        case .subtract: return try make(double: first - second)
        case .multiply: return try make(double: first * second)
        case .divide: return try make(double: first / second)
        default: return try make(double: DoublePower.power(first, second))
        }
    }

    /// Results wrap around silently, and division drops the rest (quirk 13).
    private mutating func integerResult(
        _ function: JMESPathFunction, _ one: Int64, _ other: Int64
    ) throws(EvaluationError) -> Int64 {
        var (value, overflow): (Int64, Bool) = (0, false)
        switch function {
        case .add: (value, overflow) = one.addingReportingOverflow(other)
        case .subtract: (value, overflow) = one.subtractingReportingOverflow(other)
        case .multiply: (value, overflow) = one.multipliedReportingOverflow(by: other)
        case .divide: return try integerQuotient(one, other)
        default: return try integerPower(one, other)
        }
        countWrap(overflow)
        return value
    }

    private func integerQuotient(_ one: Int64, _ other: Int64) throws(EvaluationError) -> Int64 {
        if other == 0 { throw failure(.divideByZero, argument: 1) }
        let (value, overflow) = one.dividedReportingOverflow(by: other)
        if overflow { throw failure(.overflow) }
        return value
    }

    /// The power as a double, rounded half to even.
    private func integerPower(_ one: Int64, _ other: Int64) throws(EvaluationError) -> Int64 {
        let power = DoublePower.power(Double(one), Double(other)).rounded(.toNearestOrEven)
        guard let value = Int64(exactly: power) else { throw failure(.overflow) }
        return value
    }

    // MARK: Times

    private static let secondsRange: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The time that is `argument` parts of a second after 1970-01-01T00:00:00Z, in the years 1 to 9999.
    mutating func time(from argument: Int, perSecond: Int64) throws(EvaluationError) -> Int {
        guard let parts = NumberText.integer(content(argument)) else { throw failure(.outOfRange) }
        var (seconds, fraction) = parts.quotientAndRemainder(dividingBy: perSecond)
        if fraction < 0 {
            fraction += perSecond
            seconds -= 1
        }
        guard JMESPathEvaluator.secondsRange.contains(seconds) else { throw failure(.outOfRange) }
        let start = text.count
        UnixTimeText.append(seconds: Int(seconds), milliseconds: Int(fraction), to: &text)
        return try make(TokenKind.string, from: start, flags: Token.date)
    }
}
