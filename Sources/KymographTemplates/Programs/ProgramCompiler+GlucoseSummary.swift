import KymographCore

extension ProgramCompiler {
    /// Adds the program of `rule`.
    mutating func addSummary(_ rule: GlucoseSummaryRule, _ type: MeasurementType) -> GlucoseSummaryProgram {
        var program = GlucoseSummaryProgram()
        program.slot = Int32(type.valueNames.firstIndex(of: rule.value.text) ?? -1)
        program.isMolar = rule.unit == .molarConcentration
        program.samplePeriod = rule.samplePeriod
        program.isReference = type.compatibility == .iomtFHIR
        let categories = rule.categories.map(JSONText.object).joined(separator: ",")
        let category = categories.isEmpty ? "" : "\"category\":[\(categories)],"
        for part in GlucosePart.allCases {
            let code = GlucoseSummaryProgram.code(part.code(rule.unit))
            program.heads[part.rawValue] = addConstant(spelled("\",\(category)\"code\":\(code),\"subject\":{"))
            let rest = JSONText.unit(part.unit(rule.unit))
            program.units[part.rawValue] = addConstant("\(rest)}")
            program.names[part.rawValue] = addName(type, part)
        }
        for (index, code) in GlucoseRange.codes.enumerated() {
            program.ranges[index] = addConstant(
                "{\"code\":\(GlucoseSummaryProgram.code(code)),\"valueQuantity\":{\"value\":")
        }
        program.absence = addConstant(spelled(",\(JSONText.dataAbsentReason("unknown"))"))
        return program
    }

    /// A name with a dot is that of no other type, because dots are escaped.
    private mutating func addName(_ type: MeasurementType, _ part: GlucosePart) -> TableRange {
        let start = Int32(constants.count)
        constants.appendIdentityPart(Array(type.name.utf8))
        if part != .panel { constants.append(Array(".\(part.name)".utf8)) }
        return TableRange(start: start, end: Int32(constants.count))
    }

    private mutating func addConstant(_ text: String) -> TableRange {
        let start = Int32(constants.count)
        constants.append(Array(text.utf8))
        return TableRange(start: start, end: Int32(constants.count))
    }
}

extension GlucoseSummaryProgram {
    fileprivate static func code(_ loinc: String) -> String {
        JSONText.object(CodeableConcept(text: nil, codings: [Coding(system: LOINC.system, code: loinc)]))
    }
}
