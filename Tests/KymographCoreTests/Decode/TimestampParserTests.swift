import Foundation
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@Suite struct TimestampParserTests {
    private func parse(_ text: String) -> Timestamp? {
        let storage = PaddedBytes(copying: Array(text.utf8) + Array("9Z00".utf8))
        return TimestampParser.iso8601(storage.view(0..<text.utf8.count))
    }

    private func nanoseconds(_ text: String) -> Int64? { parse(text)?.instant.nanoseconds }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00Z", 0), ("1970-01-01T00:00", 0), ("1970-01-01 00:00:00", 0),
        ("1970-01-01t00:00:00z", 0), ("1970-01-01T00:00:01", 1_000_000_000), ("1969-12-31T23:59:59Z", -1_000_000_000),
        ("1970-01-01T00:00:00.1Z", 100_000_000), ("1970-01-01T00:00:00,1Z", 100_000_000),
        ("1970-01-01T00:00:00.123456789Z", 123_456_789), ("1970-01-01T00:00:00.1234567899Z", 123_456_789),
        ("1970-01-01T00:00:00.000000001", 1), ("1969-12-31T23:59:59.999999999Z", -1),
        ("2021-07-13T17:29:01.0611440Z", 1_626_197_341_061_144_000), ("2000-02-29T00:00:00Z", 951_782_400_000_000_000),
        ("2000-03-01T00:00:00Z", 951_868_800_000_000_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
        ("2016-12-31T23:59:60.5Z", 1_483_228_800_500_000_000), ("2017-01-01T00:00:00Z", 1_483_228_800_000_000_000),
        ("1678-01-01T00:00:00Z", -9_214_560_000_000_000_000), ("2261-12-31T23:59:59Z", 9_214_646_399_000_000_000),
        ("2261-12-31T23:59:60.999999999-14:00", 9_214_696_800_999_999_999),
        ("1678-01-01T00:00:00+14:00", -9_214_610_400_000_000_000),
    ])
    func reads(_ text: String, _ expected: Int64) {
        #expect(nanoseconds(text) == expected)
    }

    /// Times in the form of nearly all devices are read three words at a time; with a small z they are not.
    @Test(arguments: Trials.seeds(20))
    func readsTheUsualFormAsAnyOther(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            func two(_ range: ClosedRange<Int>) -> String {
                let number = Int.random(in: range, using: &random)
                return number < 10 ? "0\(number)" : "\(number)"
            }
            var text = "\(two(16...23))\(two(0...99))-\(two(0...13))-\(two(0...32))T\(two(0...24)):\(two(0...60)):"
            text += two(0...61) + (Bool.random(using: &random) ? ".\(two(0...99))\(two(0...9).suffix(1))" : "")
            if Int.random(in: 0..<8, using: &random) == 0 {
                var bytes = Array(text.utf8)
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0x20...0x7E, using: &random)
                text = String(decoding: bytes, as: UTF8.self)
            }
            #expect(parse(text + "Z") == parse(text + "z"), "\(text)Z")
        }
    }

    @Test(arguments: [
        ("2021-07-13T17:29:01+02:00", 120), ("2021-07-13T17:29:01-05:30", -330), ("2021-07-13T17:29:01+0545", 345),
        ("2021-07-13T17:29:01+05", 300), ("2021-07-13T17:29:01.5+00:00", 0), ("2021-07-13T17:29+14:00", 840),
        ("2021-07-13T17:29:01-00:00", 0), ("2021-07-13 17:29:01 +0200", 120), ("2021-07-13 17:29:01 -05:30", -330),
        ("2021-07-13T17:29:01.5 +05", 300), ("2021-07-13 17:29 +0000", 0),
    ])
    func keepsTheOffset(_ text: String, _ minutes: Int16) throws {
        let time = try #require(parse(text))
        #expect(time.offsetMinutes == minutes)
        let seconds: Int64 = text.contains("17:29:01") ? 1_626_197_341 : 1_626_197_340
        #expect(time.instant.nanoseconds / 1_000_000_000 == seconds - Int64(minutes) * 60)
    }

    @Test(arguments: [
        ("2021-07-13T17:29:01Z", 0), ("2021-07-13T17:29:01.000Z", 3), ("2021-07-13T17:29:01.5Z", 1),
        ("2021-07-13T17:29:01,50+02:00", 2), ("2021-07-13T17:29:01.1234567", 7), ("2021-07-13T17:29", 0),
        ("2021-07-13T17:29:01.123456789012-09:30", 9),
    ])
    func keepsTheDigits(_ text: String, _ digits: Int) {
        #expect(parse(text)?.form.digits == digits)
    }

    @Test(arguments: [("1626197341", 0), ("1626197341.5", 1), ("-1.250", 3), ("1.6261973415e9", 0)])
    func keepsTheDigitsOfSeconds(_ text: String, _ digits: Int) {
        let time = Array(text.utf8).withByteView { TimestampParser.epoch($0, .epochSeconds) }
        #expect(time?.form.digits == digits)
    }

    @Test func formsOfTimesComeBack() {
        for offset in [UTCOffset.none] + Array(-840...840) {
            for digits in 0...9 {
                let form = TimeForm(offsetMinutes: offset, digits: digits)
                #expect(form.offsetMinutes == offset && form.digits == digits)
            }
        }
    }

    @Test(arguments: ["2021-07-13T17:29:01Z", "2021-07-13T17:29:01", "2021-07-13T17:29"])
    func hasNoOffset(_ text: String) {
        #expect(parse(text)?.offsetMinutes == UTCOffset.none)
    }

    @Test(arguments: [
        "", "2021", "2021-07-13", "2021-07-13T17", "2021-07-13T17:2", "2021-7-13T17:29:01Z", "2021-07-13X17:29:01Z",
        "2021-07-13T17:29:1Z", "2021-07-13T17:29:01.Z", "2021-07-13T17:29:01.", "2021-07-13T17:29:Z",
        "2021-07-13T17:29:61Z", "2021-07-13T17:60:01Z", "2021-07-13T24:00:00Z", "2021-07-13T-1:00:00Z",
        "2021-00-13T17:29:01Z", "2021-13-13T17:29:01Z", "2021-07-00T17:29:01Z", "2021-07-32T17:29:01Z",
        "2021-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2020-02-30T00:00:00Z",
        "2021-04-31T00:00:00Z", "2021-06-31T00:00:00Z", "2021-09-31T00:00:00Z", "2021-11-31T00:00:00Z",
        "1677-12-31T23:59:59Z", "2262-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
        "2021-07-13T17:29:01ZZ", "2021-07-13T17:29:01Z ", " 2021-07-13T17:29:01Z", "2021-07-13T17:29:01 Z",
        "2021-07-13T17:29:01+", "2021-07-13T17:29:01+2", "2021-07-13T17:29:01+02:", "2021-07-13T17:29:01+02:0",
        "2021-07-13T17:29:01+02:60", "2021-07-13T17:29:01+15:00", "2021-07-13T17:29:01+14:01",
        "2021-07-13T17:29:01-14:59", "2021-07-13T17:29:01+02:00Z", "2021-07-13T17:29:01+ab:cd",
        "2021-07-13 17:29:01 ", "2021-07-13 17:29:01  +0200", "2021-07-13 17:29:01 0200",
        "2021-07-13 17:29:01 + 0200",
        "2021-07-13 17:29:01 +0200 ", "2021-07-13T17:29:01*02:00", "2021/07/13T17:29:01Z", "20210713T172901Z",
        "+2021-07-13T17:29:01Z",
        "2021-07-13T17.29.01Z", "July 13, 2021 17:29", "/Date(1626197341000)/", "1626197341", "２０２１-07-13T17:29",
    ])
    func refuses(_ text: String) {
        #expect(parse(text) == nil)
    }

    @Test func agreesWithTheCalendarOnEveryDay() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "GMT"))
        for day in stride(from: -106_650, through: 106_650, by: 1) {
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86_400))
            let (year, month, date) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
            guard (1678...2261).contains(year) else { continue }
            let text = "\(year)-\(month < 10 ? "0" : "")\(month)-\(date < 10 ? "0" : "")\(date)T00:00:00Z"
            #expect(nanoseconds(text) == Int64(day) * 86_400_000_000_000, "\(text)")
        }
    }
}

