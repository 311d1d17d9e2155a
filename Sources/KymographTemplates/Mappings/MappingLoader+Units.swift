import KymographCore

/// Whether the units of the two files of a mapping are the same.
extension MappingLoader {
    /// Notes values of `template` that are converted to another unit than `fhir` writes beside them: each Observation
    /// would state a wrong quantity. Another spelling of the same unit is fine. `log` is of the device file.
    func checkUnits(
        of template: DeviceTemplate, _ fhir: FHIRTemplate, _ mapping: NamedMapping, _ log: inout DiagnosticLog
    ) {
        for value in template.values {
            guard let rule = value.rule?.unit else { continue }
            for written in fhir.units(of: value.name) {
                guard let code = UnitCheck.code(of: written), let unit = try? UCUMUnit.parse(code),
                    !unit.isSame(as: rule.target)
                else { continue }
                let place = "\(mapping.fhir?.name ?? "fhir.json"):\(written.position.line):\(written.position.column)"
                log.error(
                    rule.targetPosition,
                    "the value '\(value.name)' is converted to '\(rule.target.code)', but \(place) writes it as "
                        + "'\(written.code ?? code)'",
                    advice: "state the same unit in both files", finding: .unitMismatch)
            }
        }
    }
}

extension FHIRTemplate {
    /// The units that are written beside the numbers of the value `name`.
    fileprivate func units(of name: String) -> [UnitRule] {
        let values = (value.map { [$0] } ?? []) + components.map(\.value)
        let summed = summary.flatMap { $0.value.text == name ? $0.readingUnit : nil }
        return values.filter { $0.name == name }.compactMap(\.kind.unit) + (summed.map { [$0] } ?? [])
    }
}

extension UCUMUnit {
    /// Whether a number means the same in both, however they are written.
    func isSame(as other: UCUMUnit) -> Bool {
        dimension == other.dimension && magnitude == other.magnitude && zeroPoint == other.zeroPoint
    }
}
