import KymographTestKit
import Testing

@testable import KymographCore
import KymographTemplates
import TrialSupport

@Suite struct StatisticsTests {
    @Test(arguments: StatisticsShapes.all.indices) func writesExactly(index: Int) throws {
        let shape = StatisticsShapes.all[index]
        #expect(try shape.written().text == shape.expected?.replacing(",,", with: ","), "\(shape.members)")
    }

    private static let template = ValueShape.value(
        """
        "valueType":"Statistics","valueName":"v","unit":"/min","code":"/min","aggregate":"median",
        "components":["std-dev","3.5-percent","20-percent","97-percent"]
        """)

    /// Numbers with up to two decimals, and the same in hundredths.
    private static func numbers(_ random: inout SeededGenerator) -> (texts: [String], hundredths: [Int128]) {
        let count = Int.random(in: 2...300, using: &random)
        let decimals = Int.random(in: 0...2, using: &random)
        let isMixed = Bool.random(using: &random)
        let widest = [3, 1000, 900_000].randomElement(using: &random) ?? 3
        var texts: [String] = []
        var hundredths: [Int128] = []
        for _ in 0..<count {
            let own = isMixed ? Int.random(in: 0...decimals, using: &random) : decimals
            let digits = Int.random(in: -widest...widest, using: &random)
            var writer = ByteWriter()
            writer.append(Decimal64(mantissa: Int64(digits), exponent: Int8(-own)))
            texts.append(writer.view.string)
            hundredths.append(Int128(digits) * [100, 10, 1][own])
        }
        return (texts, hundredths)
    }

    /// The figures against their definitions, in whole hundredths.
    @Test(arguments: Trials.seeds(120)) func figuresAreWhatTheyAreDefinedAs(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (texts, hundredths) = StatisticsTests.numbers(&random)
        var window = TestWindow(seconds: 3600)
        for (index, text) in texts.enumerated() { window.add(Int64(index) * TestWindow.second, number: number(text)) }
        let pipeline = try TestPipeline("{\"typeName\":\"x\",\"period\":\"1h\",\(StatisticsTests.template)}")
        let observation = try pipeline.observation(window)

        let median = try thousandths(observation.text("valueQuantity.value"))
        let ordered = hundredths.sorted()
        let middle = ordered[(ordered.count - 1) / 2] + ordered[ordered.count / 2]
        #expect(median * 2 == middle * 10, "\(texts)")
        for (place, permille) in [(1, 35), (2, 200), (3, 970)] {
            let found = try thousandths(observation.text("component.\(place).valueQuantity.value"))
            let needed = hundredths.filter { candidate in
                hundredths.count { $0 <= candidate } * 1000 >= permille * hundredths.count
            }
            #expect(found == needed.min().map { $0 * 10 }, "\(permille): \(texts)")
        }
        let text = try #require(observation.text("component.0.valueQuantity.value"))
        try expectDeviation(text, hundredths)
    }

    /// The written deviation is nearer to the root than half a unit of its last digit.
    private func expectDeviation(_ text: String, _ hundredths: [Int128]) throws {
        let written = try thousandths(text)
        let digits = text.split(separator: ".").last?.count ?? 0
        // Half a unit of the last of `digits` decimals, in twentieths of a hundredth.
        let half: Int128 = [1: 100, 2: 10, 3: 1][digits] ?? 0
        let count = Int128(hundredths.count)
        let sum = hundredths.reduce(0, +)
        // n² (n - 1) times the variance in (2000ths)².
        let spread = hundredths.reduce(Int128(0)) { $0 + (count * $1 - sum) * (count * $1 - sum) } * 400
        let scale = count * count * (count - 1)
        let low = max(2 * written - half, 0)
        #expect(half > 0 && low * low * scale <= spread, "\(text): \(hundredths)")
        #expect(spread <= (2 * written + half) * (2 * written + half) * scale, "\(text): \(hundredths)")
    }

    private func number(_ text: String) -> Decimal64 {
        Array(text.utf8).withByteView { $0.decimal } ?? Decimal64(mantissa: 0)
    }

    private func thousandths(_ text: String?) throws -> Int128 {
        let number = number(try #require(text))
        return Int128(try #require(number.mantissa(at: -3)))
    }

    @Test func sortsAnyOrder() {
        var random = SeededGenerator(seed: Trials.seed(7))
        for count in 0..<70 {
            let numbers = (0..<count).map { _ in
                Decimal64(
                    mantissa: .random(in: -50...50, using: &random), exponent: Int8.random(in: -2...1, using: &random))
            }
            var sorted = RawArray(numbers)
            sorted.sortBySize()
            for index in 1..<max(count, 1) { #expect(!sorted[index].isLess(than: sorted[index - 1])) }
            let values = (0..<count).map { sorted[$0].mantissa(at: -2) ?? 0 }
            #expect(values == numbers.map { $0.mantissa(at: -2) ?? 0 }.sorted())
        }
    }

    @Test(arguments: [
        ("/min", "/min/min"), ("mm[Hg]", "mm[Hg]2"), ("mmol/L", "(mmol/L).(mmol/L)"), ("%", "%2"), ("uV", "uV2"),
        ("Cel", "K2"), ("[degF]", nil), ("{steps}", nil), ("kg/m2", nil),
    ])
    func variancesHaveTheSquareOfTheUnit(code: String, squared: String?) throws {
        let pipeline = try TestPipeline(
            "{\"typeName\":\"x\",\"period\":\"1h\",\"codes\":[],\"value\":{\"valueType\":\"Statistics\","
                + "\"valueName\":\"v\",\"unit\":\"u\",\"code\":\"\(code)\",\"components\":[\"variance\"]}}")
        var window = TestWindow()
        window.add(0, [0: "60.0"])
        window.add(TestWindow.second, [0: "61.0"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("component.0.valueQuantity.value") == "0.500")
        #expect(observation.text("component.0.valueQuantity.code") == squared)
        #expect(observation.text("component.0.valueQuantity.unit") == (squared == "K2" ? "K²" : "(u)²"))
        if let squared { _ = try UCUMUnit.parse(squared) }
    }

    /// What takes more than 128 bits is not rounded otherwise, and costs no other value.
    @Test(arguments: ["std-dev", "variance"]) func figuresOfFarApartNumbersAreRefused(name: String) throws {
        let members = ValueShape.value(
            "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"aggregate\":\"latest\","
                + "\"components\":[\"\(name)\",\"count\"]")
        let pipeline = try TestPipeline("{\"typeName\":\"x\",\"period\":\"1h\",\(members)}")
        var window = TestWindow()
        window.add(0, number: Decimal64(mantissa: 999_999_999_999_999_999))
        window.add(TestWindow.second, number: Decimal64(mantissa: -999_999_999_999_999_999))
        var encoder = pipeline.encoder()
        var writer = ByteWriter()
        #expect(window.withContent { encoder.encode($0, into: &writer) } == .written(condensedValues: 0))
        let observation = try TextJSON.parse(writer.view.string)
        #expect(observation.text("valueQuantity.value") == "-999999999999999999")
        #expect(observation.text("component.0.code.coding.0.code") == name)
        #expect(observation.text("component.0.dataAbsentReason.coding.0.code") == "error")
        #expect(observation.text("component.1.valueInteger") == "2")
        #expect(encoder.losses.unwritten == 1)
    }
}