@Suite struct EpochTests {
    private func parse(_ text: String, _ format: TimestampFormat) -> Int64? {
        let storage = PaddedBytes(copying: Array(text.utf8) + Array("99e9".utf8))
        return TimestampParser.epoch(storage.view(0..<text.utf8.count), format)?.instant.nanoseconds
    }

    static let readable: [(String, TimestampFormat, Int64)] = [
        ("0", .epochSeconds, 0), ("1625677200", .epochSeconds, 1_625_677_200_000_000_000),
        ("1625677200.5", .epochSeconds, 1_625_677_200_500_000_000),
        ("1625677200.123456789", .epochSeconds, 1_625_677_200_123_456_789),
        ("1625677200.1234567899", .epochSeconds, 1_625_677_200_123_456_789),
        ("1.6256772e9", .epochSeconds, 1_625_677_200_000_000_000),
        ("-1", .epochSeconds, -1_000_000_000), ("-0.5", .epochSeconds, -500_000_000), ("-0", .epochSeconds, 0),
        ("-1.9999999999", .epochSeconds, -1_999_999_999),
        ("1625677200123", .epochMilliseconds, 1_625_677_200_123_000_000),
        ("1625677200123.456789", .epochMilliseconds, 1_625_677_200_123_456_789),
        ("1625677200123456", .epochMicroseconds, 1_625_677_200_123_456_000),
        ("1625677200123456.789", .epochMicroseconds, 1_625_677_200_123_456_789),
        ("1625677200123456789", .epochNanoseconds, 1_625_677_200_123_456_789),
        ("1625677200123456789.9", .epochNanoseconds, 1_625_677_200_123_456_789),
        ("1625677200123456789.000000000000000000001", .epochNanoseconds, 1_625_677_200_123_456_789),
        ("-1625677200123456789", .epochNanoseconds, -1_625_677_200_123_456_789),
        ("9199999999", .epochSeconds, 9_199_999_999_000_000_000), ("0e9999", .epochSeconds, 0),
        ("1e-9", .epochSeconds, 1), ("1e-10", .epochSeconds, 0), ("1e-9999", .epochSeconds, 0),
        ("16256772e2", .epochSeconds, 1_625_677_200_000_000_000), ("1e-99999999999999999999", .epochSeconds, 0),
    ]

