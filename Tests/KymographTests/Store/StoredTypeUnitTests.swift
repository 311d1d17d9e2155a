import KymographCore
import Testing

@testable import Kymograph

/// The unit that is named beside the numbers of a value: theirs as they are stored, or none.
@Suite struct StoredTypeUnitTests {
    private static func stored(_ values: [String: ValueMeaning]) -> StoredType {
        var meaning = TypeMeaning()
        meaning.values = values
        let names = values.keys.sorted()
        let type = MeasurementType(
            name: "x", valueNames: names, grouping: .instance, isNumeric: names.map { _ in true })
        return StoredType(type, TypeHistory(hasTemplate: true, meaning: meaning))
    }

    private static func meaning(
        _ unit: UnitMeaning?, factor: String? = nil, origin: String? = nil
    ) -> ValueMeaning {
        var meaning = ValueMeaning()
        (meaning.unit, meaning.factor, meaning.origin) = (unit, factor, origin)
        return meaning
    }

    @Test func itIsTheCodeAndElseTheText() {
        let type = Self.stored([
            "both": Self.meaning(UnitMeaning(code: "/min", text: "beats/min")),
            "text": Self.meaning(UnitMeaning(code: nil, text: "beats")),
            "none": Self.meaning(UnitMeaning(code: nil, text: nil)), "unknown": Self.meaning(nil),
        ])
        #expect(type.unit(of: "both") == "/min" && type.unit(of: "text") == "beats")
        #expect(type.unit(of: "none") == nil && type.unit(of: "unknown") == nil)
        #expect(type.unit(of: "other") == nil && type.unit(of: nil) == nil)
    }

    /// Else a number of a converter would stand beside the unit of what the Observation makes of it.
    @Test func numbersOfAConverterHaveNone() {
        let unit = UnitMeaning(code: "mV", text: nil)
        let type = Self.stored([
            "scaled": Self.meaning(unit, factor: "0.05", origin: "0"), "moved": Self.meaning(unit, origin: "36.6"),
            "same": Self.meaning(unit, factor: "1.0", origin: "0"),
        ])
        #expect(type.unit(of: "scaled") == nil && type.unit(of: "moved") == nil && type.unit(of: "same") == "mV")
    }

    /// Stores of version 1 have units in place of the meaning, and the word `none`.
    @Test func unitsOfTheFirstVersionAreRead() {
        var type = Self.stored(["rate": Self.meaning(nil), "steps": Self.meaning(nil)])
        (type.meaning, type.units) = (nil, ["rate": "/min", "steps": "none"])
        #expect(type.unit(of: "rate") == "/min" && type.unit(of: "steps") == nil)
    }
}
