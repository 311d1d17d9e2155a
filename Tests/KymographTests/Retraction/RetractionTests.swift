import Testing
import TrialSupport

/// Readings that their senders take back: what is there in the end, whatever comes in between.
@Suite(.serialized) struct RetractionTests {
    /// `KYMO_TORTURE` asks for 20,000 sequences.
    static let rounds = Trials.isTorture ? 20_000 : 60

    @Test func whatWasTakenBackIsGoneAndStaysSo() throws {
        for seed in Trials.seeds(Self.rounds) {
            var sequence = RetractionSequence(seed: seed)
            let differences = try sequence.run()
            try #require(differences == [], "seed \(seed)")
        }
    }

    /// The property above can fail.
    @Test(arguments: RetractionSequence.Defect.allCases)
    func defectsAreFound(_ defect: RetractionSequence.Defect) throws {
        let found = try Trials.seeds(300).first { seed in
            var sequence = RetractionSequence(seed: seed, defect: defect)
            return try !sequence.run().isEmpty
        }
        #expect(found != nil)
    }

    /// The sequences come to each rule of what is meant and what stays out.
    @Test(arguments: RetractionModel.Fault.allCases)
    func faultsAreFound(_ fault: RetractionModel.Fault) throws {
        let found = try Trials.seeds(1_000).first { seed in
            var sequence = RetractionSequence(seed: seed, fault: fault)
            return try !sequence.run().isEmpty
        }
        #expect(found != nil)
    }
}
