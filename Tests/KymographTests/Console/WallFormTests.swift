import Foundation
import KymographCore
import Testing

@testable import Kymograph

/// What stands for the numbers and times of series in what the page Live gets, read as the page reads it.
enum WallForm {
    static func numbers(_ runs: [Int]) -> [Int] {
        var (all, number) = ([Int](), 0)
        for place in stride(from: 0, to: runs.count, by: 2) {
            number += runs[place]
            all += number..<number + runs[place + 1]
            number += runs[place + 1]
        }
        return all
    }

    static func milliseconds(_ times: [Int], from start: Int) -> [Int] {
        var time = start
        return times.map { difference in
            time += difference
            return time
        }
    }
}

/// The form in which a second, and the names of series, come to the page Live.
@Suite struct WallFormTests {
    private struct Slice: Decodable {
        var time: Int
        var series: [Int]
        var times: [Int]
        var values: [Double?]
    }

    private struct Names: Decodable {
        struct Kind: Decodable {
            var type: String
            var unit: String?
            var series: [Int]
            var devices: [String]
        }

        var kinds: [Kind]
    }

    /// A series as pages name it.
    private struct Named: Hashable {
        var number: Int
        var type: [UInt8]
        var unit: [UInt8]?
        var mask: String
    }

    private func json(_ series: [NewestReadings.Series], at seconds: Int64 = 1_780_000_000) -> [UInt8] {
        WallSlice(1, NewestReadings(series: series), at: Instant(seconds: seconds), isBeginning: false).json
    }

    private func slice(_ series: [NewestReadings.Series]) throws -> Slice {
        try JSONDecoder().decode(Slice.self, from: Data(json(series)))
    }

    private func named(_ json: [UInt8]) throws -> [Named] {
        try JSONDecoder().decode(Names.self, from: Data(json)).kinds.flatMap { kind in
            zip(WallForm.numbers(kind.series), kind.devices).map { number, mask in
                Named(number: number, type: Array(kind.type.utf8), unit: kind.unit.map { Array($0.utf8) }, mask: mask)
            }
        }
    }

    @Test(arguments: [
        ([], []), ([1, 2, 3], [1, 3]), ([0], [0, 1]), ([0, 1], [0, 2]), ([1, 2, 5, 6, 7, 9], [1, 2, 2, 3, 1, 1]),
        // As somebody may ask for names of them: of any order, and twice.
        ([7, 3, 3, 4], [7, 1, -5, 1, -1, 2]),
    ])
    func numbersComeBackFromTheirRuns(numbers: [Int], lengths: [Int]) {
        var runs = NumberRuns()
        for number in numbers { runs.append(number) }
        #expect(runs.lengths == lengths && WallForm.numbers(runs.lengths) == numbers)
    }

    /// Series that come and go, clocks of other days and of before 1970, and values of every form.
    @Test func eachReadingComesBackAsItWas() throws {
        let day: Int64 = 86_400_000_000_000
        let now: Int64 = 1_780_000_000_123_000_000
        let values: [(Decimal64?, Double?)] = [
            (.init(mantissa: 72), 72), (nil, nil), (.init(mantissa: 2_240, exponent: -2), 22.4),
            (.init(mantissa: 0), 0), (.init(mantissa: 0, exponent: -2), 0), (.init(mantissa: -5, exponent: -1), -0.5),
            (.init(mantissa: 7, exponent: 3), 7_000), (.init(mantissa: -12, exponent: 20), -12e20),
            (.init(mantissa: 9_007_199_254_740_991), 9_007_199_254_740_991),
            (.init(mantissa: 1, exponent: -100), 1e-100), (.init(mantissa: 1, exponent: 100), 1e100),
        ]
        let times = [now, now - 1, now + day, now - 400 * day, -5 * day, 0, now, now, now + 999_999, now, now]
        let numbers = [1, 2, 3, 10, 11, 500, 502, 504, 505, 506, 1_000_000]
        let series = zip(zip(numbers, times), values).map { place, value in
            NewestReadings.Series(number: place.0, count: 3, last: Instant(nanoseconds: place.1), value: value.0)
        }
        let told = try slice(series)
        #expect(WallForm.numbers(told.series) == numbers)
        #expect(WallForm.milliseconds(told.times, from: told.time * 1_000) == times.map { Int($0 / 1_000_000) })
        #expect(told.values == values.map(\.1))
        let none = try slice([])
        #expect(none.series.isEmpty && none.times.isEmpty && none.values.isEmpty)
    }

    /// Catches: names that are written once for each series, or numbers that are.
    @Test func aSecondAndTheNamesOfAWardAreShort() {
        let last = Instant(seconds: 1_780_000_000)
        let series = (1...1_000).map {
            NewestReadings.Series(number: $0, count: 1, last: last, value: .init(mantissa: 60 + Int64($0 % 30)))
        }
        #expect(json(series).count < 5_200)
        var names = WallNames()
        for number in 1...1_000 { names.append(number, type: "heartRate", unit: "/min", mask: "masked-01234567") }
        #expect(names.json.count < 18_100)
    }

    /// Two types that look the same, and are not, stay two; and so do units, and one that is missing.
    @Test func namesComeBackAsTheyWere() throws {
        let texts = ["heartRate", "\"}],\u{202E}<b>", "caf\u{E9}", "cafe\u{301}", "", "\\n\n\u{0}", "\u{1F9EA}"]
        var (names, all, number) = (WallNames(), [Named](), 1)
        for round in 0..<3 {
            for type in texts {
                for unit in [nil, "", "mm[Hg]", "\u{C5}", "A\u{30A}"] as [String?] {
                    let mask = "masked-\(round)\(number)"
                    names.append(number, type: type, unit: unit, mask: mask)
                    let bytes = unit.map { Array($0.utf8) }
                    all.append(Named(number: number, type: Array(type.utf8), unit: bytes, mask: mask))
                    number += 1 + round
                }
            }
        }
        let told = try named(names.json)
        #expect(told.count == all.count && Set(told) == Set(all))
        #expect(try JSONDecoder().decode(Names.self, from: Data(names.json)).kinds.count == texts.count * 5)
        #expect(try named(WallNames().json).isEmpty)
    }
}
