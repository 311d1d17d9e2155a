extension FHIRVersion {
    /// The version that the mapping file `root` says it is written for; R4, which is written in every version, when it
    /// says nothing. Another one than that of the `output` is an error.
    static func declared(in root: FieldReader, output: FHIRVersion, log: inout DiagnosticLog) -> FHIRVersion {
        let choices = allCases.map { (name: $0.rawValue, value: $0) }
        guard let declared = root.choice("fhirVersion", among: choices, log: &log) else { return .r4 }
        if !declared.agrees(with: output) {
            log.error(
                root.position(of: "fhirVersion"),
                "the mapping is written for FHIR \(declared.rawValue), but the output is \(output.rawValue)",
                advice: "set output.fhirVersion to \(declared.rawValue) (flag --fhir-version), or take another mapping",
                finding: .otherFHIRVersion)
        }
        return declared
    }
}
