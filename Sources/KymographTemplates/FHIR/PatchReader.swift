package import KymographCore

/// Reads what a rule adds to resources: members as a FHIR template states them (docs/rules.md).
package enum PatchReader {
    /// What may be added.
    private static let names = [
        "category", "note", "tag", "security", "performer", "method", "bodySite", "extension",
    ]
    /// What says what was measured, of whom, when and by what: that is for the mapping and the readings to say.
    private static let refused: Set = [
        "subject", "code", "codes", "value", "components", "component", "effective", "effectiveType", "identifier",
        "id", "status", "device", "encounter", "issued", "resourceType", "typeName",
    ]

    /// The members of `node`; what is wrong is noted in `log`.
    package static func read(_ node: JSONNode, log: inout DiagnosticLog) -> EntryPatch {
        var patch = EntryPatch()
        guard let object = FieldReader.open(node, what: "what a rule sets", log: &log) else { return patch }
        let members = node.members ?? []
        for member in members where refused.contains(member.name) {
            log.error(
                member.position,
                "'\(member.name)' is not for a rule to set: it says what was measured, of whom or when",
                advice: "change the mapping, or see docs/patients.md and docs/peers.md")
        }
        guard !members.contains(where: { refused.contains($0.name) }) else { return patch }
        object.refuseUnknown(names, log: &log)
        patch.categories = CodeReader.categories(object, log: &log)
        patch.members = MemberReader(object).read(log: &log)
        if patch.members.noteName != nil {
            log.error(
                object.position(of: "note"), "the note of a rule is text",
                advice: "write the text, or several in a list")
        }
        if patch.isEmpty, !log.hasErrors {
            log.error(node.position, "it sets nothing", advice: "write one of \(names.joined(separator: ", "))")
        }
        return patch
    }
}
