import Testing
import TrialSupport

/// Readings that are taken back, on a server that is to delete what was an error.
@Suite(.serialized) struct DeletionTests {
    /// In the end the server has what is there, and nothing else, whatever comes in between.
    @Test func theServerHasWhatIsThere() throws {
        var (deleted, renewed) = (0, 0)
        for seed in Trials.seeds(RetractionTests.rounds) {
            var sequence = DeletionSequence(seed: seed)
            let differences = try sequence.run()
            try #require(differences == [], "seed \(seed)")
            (deleted, renewed) = (deleted + sequence.deleted, renewed + sequence.renewed)
        }
        #expect(deleted > 0 && renewed > 0)
    }

    /// The property can fail.
    @Test(arguments: DeletionSequence.Defect.allCases)
    func defectsAreFound(_ defect: DeletionSequence.Defect) throws {
        let found = try Trials.seeds(100).first { seed in
            var sequence = DeletionSequence(seed: seed, defect: defect)
            return try !sequence.run().isEmpty
        }
        #expect(found != nil)
    }
}
