import KymographCore

// What STU3 writes in another way than R4, and what it has no words for.
extension FHIRVersion {
    /// What stands before and after the JSON text of a note. STU3 has one comment and no annotations.
    var noteTexts: (before: String, after: String) {
        self == .stu3 ? ("\"comment\":", "") : ("\"note\":[{\"text\":", "}]")
    }

    /// The member with constant notes; in STU3 they are lines of one comment.
    func notes(_ notes: [String]) -> String {
        if self == .stu3 { return "\"comment\":\(JSONText.quoted(notes.joined(separator: "\n")))" }
        return "\"note\":[\(notes.map { JSONText.object([("text", $0)]) }.joined(separator: ","))]"
    }

    /// The member `interpretation` with this coding; STU3 has one concept there, and not a list.
    func interpretation(_ coding: Coding) -> String {
        guard self == .stu3 else {
            return "\"interpretation\":[\(JSONText.object(CodeableConcept(text: nil, codings: [coding])))]"
        }
        var old = coding
        old.system = old.system.map { CodeSystemNames.stu3($0, code: coding.code) }
        return "\"interpretation\":\(JSONText.object(CodeableConcept(text: nil, codings: [old])))"
    }

    /// How an instant is written: STU3 has no effectiveInstant, and a dateTime holds the same.
    func form(_ form: EffectiveForm) -> EffectiveForm { self == .stu3 && form == .instant ? .dateTime : form }

    /// The code of STU3 for a reason of R4; nil where STU3 has none. Those that are new in R4 below another one get the
    /// code above them, which is as true.
    func absentReason(_ code: String) -> String? {
        guard self == .stu3 else { return code }
        return switch code {
        case "asked-unknown": "asked"
        case "temp-unknown": "temp"
        case "asked-declined": "unknown"
        case "as-text": "astext"
        case "not-a-number": "NaN"
        case "negative-infinity", "positive-infinity": "error"
        case "not-applicable", "not-permitted": nil
        default: code
        }
    }

    /// Refuses what STU3 has no words for: wrong output is worse than none.
    static func refuseForSTU3(_ templates: [JSONNode], log: inout DiagnosticLog) {
        for template in templates {
            guard let body = template.member("template") else { continue }
            for performer in body.member("performer")?.elements ?? [] {
                refuse(performer.member("type"), "a performer", ["PractitionerRole", "CareTeam"], log: &log)
            }
            let components = body.member("components")?.elements ?? []
            for value in ([body] + components).compactMap({ $0.member("value") }) {
                for reason in value.member("absent")?.members ?? [] {
                    refuse(reason.node, "a reason of an absent value", ["not-applicable", "not-permitted"], log: &log)
                }
            }
        }
    }

    private static func refuse(_ node: JSONNode?, _ what: String, _ unknown: [String], log: inout DiagnosticLog) {
        guard let node, let text = node.string, unknown.contains(text) else { return }
        log.error(
            node.position, "FHIR STU3 does not have '\(text)' as \(what)",
            advice: "take another one, or another output.fhirVersion", finding: .otherFHIRVersion)
    }
}
