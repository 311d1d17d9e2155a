/// The operations of the reference system on two numbers.
enum JMESPathArithmetic {
    case add, subtract, multiply, divide, pow
}

/// Functions on numbers. What passes through unchanged keeps its digits.
struct JMESPathNumbers {
    /// Integer results that did not fit 64 bits and were wrapped around (quirk 13), since the start.
    private(set) var wraps = 0

    /// The value of an integer that fits 64 bits, else nil.
    private func wholeNumber(_ handle: Int, _ values: borrowing JMESPathValues) -> Int64? {
        values.token(of: handle).flags & Token.float == 0 ? NumberText.integer(values.content(handle)) : nil
    }

    // MARK: Standard functions

    func absolute(_ argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let token = values.token(of: argument)
        guard values.content(argument)[0] == UInt8(ascii: "-") else { return argument }
        let start = values.text.count
        try values.allowText(Int(token.length))
        values.appendBytes(token.range.lowerBound + 1..<token.range.upperBound, of: argument)
        return try values.make(TokenKind.number, from: start, flags: token.flags & Token.float)
    }

    /// The next integer in a direction; of what is no integer it counts as a double, as in the reference system.
    func rounded(_ argument: Int, _ rule: FloatingPointRoundingRule, _ values: inout JMESPathValues)
        throws(EvaluationError) -> Int
    {
        if values.isInteger(argument) { return argument }
        guard case .number(let number) = DecimalParser.parse(values.content(argument)) else {
            return try roundedLong(values.content(argument), rule, &values)
        }
        if number.exponent >= 0 || number.mantissa == 0 { return try values.make(decimal: number, flags: Token.float) }
        guard number.exponent >= -18 else {
            let away: Int64 = number.mantissa > 0 ? 1 : -1
            return try values.make(integer: (rule == .up) == (number.mantissa > 0) ? away : 0, flags: Token.float)
        }
        let (quotient, rest) = number.mantissa.quotientAndRemainder(
            dividingBy: Decimal64.powers[Int(-number.exponent)])
        let step: Int64 = rule == .up && rest > 0 ? 1 : rule == .down && rest < 0 ? -1 : 0
        return try values.make(integer: quotient + step, flags: Token.float)
    }

    /// The next integer from a number of more than 18 digits: exact when it fits 64 bits and has no exponent.
    private func roundedLong(
        _ bytes: ByteView, _ rule: FloatingPointRoundingRule, _ values: inout JMESPathValues
    ) throws(EvaluationError) -> Int {
        var point = 0
        while point < bytes.count, bytes[point] != UInt8(ascii: ".") { point += 1 }
        let fraction = point < bytes.count ? bytes[point + 1..<bytes.count] : ByteView("")
        guard NumberText.isInteger(fraction), let whole = NumberText.integer(bytes[0..<point]) else {
            return try roundedDouble(NumberText.double(bytes).rounded(rule), &values)
        }
        let hasRest = (0..<fraction.count).contains { fraction[$0] != UInt8(ascii: "0") }
        let isNegative = bytes[0] == UInt8(ascii: "-")
        let step: Int64 = !hasRest || isNegative == (rule == .up) ? 0 : isNegative ? -1 : 1
        let (value, overflow) = whole.addingReportingOverflow(step)
        if overflow { return try roundedDouble(NumberText.double(bytes).rounded(rule), &values) }
        return try values.make(integer: value, flags: Token.float)
    }

    private func roundedDouble(_ value: Double, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if let integer = Int64(exactly: value) { return try values.make(integer: integer, flags: Token.float) }
        return try values.make(double: value)
    }

    /// The exact sum where it fits 18 digits, else the sum of doubles. Of integers it is an integer; one number that is
    /// none makes it count as a double, also where the total is whole.
    func sum(_ array: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if let exact = try exactSum(array, &values) {
            return try values.make(decimal: exact, flags: hasOnlyIntegers(array, values) ? 0 : Token.float)
        }
        return try values.make(double: try doubleSum(array, &values))
    }

    private func hasOnlyIntegers(_ array: Int, _ values: borrowing JMESPathValues) -> Bool {
        var cursor = values.children(of: array)
        while case let place = values.next(&cursor), place >= 0 {
            if !values.isInteger(values.resolved(place)) { return false }
        }
        return true
    }

