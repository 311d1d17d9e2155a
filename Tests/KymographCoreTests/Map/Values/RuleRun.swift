import Foundation

@testable import KymographCore

/// One value with its rule, loaded from a device mapping, and what the rule makes of texts.
final class RuleRun {
    private let rules: ValueRules
    let code: ValueCode
    /// What selects the text for the unit.
    let unit: ExpressionCode

    /// Loads a mapping whose one value has the members `members`, as JSON.
    init(_ members: String) throws {
        let device = RuleRun.device(members)
        let run = try MappingRun(device: device)
        let code = run.set.code(of: [0])
        rules = ValueRules(code.rules)
        self.code = code.values[0]
        unit = code.units[0]
    }

    static func device(_ members: String) -> String {
        """
        {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
          "typeName": "t", "typeMatchExpression": "$..[?(@v)]", "deviceIdExpression": "$.d",
          "timestampExpression": "$.t", "values": [
        {"valueName": "x", \(members)}]}}]}
        """
    }

    /// The number or text that `text` becomes, or `!` and the reason.
    func apply(_ text: String, unit: String? = nil) -> String {
        let bytes = PaddedBytes(copying: text.utf8)
        let unitBytes = PaddedBytes(copying: (unit ?? "").utf8)
        switch rules.apply(Int(code.rule), text: bytes.view, unitText: unit == nil ? nil : unitBytes.view) {
        case .number(let number): return UnitValue.text(number)
        case .text(let text): return "'\(text.string)'"
        case .rejected(let reason): return "!\(reason.name)"
        }
    }

    var constant: String? { rules.constantText(Int(code.rule))?.string }
    var fallback: String? { rules.defaultText(Int(code.rule))?.string }
    var readsUnit: Bool { rules.readsUnit(Int(code.rule)) }
}
