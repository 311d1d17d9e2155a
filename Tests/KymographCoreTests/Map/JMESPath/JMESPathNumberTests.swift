import Foundation
import Testing

@testable import KymographCore
import TrialSupport

/// The number rules against Foundation's.
@Suite struct JMESPathNumberTests {
    private func text(_ value: Double, dotNet: Bool = false) -> String {
        var writer = ByteWriter()
        dotNet ? DoubleText.appendDotNet(value, to: &writer) : DoubleText.append(value, to: &writer)
        return writer.view.string
    }

    private func order(_ one: String, _ other: String) -> Int {
        let first = PaddedBytes(copying: one.utf8)
        let second = PaddedBytes(copying: other.utf8)
        return NumberText.order(first.view, second.view).signum()
    }

    @Test(arguments: [
        (60.0, "60", "60"), (-9.5, "-9.5", "-9.5"), (98.43639286275842, "98.43639286275842", "98.43639286275842"),
        (0, "0", "0"),
        (1e14, "100000000000000", "100000000000000"), (1e15, "1000000000000000", "1E+15"), (1e16, "1e+16", "1E+16"),
        (0.0001, "0.0001", "0.0001"), (0.00001, "0.00001", "1E-05"),
        (1.5e-7, "0.00000015", "1.5E-07"), (1.2345678901234568e17, "1.2345678901234568e+17", "1.2345678901234568E+17"),
        (1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157E+308"),
        (.leastNonzeroMagnitude, "5e-324", "5E-324"), (.infinity, "Infinity", "Infinity"),
        (-.infinity, "-Infinity", "-Infinity"),
        (.nan, "NaN", "NaN"), (0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"),
        (123456.789, "123456.789", "123456.789"),
        (999999999999999.9, "999999999999999.9", "999999999999999.9"),
    ])
    func writesDoubles(_ value: Double, _ plain: String, _ dotNet: String) {
        #expect(text(value) == plain)
        #expect(text(value, dotNet: true) == dotNet)
    }

    @Test(arguments: Trials.seeds(4)) func readsBackWhatItWrites(_ seed: UInt64) {
        var random = WindowRandom(seed: seed)
        for _ in 0..<20_000 {
            let value =
                random.once(in: 2)
                ? Double(bitPattern: random.next())
                : Double(random.int(-1_000_000...1_000_000)) / Double(random.int(1...10_000))
            guard value.isFinite else { continue }
            let padded = PaddedBytes(copying: text(value).utf8)
            #expect(NumberText.double(padded.view) == value, "seed \(seed): \(value)")
            #expect(Double(text(value, dotNet: true)) == value, "seed \(seed): \(value)")
            #expect(JSONSerialization.isValidJSONObject([value]))
        }
    }

    @Test(arguments: [
        ("1", "1.0", 0), ("-0", "0.00", 0), ("1e2", "100", 0), ("12345678901234567890", "12345678901234567890.000", 0),
        ("12345678901234567890", "12345678901234567891", -1),
        ("-12345678901234567890", "-12345678901234567891", 1), ("1e400", "1e399", 1), ("-1e400", "1", -1),
        ("1e-400", "0", 1), ("0.00000000000000000000001", "1e-23", 0),
        ("1.234567890123456789012e3", "1234.567890123456789012", 0),
        ("1e99999", "1e400", 1), ("Infinity", "1e9999", 1), ("-Infinity", "-1e9999", -1), ("NaN", "-Infinity", -1),
        ("NaN", "NaN", 0), ("Infinity", "Infinity", 0), ("0e5", "0", 0),
    ])
    func ordersNumbersOfAnySize(_ one: String, _ other: String, _ expected: Int) {
        #expect(order(one, other) == expected)
        #expect(order(other, one) == -expected)
    }

    @Test func ordersAsDoublesDo() {
        var random = WindowRandom(seed: Trials.seed(5))
        for _ in 0..<20_000 {
            let one = Double(random.int(-2_000...2_000)) / 8 * (random.once(in: 3) ? 1e30 : 1)
            let other = Double(random.int(-2_000...2_000)) / 8 * (random.once(in: 3) ? 1e30 : 1)
            #expect(order("\(one)", "\(other)") == (one < other ? -1 : one > other ? 1 : 0), "\(one) \(other)")
        }
    }

    @Test func takesPowersAsFoundationDoes() {
        var random = WindowRandom(seed: Trials.seed(9))
        for round in 0..<20_000 {
            let base = round % 3 == 0 ? Double(random.int(-30...30)) : Double(random.int(1...1_000_000)) / 1_000
            let exponent = round % 2 == 0 ? Double(random.int(-40...40)) : Double(random.int(-8_000...8_000)) / 1_000
            let ours = DoublePower.power(base, exponent)
            let theirs = Foundation.pow(base, exponent)
            if ours.isNaN && theirs.isNaN { continue }
            let isNear = ours == theirs || (ours - theirs).magnitude <= theirs.ulp
            #expect(isNear, "\(base) ** \(exponent): \(ours), \(theirs)")
        }
    }

    @Test(arguments: [
        0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, .infinity, -.infinity, .nan, 3, 1e300, 1e-300, .leastNonzeroMagnitude,
    ])
    func takesSpecialPowersAsFoundationDoes(_ base: Double) {
        for exponent in [0.0, 1, -1, 2, 3, -3, 0.5, -0.5, .infinity, -.infinity, .nan, 1e10, 2.5, 1e300] {
            let ours = DoublePower.power(base, exponent)
            let theirs = Foundation.pow(base, exponent)
            #expect(ours == theirs || ours.isNaN && theirs.isNaN, "\(base) ** \(exponent): \(ours), \(theirs)")
        }
    }

    @Test func writesTimesAsFoundationDoes() {
        let format = Date.ISO8601FormatStyle()
        var random = WindowRandom(seed: Trials.seed(3))
        for _ in 0..<5_000 {
            let seconds = random.int(-12_219_292_800...253_402_300_799)
            var writer = ByteWriter()
            UnixTimeText.append(seconds: seconds, milliseconds: 0, to: &writer)
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(writer.view.string == date.formatted(format), "\(seconds)")
        }
    }

    @Test func writesEveryDayAsTheCalendarHasIt() {
        for year in [1, 2, 4, 100, 400, 1582, 1900, 2000, 2024, 9999] {
            for month in 1...12 {
                for day in [1, 28, KymographCore.Calendar.days(inMonth: month, year: year)] {
                    var writer = ByteWriter()
                    let days = KymographCore.Calendar.days(year: year, month: month, day: day)
                    UnixTimeText.append(seconds: days * 86_400, milliseconds: 7, to: &writer)
                    let parts = [month, day].map { $0 < 10 ? "0\($0)" : "\($0)" }
                    let padded = String(repeating: "0", count: 4 - "\(year)".count) + "\(year)"
                    #expect(writer.view.string == "\(padded)-\(parts[0])-\(parts[1])T00:00:00.007Z")
                }
            }
        }
    }
}
