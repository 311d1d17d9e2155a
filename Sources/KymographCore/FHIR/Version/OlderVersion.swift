extension FHIRVersion {
    /// Refuses what STU3 writes in another way than R4, where that way is not built: wrong output is worse than none.
    static func refuseForSTU3(_ templates: [JSONNode], log: inout DiagnosticLog) {
        for template in templates {
            guard let body = template.member("template") else { continue }
            for name in ["note", "performer"] { refuse(body, name, log: &log) }
            if let type = body.member("effectiveType"), type.string?.lowercased() == "instant" {
                refuse(body, "effectiveType", log: &log)
            }
            let components = body.member("components")?.elements ?? []
            for value in ([body] + components).compactMap({ $0.member("value") }) {
                for name in ["interpretation", "absent"] { refuse(value, name, log: &log) }
                if let type = value.member("valueType"),
                    ["integer", "boolean"].contains(type.string?.lowercased() ?? "")
                {
                    refuse(value, "valueType", log: &log)
                }
            }
        }
    }

    private static func refuse(_ node: JSONNode, _ name: String, log: inout DiagnosticLog) {
        guard let member = node.member(name) else { return }
        log.error(
            member.position, "'\(name)' as it is here cannot be written in FHIR STU3",
            advice: "leave it out, or take another output.fhirVersion", finding: .otherFHIRVersion)
    }
}
