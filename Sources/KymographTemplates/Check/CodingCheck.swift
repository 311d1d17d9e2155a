import KymographCore

/// Checks single codings: systems that are spelled in another way than servers know, and LOINC numbers that cannot be.
enum CodingCheck {
    /// Notes what is wrong with `coding`, which is at `position`; `system` is where its system is.
    static func run(_ coding: Coding, at position: SourcePosition, system: SourcePosition?, log: inout DiagnosticLog) {
        if let text = coding.system { checkSystem(text, at: system ?? position, log: &log) }
        guard let code = coding.code else {
            return log.warning(
                position, "a coding without a code says nothing to machines", advice: "add \"code\", or use \"text\"",
                finding: .codingWithoutCode)
        }
        guard let system = coding.system else {
            let isLOINC = LOINC.fault(in: code) == nil
            return log.warning(
                coding.position, "the code '\(code)' has no system, so nobody can tell what it means",
                advice: isLOINC ? "is it of LOINC? add \"system\": \"\(LOINC.system)\"" : "add its \"system\"",
                finding: .codeWithoutSystem)
        }
        if system == LOINC.system { checkLOINC(code, at: coding.position, log: &log) }
    }

    private static func checkLOINC(_ code: String, at position: SourcePosition, log: inout DiagnosticLog) {
        switch LOINC.fault(in: code) {
        case nil: return
        case .form:
            let near = NearestName.of(code, among: ClinicalCode.all.map(\.loinc), within: 1)
            log.warning(
                position, "'\(code)' is not a LOINC number",
                advice: near.map { "did you mean '\($0)'?" } ?? "LOINC numbers look like 8867-4",
                finding: .loincFormat)
        case .checkDigit(let digit):
            log.warning(
                position, "LOINC number '\(code)' has the wrong check digit",
                advice: "\(code.dropLast(2)) ends in -\(digit): look the number up again at loinc.org",
                finding: .loincCheckDigit)
        }
    }

    /// What people write, without scheme, `www.` and final slash, and the URI that servers compare byte by byte.
    private static let systems = [
        "loinc.org": LOINC.system, "loinc": LOINC.system, "urn:oid:2.16.840.1.113883.6.1": LOINC.system,
        "unitsofmeasure.org": UnitRule.ucum, "ucum": UnitRule.ucum, "urn:oid:2.16.840.1.113883.6.8": UnitRule.ucum,
        "snomed.info/sct": "http://snomed.info/sct", "snomed": "http://snomed.info/sct",
        "urn:oid:2.16.840.1.113883.6.96": "http://snomed.info/sct",
        "hl7.org/fhir/observation-category": "http://terminology.hl7.org/CodeSystem/observation-category",
        "terminology.hl7.org/codesystem/observation-category":
            "http://terminology.hl7.org/CodeSystem/observation-category",
    ]

    /// Notes a system that is one of the usual ones in another spelling.
    static func checkSystem(_ text: String, at position: SourcePosition, log: inout DiagnosticLog) {
        var bare = Substring(text.lowercased())
        for prefix in ["https://", "http://", "www."] where bare.hasPrefix(prefix) { bare.removeFirst(prefix.count) }
        if bare.hasSuffix("/") { bare.removeLast() }
        guard let wanted = systems[String(bare)], wanted != text else { return }
        if log.fhirVersion == .stu3 && CodeSystemNames.stu3(wanted) == text { return }
        log.warning(
            position, "the system '\(text)' is not the one that servers know",
            advice: "write \"system\": \"\(wanted)\", exactly so", finding: .systemSpelling)
    }
}
