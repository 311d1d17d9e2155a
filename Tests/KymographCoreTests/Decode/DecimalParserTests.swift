import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@Suite struct DecimalParserTests {
    private func parse(_ text: String) -> DecimalParser.Result {
        let storage = PaddedBytes(copying: Array(text.utf8) + Array("99e9".utf8))
        return DecimalParser.parse(storage.view(0..<text.utf8.count))
    }

    @Test(arguments: [
        ("0", 0, 0), ("-0", 0, 0), ("7", 7, 0), ("72", 72, 0), ("1234", 1234, 0), ("12345", 12345, 0), ("-1", -1, 0),
        ("-1234", -1234, 0), ("22.40", 2240, -2), ("0.5", 5, -1), ("-0.05", -5, -2), ("0.00", 0, -2), ("1e3", 1, 3),
        ("1E+3", 1, 3), ("1.50e-3", 150, -5), ("12e0", 12, 0), ("1e0003", 1, 3), ("5.6", 56, -1),
        ("999999999999999999", 999_999_999_999_999_999, 0), ("-999999999999999999", -999_999_999_999_999_999, 0),
        ("0.000000000000000000001", 1, -21), ("100000000000000000", 100_000_000_000_000_000, 0), ("1e100", 1, 100),
        ("1e-100", 1, -100), ("0.1e101", 1, 100), ("0e100", 0, 100), ("98.43639286275842", 9_843_639_286_275_842, -14),
    ])
    func keepsDigits(_ text: String, _ mantissa: Int64, _ exponent: Int8) {
        #expect(parse(text) == .number(Decimal64(mantissa: mantissa, exponent: exponent)))
    }

    @Test(arguments: [
        "", " ", "-", "+1", "01", "007", "-01", ".5", "5.", "1e", "1e+", "1,000", "1 ", " 1", "0x10", "NaN", "1_000",
        "--1",
        "1.2.3", "1-2", "e5", "1e5.0", "½", "１", "abcd", "12a", "1/2", ":", "/",
    ])
    func refusesWhatIsNoNumber(_ text: String) {
        #expect(parse(text) == .malformed)
    }

    @Test(arguments: [
        "1234567890123456789", "0.1234567890123456789", "1.0000000000000000000", "1e101", "1e-101", "1.5e-100",
        "1e9999",
        "1e10000", "1e99999999999999999999", "-1e-99999999999999999999",
    ])
    func refusesWhatItCannotKeepExactly(_ text: String) {
        #expect(parse(text) == .inexact)
    }

    /// Digits alone are read eight at a time, whatever lies behind them.
    @Test func readsDigitsOfEachLength() {
        var random = SeededGenerator(seed: Trials.seed(1))
        for count in 1...18 {
            for _ in 0..<200 {
                var digits = (0..<count).map { _ in UInt8.random(in: 0x30...0x39, using: &random) }
                if digits[0] == 0x30 { digits[0] = 0x31 }
                let text = String(decoding: digits, as: UTF8.self)
                #expect(parse(text) == .number(Decimal64(mantissa: Int64(text) ?? -1)), "\(text)")
                digits[Int.random(in: 0..<count, using: &random)] =
                    [0x2F, 0x3A, 0x20, 0x00, 0xFF].randomElement(using: &random) ?? 0
                let storage = PaddedBytes(copying: digits + Array("99e9".utf8))
                #expect(DecimalParser.parse(storage.view(0..<count)) == .malformed, "\(digits)")
            }
        }
    }

    @Test func readsBackWhatItWrote() {
        var random = WindowRandom(seed: Trials.seed(0xDEC1))
        for round in 0..<20_000 {
            let mantissa =
                Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
                >> Int64(random.int(0...59))
            let exponent = Int8(random.int(-100...100))
            let expected = DecimalParser.Result.number(Decimal64(mantissa: mantissa, exponent: exponent))
            #expect(parse("\(mantissa)e\(exponent)") == expected, "round \(round)")
        }
    }
}

@Suite struct DecimalOrderTests {
    private static let samples: [Decimal64] = [
        .init(mantissa: 0), .init(mantissa: 0, exponent: 100), .init(mantissa: 0, exponent: -100), .init(mantissa: 1),
        .init(mantissa: -1), .init(mantissa: 10, exponent: -1), .init(mantissa: 1, exponent: 1),
        .init(mantissa: 1, exponent: 100), .init(mantissa: -1, exponent: 100), .init(mantissa: 1, exponent: -100),
        .init(mantissa: -1, exponent: -100), .init(mantissa: 999_999_999_999_999_999, exponent: -100),
        .init(mantissa: 999_999_999_999_999_999, exponent: 100), .init(mantissa: 1, exponent: 18),
        .init(mantissa: 1, exponent: 19), .init(mantissa: 10, exponent: 18), .init(mantissa: -10, exponent: 18),
    ]

    /// Compares as numbers of 250 digits.
    private func order(_ left: Decimal64, _ right: Decimal64) -> Int {
        func digits(_ number: Decimal64) -> (Bool, String) {
            let text = String(number.mantissa.magnitude) + String(repeating: "0", count: Int(number.exponent) + 100)
            return (number.mantissa < 0, String(repeating: "0", count: 250 - text.count) + text)
        }
        let (leftIsNegative, l) = digits(left)
        let (rightIsNegative, r) = digits(right)
        if l == r && (leftIsNegative == rightIsNegative || left.mantissa == 0) { return 0 }
        if leftIsNegative != rightIsNegative { return leftIsNegative ? -1 : 1 }
        return (l < r) != leftIsNegative ? -1 : 1
    }

    private func check(_ left: Decimal64, _ right: Decimal64) {
        let expected = order(left, right)
        #expect(left.isEqualInValue(to: right) == (expected == 0), "\(left) \(right)")
        #expect(left.isLess(than: right) == (expected < 0), "\(left) \(right)")
    }

    @Test func ordersExtremes() {
        for left in DecimalOrderTests.samples {
            for right in DecimalOrderTests.samples { check(left, right) }
        }
    }

    @Test func ordersLikeLongArithmetic() {
        var random = WindowRandom(seed: Trials.seed(0xDEC2))
        func sample() -> Decimal64 {
            let mantissa = Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
            return Decimal64(mantissa: mantissa >> Int64(random.int(0...59)), exponent: Int8(random.int(-25...25)))
        }
        for _ in 0..<20_000 {
            let left = sample()
            let shift = Int8(random.int(0...2))
            check(left, sample())
            // The same value with more written zeros.
            guard let wider = left.mantissa(at: left.exponent - shift) else { continue }
            check(left, Decimal64(mantissa: wider, exponent: left.exponent - shift))
        }
    }

    @Test func scalesDownwardsUnlessItOverflows() {
        #expect(Decimal64(mantissa: 5, exponent: 2).mantissa(at: 0) == 500)
        #expect(Decimal64(mantissa: 9, exponent: 18).mantissa(at: 0) == 9_000_000_000_000_000_000)
        #expect(Decimal64(mantissa: 10, exponent: 18).mantissa(at: 0) == nil)
        #expect(Decimal64(mantissa: 1, exponent: 19).mantissa(at: 0) == nil)
        #expect(Decimal64(mantissa: 0, exponent: 100).mantissa(at: -100) == 0)
    }
}
