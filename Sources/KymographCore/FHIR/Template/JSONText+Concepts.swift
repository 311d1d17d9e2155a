/// The constant parts of Observations as JSON, made once per template.
extension JSONText {
    /// The member `dataAbsentReason` with `code`.
    package static func dataAbsentReason(_ code: String) -> String {
        let system = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
        let reason = CodeableConcept(text: nil, codings: [Coding(system: system, code: code)])
        return "\"dataAbsentReason\":\(object(reason))"
    }

    /// A CodeableConcept, which must not be empty.
    package static func object(_ concept: CodeableConcept) -> String {
        let codings = concept.codings.map {
            object([("system", $0.system), ("code", $0.code), ("display", $0.display)])
        }
        let coding = codings.isEmpty ? nil : "\"coding\":[\(codings.joined(separator: ","))]"
        let text = concept.text.map { "\"text\":\(quoted($0))" }
        return "{\([coding, text].compactMap { $0 }.joined(separator: ","))}"
    }

    /// The unit members of a Quantity, each with a comma before it.
    package static func unit(_ unit: UnitRule) -> String {
        let members: [(String, String?)] = [("unit", unit.unit), ("system", unit.system), ("code", unit.code)]
        return members.compactMap { name, value in value.map { ",\"\(name)\":\(quoted($0))" } }.joined()
    }
}
