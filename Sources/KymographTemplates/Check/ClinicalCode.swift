import KymographCore

/// A LOINC code that devices often give: what it is, in which units, and what its readings may be called.
///
/// Names are LOINC's short descriptions; sources: spec/fhir.md sections 1 and 2, loinc.org.
struct ClinicalCode {
    let loinc: String
    let name: String
    /// nil for panels, which have no value of their own.
    let units: UnitGroup?
    /// What names may say of it; the first is what it is.
    let concepts: [ClinicalConcept]

    private init(_ loinc: String, _ name: String, _ units: UnitGroup?, _ concepts: ClinicalConcept...) {
        self.loinc = loinc
        self.name = name
        self.units = units
        self.concepts = concepts
    }

    /// The entry of `loinc`, or nil when it is not in the table.
    static func of(_ loinc: String) -> ClinicalCode? { all.first { $0.loinc == loinc } }

    /// The usual code of `concept`.
    static func usual(_ concept: ClinicalConcept) -> ClinicalCode? { all.first { $0.concepts.first == concept } }

    /// The usual code of a concept comes first.
    static let all = [
        ClinicalCode("8867-4", "Heart rate", .rate, .heartRate),
        ClinicalCode("40443-4", "Heart rate --resting", .rate, .heartRate),
        ClinicalCode("8889-8", "Heart rate by Pulse oximetry", .rate, .heartRate),
        ClinicalCode("80404-7", "Heart rate variability (standard deviation of R-R)", .time, .heartRateVariability),
        ClinicalCode("9279-1", "Respiratory rate", .rate, .respiratoryRate),
        ClinicalCode("2708-6", "Oxygen saturation in Arterial blood", .fraction, .oxygenSaturation),
        ClinicalCode("59408-5", "Oxygen saturation in Arterial blood by Pulse oximetry", .fraction, .oxygenSaturation),
        ClinicalCode("8310-5", "Body temperature", .temperature, .temperature),
        ClinicalCode("8331-1", "Oral temperature", .temperature, .temperature),
        ClinicalCode("8329-5", "Body temperature - Core", .temperature, .temperature),
        ClinicalCode("61008-9", "Body surface temperature", .temperature, .temperature),
        ClinicalCode("29463-7", "Body weight", .mass, .weight),
        ClinicalCode("3141-9", "Body weight Measured", .mass, .weight),
        ClinicalCode("8302-2", "Body height", .length, .height),
        ClinicalCode("39156-5", "Body mass index (BMI) [Ratio]", .massPerArea, .bodyMassIndex, .weight),
        ClinicalCode("9843-4", "Head Occipital-frontal circumference", .length, .headCircumference),
        ClinicalCode("85354-9", "Blood pressure panel", nil, .bloodPressure, .systolic, .diastolic),
        ClinicalCode("8480-6", "Systolic blood pressure", .pressure, .systolic, .bloodPressure),
        ClinicalCode("8462-4", "Diastolic blood pressure", .pressure, .diastolic, .bloodPressure),
        ClinicalCode("8478-0", "Mean blood pressure", .pressure, .bloodPressure, .systolic, .diastolic),
        ClinicalCode("2339-0", "Glucose [Mass/volume] in Blood", .massConcentration, .glucose),
        ClinicalCode("15074-8", "Glucose [Moles/volume] in Blood", .molarConcentration, .glucose),
        ClinicalCode(
            "41653-7", "Glucose [Mass/volume] in Capillary blood by Glucometer", .massConcentration, .glucose),
        ClinicalCode(
            "14743-9", "Glucose [Moles/volume] in Capillary blood by Glucometer", .molarConcentration, .glucose),
        ClinicalCode("2345-7", "Glucose [Mass/volume] in Serum or Plasma", .massConcentration, .glucose),
        ClinicalCode("14749-6", "Glucose [Moles/volume] in Serum or Plasma", .molarConcentration, .glucose),
        ClinicalCode("99504-3", "Glucose [Mass/volume] in Interstitial fluid", .massConcentration, .glucose),
        ClinicalCode("105272-9", "Glucose [Moles/volume] in Interstitial fluid", .molarConcentration, .glucose),
        ClinicalCode("97507-8", "Average glucose [Mass/volume] in Interstitial fluid", .massConcentration, .glucose),
        ClinicalCode("105273-7", "Average glucose [Moles/volume] in Interstitial fluid", .molarConcentration, .glucose),
        ClinicalCode("55423-8", "Number of steps in unspecified time Pedometer", .count, .steps),
        ClinicalCode("41950-7", "Number of steps in 24 hour Measured", .dailyCount, .steps),
        ClinicalCode("41981-2", "Calories burned", .energy, .energy),
        ClinicalCode("9052-2", "Calorie intake total", .energy, .energy),
        ClinicalCode("93832-4", "Sleep duration", .time, .sleep),
    ]
}
