/// Numbers as they are written, of any size.
enum NumberText {
    /// Whether it is a number of JSON, and not Infinity, -Infinity or NaN.
    static func isFinite(_ bytes: ByteView) -> Bool {
        bytes.count > 0 && bytes[bytes.count - 1] &- UInt8(ascii: "0") < 10
    }

    /// Whether it is written without point and exponent.
    static func isInteger(_ bytes: ByteView) -> Bool {
        var index = bytes.count > 0 && bytes[0] == UInt8(ascii: "-") ? 1 : 0
        guard index < bytes.count else { return false }
        while index < bytes.count {
            if bytes[index] &- UInt8(ascii: "0") >= 10 { return false }
            index += 1
        }
        return true
    }

    /// The value of an integer, or nil when it does not fit 64 bits or is none. The bytes must be padded.
    static func integer(_ bytes: ByteView) -> Int64? {
        if bytes.count <= 18, let plain = DecimalParser.plainInteger(bytes) { return plain }
        guard isInteger(bytes) else { return nil }
        let isNegative = bytes[0] == UInt8(ascii: "-")
        var value: Int64 = 0
        for index in (isNegative ? 1 : 0)..<bytes.count {
            let digit = Int64(bytes[index] - UInt8(ascii: "0"))
            let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, beyond) = product.addingReportingOverflow(isNegative ? -digit : digit)
            if tooLarge || beyond { return nil }
            value = sum
        }
        return value
    }

    /// The nearest double. The bytes must be padded.
    static func double(_ bytes: ByteView) -> Double {
        if case .number(let number) = DecimalParser.parse(bytes), number.mantissa.magnitude <= 1 << 53,
            number.exponent.magnitude <= 18
        {
            // Both are exact as doubles, so that this rounds once (W. Clinger, "How to read floating point numbers
            // accurately").
            let power = Double(Decimal64.powers[Int(number.exponent.magnitude)])
            return number.exponent < 0 ? Double(number.mantissa) / power : Double(number.mantissa) * power
        }
        return Double(bytes.string) ?? .nan
    }

    /// The order of two numbers by value, however many digits they have: negative, zero or positive. Infinity is
    /// greater than all, and NaN the least. The bytes must be padded.
    static func order(_ one: ByteView, _ other: ByteView) -> Int {
        if case .number(let first) = DecimalParser.parse(one), case .number(let second) = DecimalParser.parse(other) {
            return first.isEqualInValue(to: second) ? 0 : first.isLess(than: second) ? -1 : 1
        }
        let first = DecimalDigits(one)
        let second = DecimalDigits(other)
        if first.rank != second.rank { return first.rank < second.rank ? -1 : 1 }
        guard first.rank == 1 || first.rank == -1 else { return 0 }
        return first.rank * first.magnitudeOrder(second)
    }
}

/// The digits of a number in its text.
private struct DecimalDigits {
    private let bytes: ByteView
    /// The first digit that is not zero, and the end of all digits.
    private var first = 0
    private var end = 0
    /// The power of ten of the first digit.
    private var power = 0
    /// -3 NaN, -2 -Infinity, -1 negative, 0 zero, 1 positive, 2 Infinity.
    private(set) var rank = 0

    init(_ bytes: ByteView) {
        self.bytes = bytes
        let isNegative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
        guard NumberText.isFinite(bytes) else {
            rank = isNegative ? -2 : bytes.count > 0 && bytes[0] == UInt8(ascii: "I") ? 2 : -3
            return
        }
        var point = -1
        first = -1
        end = isNegative ? 1 : 0
        while end < bytes.count, bytes[end] | 0x20 != UInt8(ascii: "e") {
            if bytes[end] == UInt8(ascii: ".") { point = end }
            if first < 0, bytes[end] > UInt8(ascii: "0"), bytes[end] <= UInt8(ascii: "9") { first = end }
            end += 1
        }
        guard first >= 0 else { return }
        if point < 0 { point = end }
        rank = isNegative ? -1 : 1
        power = first < point ? point - first - 1 : point - first
        if end < bytes.count { power += DecimalParser.clampedExponent(bytes, from: end) }
    }

    /// The order without regard to the sign.
    func magnitudeOrder(_ other: DecimalDigits) -> Int {
        if power != other.power { return power < other.power ? -1 : 1 }
        var mine = first
        var theirs = other.first
        while mine < end || theirs < other.end {
            let digit = take(&mine)
            let otherDigit = other.take(&theirs)
            if digit != otherDigit { return digit < otherDigit ? -1 : 1 }
        }
        return 0
    }

    /// The digit at `index`, or 0 behind the last one; `index` is at the next one afterwards.
    private func take(_ index: inout Int) -> UInt8 {
        if index < end, bytes[index] == UInt8(ascii: ".") { index += 1 }
        guard index < end else { return 0 }
        index += 1
        return bytes[index - 1] - UInt8(ascii: "0")
    }
}
