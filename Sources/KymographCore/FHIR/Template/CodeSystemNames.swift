/// The names of HL7's own code systems, which moved to `http://terminology.hl7.org/CodeSystem/` with R4.
///
/// STU3 had them below `http://hl7.org/fhir/` (spec/fhir.md section 1; the systems of HL7 version 2 and 3 in folders of
/// their own). Mappings have the names of R4; those of a mapping that has the old ones are left as they are.
package enum CodeSystemNames {
    private static let base = "http://terminology.hl7.org/CodeSystem/"
    /// The code system of interpretations.
    package static let interpretation = base + "v3-ObservationInterpretation"
    private static let member = "\"system\":\"" + base
    /// Code systems that STU3 has directly below `http://hl7.org/fhir/`.
    private static let moved = [
        "communication-category", "data-absent-reason", "device-status-reason", "flag-category",
        "medication-admin-category", "observation-category", "observation-statistics", "referencerange-meaning",
    ]

    /// The name in STU3 of the code system that is called `system` in R4.
    package static func stu3(_ system: String) -> String {
        guard system.hasPrefix(base) else { return system }
        let name = system.dropFirst(base.count)
        for folder in ["v2", "v3"] where name.hasPrefix(folder + "-") {
            return "http://hl7.org/fhir/\(folder)/\(name.dropFirst(3))"
        }
        return moved.contains(String(name)) ? "http://hl7.org/fhir/\(name)" : system
    }

    /// The codes of interpretations that table 0078 of HL7 version 2 has, which STU3 binds them to.
    private static let interpretations: Set = [
        "A", "AA", "B", "D", "DET", "H", "HH", "I", "IND", "L", "LL", "MS", "N", "ND", "NEG", "POS", "R", "S", "U",
        "VS", "W",
    ]

    /// The name in STU3 of the code system in which R4 has an interpretation's `code`.
    package static func stu3(_ system: String, code: String?) -> String {
        let isMoved = system == interpretation && interpretations.contains(code ?? "")
        return isMoved ? stu3(base + "v2-0078") : stu3(system)
    }

    /// `json` with the names of STU3 in all its members `system`.
    ///
    /// A quotation mark inside of a JSON string is escaped, so that nothing but a member can look like one.
    package static func stu3(in json: String) -> String {
        var parts = json.split(separator: member, omittingEmptySubsequences: false).map(String.init)
        for index in parts.indices.dropFirst() {
            let name = parts[index].prefix { $0 != "\"" }
            parts[index] = "\"system\":\"" + stu3(base + name) + parts[index].dropFirst(name.count)
        }
        return parts.joined()
    }
}
