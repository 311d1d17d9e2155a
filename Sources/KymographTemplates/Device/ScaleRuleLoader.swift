import KymographCore

/// Reads `scale` of a value: the power of ten that its number is multiplied by, or what selects it.
enum ScaleRuleLoader {
    /// The fields of `scale` of the value that `value` reads, when it is an object: for its `expression`.
    static func opened(in value: FieldReader, log: inout DiagnosticLog) -> FieldReader? {
        guard let node = value.member("scale")?.node, node.members != nil else { return nil }
        return FieldReader(node, what: "'scale'", log: &log)
    }

    /// The rule that `node` describes; nil after an error.
    static func load(_ node: JSONNode, log: inout DiagnosticLog) -> DeviceTemplate.ScaleRule? {
        switch node.value {
        case .number(let text):
            if let power = Int(text), Decimal64.exponentRange.contains(power) { return .fixed(Int8(power)) }
        case .object:
            let reader = FieldReader(node, what: "'scale'", log: &log)
            reader.refuseUnknown(["expression"], log: &log)
            // That it is there is seen where it is compiled.
            return .read
        case .array, .string, .bool, .null: break
        }
        log.error(
            node.position, "'scale' must be a whole number from -100 to 100, or an object with 'expression'",
            advice: "it is a power of ten: -3 makes 110100 of the payload 110.100", finding: .valueRule)
        return nil
    }
}
