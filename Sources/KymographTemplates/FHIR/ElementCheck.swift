import KymographCore

/// Checks what a template writes against the type of its resource.
struct ElementCheck {
    /// Nil when the type is not known: then only what holds of every resource is checked.
    let elements: ElementTable?

    /// Notes what is wrong with the resource `body`.
    func run(_ body: JSONNode, log: inout DiagnosticLog) {
        for member in body.members ?? [] { check(member, log: &log) }
        checkRequired(body, log: &log)
        checkStatus(body, log: &log)
        checkCodings(body, log: &log)
    }

    private func check(_ member: JSONNode.Member, log: inout DiagnosticLog) {
        if ["resourceType", "id"].contains(member.name) {
            return log.error(
                member.position, "'\(member.name)' is not for the template to write",
                advice:
                    "remove it: the type is \"resourceType\" beside \"resource\", and the id is made of the identity",
                finding: .unknownElement)
        }
        if ResourceNodeReader.isHole(member.node), member.name == "identifier" || member.name.hasPrefix("$") {
            return noteKind(member, "an array", log: &log)
        }
        guard let elements else {
            if member.name == "identifier", member.node.elements == nil { noteKind(member, "an array", log: &log) }
            return
        }
        // `_name` holds the extensions of a primitive element.
        let name = member.name.hasPrefix("_") ? String(member.name.dropFirst()) : member.name
        guard let element = elements.element(name) else {
            let names = elements.elements.map(\.name)
            return log.error(
                member.position, "a \(elements.type) of FHIR \(log.fhirVersion.rawValue) has no '\(member.name)'",
                advice: NearestName.advice(
                    for: name, among: names, otherwise: "known are \(names.joined(separator: ", "))"),
                finding: .unknownElement)
        }
        guard element.isList != (member.node.elements != nil) else { return }
        noteKind(member, element.isList ? "an array" : "a single value, not an array", log: &log)
    }

    private func noteKind(_ member: JSONNode.Member, _ wanted: String, log: inout DiagnosticLog) {
        log.error(
            member.node.position, "'\(member.name)' must be \(wanted), found \(member.node.kind)",
            advice: "write \(wanted)", finding: .wrongKind)
    }

    private func checkRequired(_ body: JSONNode, log: inout DiagnosticLog) {
        guard let elements else { return }
        for names in elements.required {
            let found = names.filter { body.member($0) != nil }
            guard found.count != 1 else { continue }
            let list = names.joined(separator: " or ")
            let message =
                found.isEmpty
                ? "a \(elements.type) needs \(list)" : "a \(elements.type) has one of \(list), not several"
            let advice = found.isEmpty ? "add \"\(names[0])\" to \"resource\"" : "remove one"
            log.error(body.position, message, advice: advice, finding: .missingElement)
        }
    }

    /// A code that FHIR does not have, or one that is put together and so not known to be one.
    private func checkStatus(_ body: JSONNode, log: inout DiagnosticLog) {
        guard let elements, let status = body.member("status"),
            let codes = StatusCodes.of(elements.type, log.fhirVersion)
        else { return }
        if let code = status.string, !code.isEmpty, !codes.contains(code) {
            log.unknownChoice("status of a \(elements.type)", code, at: status.position, among: codes)
        } else if ResourceNodeReader.isHole(status), status.member("$value") == nil {
            log.error(
                status.position, "'status' is a code, and this hole gives none",
                advice: "write a code, or {\"$value\": …, \"as\": \"code\"}", finding: .resourceBody)
        }
    }

    /// Looks at the codings anywhere in the resource, as at those of Observations.
    private func checkCodings(_ node: JSONNode, log: inout DiagnosticLog) {
        for element in node.elements ?? [] { checkCodings(element, log: &log) }
        for member in node.members ?? [] {
            checkCodings(member.node, log: &log)
            guard member.name == "coding" else { continue }
            for coding in member.node.elements ?? [] { checkCoding(coding, log: &log) }
        }
    }

    private func checkCoding(_ node: JSONNode, log: inout DiagnosticLog) {
        let (system, code) = (node.member("system"), node.member("code"))
        // Holes are not known yet.
        guard node.members != nil, [system, code].allSatisfy({ $0 == nil || $0?.string != nil }) else { return }
        let coding = Coding(
            system: system?.string, code: code?.string, display: node.member("display")?.string,
            position: code?.position ?? node.position)
        CodingCheck.run(coding, at: node.position, system: system?.position, log: &log)
    }
}