    @Test(arguments: readable) func reads(_ text: String, _ format: TimestampFormat, _ expected: Int64) {
        #expect(parse(text, format) == expected)
    }

    @Test(arguments: [
        ("9200000000", TimestampFormat.epochSeconds), ("-9200000000", .epochSeconds), ("9300000000", .epochSeconds),
        ("1625677200000", .epochSeconds), ("1625677200123456789", .epochMilliseconds), ("1e10", .epochSeconds),
        ("1e9999", .epochSeconds), ("1e99999999999999999999", .epochSeconds),
        ("9223372036854775807", .epochNanoseconds),
        ("9223372036854775808", .epochNanoseconds), ("99999999999999999999", .epochNanoseconds),
        ("18446744073709551616", .epochNanoseconds), ("-9223372036854775808", .epochNanoseconds),
        ("", .epochSeconds), (" 1", .epochSeconds), ("1 ", .epochSeconds), ("+1", .epochSeconds), ("01", .epochSeconds),
        ("1,5", .epochSeconds), ("0x5", .epochSeconds), ("now", .epochSeconds), ("1.", .epochSeconds),
        ("2021-07-13T17:29:01Z", .epochSeconds), ("2021-07-13T17:29:01Z", .epochMilliseconds),
    ])
    func refuses(_ text: String, _ format: TimestampFormat) {
        #expect(parse(text, format) == nil)
    }

    @Test func readsEveryDigitOfRandomInstants() {
        var random = WindowRandom(seed: Trials.seed(0xE9))
        for _ in 0..<10_000 {
            let expected = Int64.random(in: 0..<9_200_000_000_000_000_000, using: &random)
            #expect(parse("\(expected)", .epochNanoseconds) == expected)
            let fraction = String(String(expected % 1_000_000_000 + 1_000_000_000).dropFirst())
            #expect(parse("\(expected / 1_000_000_000).\(fraction)", .epochSeconds) == expected)
        }
    }
}
