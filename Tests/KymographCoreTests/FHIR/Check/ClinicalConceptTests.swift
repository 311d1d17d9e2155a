import KymographTestKit
import Testing

@testable import KymographCore
@testable import KymographTemplates
import TrialSupport

/// What names say a measurement is about.
@Suite struct ClinicalConceptTests {
    private static let pieces = [
        "heart", "Rate", "HR", "V", "hrv", "diastolic", "Blood", "Pressure", "spO2", "SpO", "2", "body", "Mass",
        "Index",
        "weight", "-", "_", " ", ".", "3", "glucose", "Steps", "Count", "x",
    ]

    @Test(arguments: [
        ("diastolicBloodPressure", [ClinicalConcept.diastolic]), ("heart_rate-variability", [.heartRateVariability]),
        ("HeartRate", [.heartRate]), ("SpO2", [.oxygenSaturation]), ("bloodPressure", [.bloodPressure]),
        ("Body Mass Index 3", [.bodyMassIndex]), ("heart", []), ("", []), ("Pulsrate", []), ("overweight", []),
    ])
    func findsWords(_ text: String, _ concepts: [ClinicalConcept]) {
        #expect(ClinicalConcept.named(in: text) == Set(concepts))
    }

    /// Texts of ASCII are read byte by byte; with one other character behind them, as Unicode says.
    @Test(arguments: Trials.seeds(200)) func readsASCIIAsUnicodeDoes(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 0..<7, using: &generator)
        let text = (0..<count).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
        #expect(ClinicalConcept.named(in: text) == ClinicalConcept.named(in: text + " \u{20AC}"))
    }

    /// Names of fields and types are compared without regard to case.
    @Test(arguments: [
        ("typeName", "TYPENAME", true), ("typeName", "typeNam", false), ("a", "b", false), ("", "", true),
        ("\u{C4}rzte", "\u{E4}RZTE", true), ("e\u{301}", "\u{E9}", true), ("e", "e\u{301}", false),
        ("stra\u{DF}e", "STRASSE", false), ("k", "\u{212A}", true), ("a@", "a`", false),
    ])
    func ignoresCase(_ left: String, _ right: String, _ isSame: Bool) {
        #expect(left.isCaseVariant(of: right) == isSame && right.isCaseVariant(of: left) == isSame)
    }
}
