import KymographCore

/// Reads codings and categories.
enum CodeReader {
    /// The codings of an array of `{code, system, display}`; one without any of them is an error.
    static func codings(_ node: JSONNode, log: inout DiagnosticLog) -> [Coding] {
        guard let elements = node.elements else {
            log.error(node.position, "'codes' must be an array, found \(node.kind)", finding: .wrongKind)
            return []
        }
        return elements.compactMap { coding($0, log: &log) }
    }

    /// The codings of `codes` of `object`; absent means none.
    static func codings(of object: FieldReader, log: inout DiagnosticLog) -> [Coding] {
        object.node("codes").map { codings($0, log: &log) } ?? []
    }

    /// The categories of a template.
    static func categories(_ object: FieldReader, log: inout DiagnosticLog) -> [CodeableConcept] {
        (object.array("category", log: &log) ?? []).compactMap { category($0, log: &log) }
    }

    private static func category(_ node: JSONNode, log: inout DiagnosticLog) -> CodeableConcept? {
        guard let object = FieldReader.open(node, what: "a category", log: &log) else { return nil }
        object.refuseUnknown(["text", "codes"], log: &log)
        let concept = CodeableConcept(
            text: object.text("text", log: &log), codings: codings(of: object, log: &log))
        return concept.isEmpty ? nil : concept
    }

    private static func coding(_ node: JSONNode, log: inout DiagnosticLog) -> Coding? {
        guard let object = FieldReader.open(node, what: "a code", log: &log) else { return nil }
        object.refuseUnknown(["code", "system", "display"], log: &log)
        let coding = Coding(
            system: object.text("system", log: &log), code: object.text("code", log: &log),
            display: object.text("display", log: &log), position: object.node("code")?.position ?? node.position)
        if coding.code == nil && coding.display == nil && coding.system == nil { return nil }
        CodingCheck.run(coding, at: node.position, system: object.node("system")?.position, log: &log)
        return coding
    }
}
