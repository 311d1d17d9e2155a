import Testing
import TrialSupport

/// Whatever becomes of maps, readings and runs: every moment of a device is filed for one patient, the one that was
/// right when it was filed first, and nothing that was taken is missing.
@Suite(.serialized) struct PatientSequenceTests {
    /// `KYMO_TORTURE` asks for 20,000 sequences.
    static let rounds = Trials.isTorture ? 20_000 : 150

    @Test func everyMomentIsOfOnePatient() throws {
        for seed in Trials.seeds(Self.rounds) {
            var sequence = PatientSequence(seed: seed)
            let differences = try sequence.run()
            try #require(differences == [], "seed \(seed)")
        }
    }

    /// Sequences in which a letter that was taken again went by beside a reading of another patient.
    @Test(arguments: [UInt64(20_260_003_000_027), 20_260_006_000_019]) func formerFaults(seed: UInt64) throws {
        var sequence = PatientSequence(seed: seed)
        #expect(try sequence.run() == [])
    }

    /// The property above can fail: each defect is found.
    @Test(arguments: PatientSequence.Defect.allCases)
    func defectsAreFound(_ defect: PatientSequence.Defect) throws {
        let found = try Trials.seeds(300).first { seed in
            var sequence = PatientSequence(seed: seed, defect: defect)
            return try !sequence.run().isEmpty
        }
        #expect(found != nil)
    }
}
