import KymographCore
import KymographTestKit

/// One of the mappings that a store sees one after the other: they differ in types, windows and units.
struct MappingVariant: Equatable {
    /// A kind of readings: `level` is summed up in windows, `spot` is one Observation a reading.
    enum Kind: String, CaseIterable {
        case level, spot
    }

    /// Length of the windows of `level` in minutes.
    var minutes = 5
    /// The unit of both kinds; nil for numbers without.
    var unit: String? = "mg/dL"
    var kinds: Set<Kind> = [.level, .spot]
    /// Whether `level` has ids of its sender.
    var hasIds = false
    /// Types before the others, so that numbers move.
    var strangers = 0
    /// What the code of single readings ends with: by it each shows which mapping has written it.
    var edition = 0

    static let units: [String?] = ["mg/dL", "mg/dL", "mg/dL", "mmol/L", nil]

    static func random(_ generator: inout SeededGenerator) -> MappingVariant {
        var variant = MappingVariant()
        variant.minutes = [5, 5, 1].randomElement(using: &generator) ?? 5
        variant.unit = units.randomElement(using: &generator) ?? nil
        let kinds: [Set<Kind>] = [[.level, .spot], [.level, .spot], [.level], [.spot], []]
        variant.kinds = kinds.randomElement(using: &generator) ?? []
        variant.hasIds = Int.random(in: 0..<4, using: &generator) == 0
        variant.strangers = Int.random(in: 0...2, using: &generator)
        variant.edition = Int.random(in: 0...2, using: &generator)
        return variant
    }

    private var names: [String] {
        (0..<strangers).map { "stranger\($0)" } + Kind.allCases.filter(kinds.contains).map(\.rawValue) + ["other"]
    }

    /// The two files.
    var named: NamedMapping {
        let device = names.map { name in
            let id = hasIds && name == Kind.level.rawValue ? #""readingIdExpression":"$.i","# : ""
            return #"""
                {"templateType":"JsonPathContent","template":{"typeName":"\#(name)",\#(id)
                "typeMatchExpression":"$..[?(@\#(name))]",
                "deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s",
                "values":[{"valueName":"x","valueExpression":"$.\#(name)","required":true}]}}
                """#
        }
        let fhir = names.map { name in
            let isKind = Kind(rawValue: name) != nil
            let unit = (isKind ? unit : "1").map { #","unit":"\#($0)","code":"\#($0)""# } ?? ""
            let isLevel = name == Kind.level.rawValue
            let code = name == Kind.spot.rawValue ? "\(name)-\(edition)" : name
            let value =
                isLevel
                ? #""valueType":"Statistics","aggregate":"sum","components":["count"]"# : #""valueType":"Quantity""#
            return #"""
                {"templateType":"CodeValueFhir","template":{"typeName":"\#(name)",
                "period":"\#(isLevel ? "\(minutes)m" : "instance")","codes":[{"system":"urn:t","code":"\#(code)"}],
                "value":{"valueName":"x",\#(value)\#(unit)}}}
                """#
        }
        func file(_ name: String, _ type: String, _ templates: [String]) -> MappingFile {
            let text = #"{"templateType":"\#(type)","template":[\#(templates.joined(separator: ","))]}"#
            return MappingFile(name: name, bytes: Array(text.utf8))
        }
        return NamedMapping(
            name: "m", device: file("device.json", "CollectionContent", device),
            fhir: file("fhir.json", "CollectionFhir", fhir))
    }
}