    private func exactSum(_ array: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Decimal64? {
        var sum = ExactSum()
        sum.add(Decimal64(mantissa: 0))
        var cursor = values.children(of: array)
        while case let place = values.next(&cursor), place >= 0 {
            try values.count(1)
            guard case .number(let number) = DecimalParser.parse(values.content(values.resolved(place))) else {
                return nil
            }
            sum.add(number)
        }
        guard let total = sum.total, total.exponent <= 0, total.mantissa.magnitude < 1_000_000_000_000_000_000 else {
            return nil
        }
        return total
    }

    private func doubleSum(_ array: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Double {
        var sum = 0.0
        var cursor = values.children(of: array)
        while case let place = values.next(&cursor), place >= 0 {
            try values.count(1)
            sum += NumberText.double(values.content(values.resolved(place)))
        }
        return sum
    }

    /// The mean, exact where it has an end within 18 digits; of nothing, null. It counts as a double.
    func average(_ array: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let count = try values.childCount(of: array)
        guard count > 0 else { return JMESPathValues.null }
        guard let total = try exactSum(array, &values) else {
            return try values.make(double: try doubleSum(array, &values) / Double(count))
        }
        if let exact = JMESPathNumbers.quotient(total, by: Int64(count)) {
            return try values.make(decimal: exact, flags: Token.float)
        }
        // Powers of ten beyond 18 are not exact as integers.
        guard total.exponent >= -18 else {
            return try values.make(double: try doubleSum(array, &values) / Double(count))
        }
        let power = Double(Decimal64.powers[Int(-total.exponent)])
        return try values.make(double: Double(total.mantissa) / power / Double(count))
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
    func number(from argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if values.kind(of: argument) == TokenKind.number { return argument }
        guard values.kind(of: argument) == TokenKind.string else { return JMESPathValues.null }
        let source = values.plainText(argument, second: false)
        values.right.removeAll()
        guard JMESPathNumbers.appendNumber(source, to: &values.right) else { return JMESPathValues.null }
        let start = values.text.count
        try values.allowText(values.right.count)
        values.text.append(values.right.view)
        return try values.make(TokenKind.number, from: start)
    }

    /// Writes the number that `source` says as JSON; false when it says none.
    private static func appendNumber(_ source: ByteView, to writer: inout ByteWriter) -> Bool {
        var index = JSONScanner.skipSpace(source, 0)
        var end = source.count
        while end > index, source[end - 1] <= 0x20 { end -= 1 }
        guard index < end else { return false }
        if source[index] == UInt8(ascii: "-") { writer.append(UInt8(ascii: "-")) }
        if source[index] == UInt8(ascii: "-") || source[index] == UInt8(ascii: "+") { index += 1 }
        let whole = JMESPathNumbers.digits(source, index, end)
        var first = index
        while first + 1 < whole, source[first] == UInt8(ascii: "0") { first += 1 }
        writer.append(first < whole ? source[first..<whole] : ByteView("0"))
        var rest = whole
        var hasDigits = whole > index
        if rest < end, source[rest] == UInt8(ascii: ".") {
            let fraction = JMESPathNumbers.digits(source, rest + 1, end)
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
        _ operation: JMESPathArithmetic, _ one: Int, _ other: Int, _ values: inout JMESPathValues
    ) throws(EvaluationError) -> Int {
        if let first = wholeNumber(one, values), let second = wholeNumber(other, values) {
            return try values.make(integer: try integerResult(operation, first, second, &values))
        }
        let first = NumberText.double(values.content(one))
        let second = NumberText.double(values.content(other))
        switch operation {
        case .add: return try values.make(double: first + second)
        case .subtract: return try values.make(double: first - second)
        case .multiply: return try values.make(double: first * second)
        case .divide: return try values.make(double: first / second)
        case .pow: return try values.make(double: DoublePower.power(first, second))
        }
    }

    /// Results wrap around silently, and division drops the rest (quirk 13).
    private mutating func integerResult(
        _ operation: JMESPathArithmetic, _ one: Int64, _ other: Int64, _ values: inout JMESPathValues
    ) throws(EvaluationError) -> Int64 {
        var (value, overflow): (Int64, Bool) = (0, false)
        switch operation {
        case .add: (value, overflow) = one.addingReportingOverflow(other)
        case .subtract: (value, overflow) = one.subtractingReportingOverflow(other)
        case .multiply: (value, overflow) = one.multipliedReportingOverflow(by: other)
        case .divide: return try integerQuotient(one, other, values)
        case .pow: return try integerPower(one, other, values)
        }
        if overflow { wraps += 1 }
        return value
    }

    private func integerQuotient(_ one: Int64, _ other: Int64, _ values: borrowing JMESPathValues)
        throws(EvaluationError) -> Int64
    {
        if other == 0 { throw values.failure(.divideByZero, argument: 1) }
        let (value, overflow) = one.dividedReportingOverflow(by: other)
        if overflow { throw values.failure(.overflow) }
        return value
    }

    /// The power as a double, rounded half to even.
    private func integerPower(_ one: Int64, _ other: Int64, _ values: borrowing JMESPathValues) throws(EvaluationError)
        -> Int64
    {
        let power = DoublePower.power(Double(one), Double(other)).rounded(.toNearestOrEven)
        guard let value = Int64(exactly: power) else { throw values.failure(.overflow) }
        return value
    }

    // MARK: Times

    private static let secondsRange: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The time that is `argument` parts of a second after 1970-01-01T00:00:00Z, in the years 1 to 9999.
    func time(from argument: Int, perSecond: Int64, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        guard let parts = NumberText.integer(values.content(argument)) else { throw values.failure(.outOfRange) }
        var (seconds, fraction) = parts.quotientAndRemainder(dividingBy: perSecond)
        if fraction < 0 {
            fraction += perSecond
            seconds -= 1
        }
        guard JMESPathNumbers.secondsRange.contains(seconds) else { throw values.failure(.outOfRange) }
        let start = values.text.count
        UnixTimeText.append(seconds: Int(seconds), milliseconds: Int(fraction), to: &values.text)
        return try values.make(TokenKind.string, from: start, flags: Token.date)
    }
}
