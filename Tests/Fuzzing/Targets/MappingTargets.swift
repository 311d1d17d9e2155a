@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// Files of mappings.
extension FuzzTarget {
    static let mappings = [
        FuzzTarget(name: "mapping", longest: 4_096, run: mapping),
        FuzzTarget(name: "unit", longest: 64, run: unit),
    ]

    private static let readings = [
        #"{"deviceId":"d-1","type":"hr","timestamp":"2021-07-13T17:29:01.061Z","value":72}"#,
        #"{"d":"d-1","t":"2021-07-13T17:29:01Z","v":[1,2.50,-3],"x":{"y":"z"}}"#,
        #"{"Body":{"heartRate":"60","device":"abc","time":1626197341},"Properties":{},"SystemProperties":{}}"#,
    ].map { Array($0.utf8) }

    /// `device.json` and `fhir.json`, with a line `---` between them, and payloads behind another one: what can be
    /// loaded maps payloads the same with a fast path as without.
    private static func mapping(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let compatibility = input.choice(of: [Compatibility.none, .iomtFHIR])
        let (device, fhir) = (input.part(upTo: "\n---\n"), input.part(upTo: "\n---\n"))
        let named = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: device),
            fhir: MappingFile(name: "fhir.json", bytes: fhir), compatibility: compatibility)
        let result = MappingLoader.load([named])
        let hasErrors = result.diagnostics.contains { $0.severity == .error }
        demand((result.set == nil) == hasErrors, "loaded: \(result.set != nil), \(result.diagnostics.map(\.text))")
        guard let set = result.set else { return }
        let payloads = readings + readings + [input.rest, input.rest]
        let mapping = LoadedMapping(name: "m", set: set)
        mapping.compare(payloads, isLine: false)
        for payload in payloads.suffix(3) { mapping.preview(payload) }
    }

    /// Two units, and numbers converted from one to the other and back.
    private static func unit(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let (from, to) = (String(decoding: input.part(), as: UTF8.self), String(decoding: input.rest, as: UTF8.self))
        guard let from = try? UCUMUnit.parse(from), let to = try? UCUMUnit.parse(to),
            let there = try? UnitConversion(from: from, to: to, substance: nil),
            let back = try? UnitConversion(from: to, to: from, substance: nil)
        else { return }
        for mantissa in [0, 1, -72, 9_999, 123_456_789_012_345_678] as [Int64] {
            let value = Decimal64(mantissa: mantissa, exponent: -2)
            guard let converted = there.convert(value, digits: nil) else { continue }
            _ = back.convert(converted, digits: 4)
        }
    }
}
