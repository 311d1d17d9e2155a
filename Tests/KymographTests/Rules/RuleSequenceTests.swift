import Testing
import TrialSupport

/// Whatever becomes of rules, readings and runs: every moment is what the rules that it met have made of it, windows
/// have the tags of all their readings, and what is sent is what rules for resources leave.
@Suite(.serialized) struct RuleSequenceTests {
    /// `KYMO_TORTURE` asks for 20,000 sequences.
    static let rounds = Trials.isTorture ? 20_000 : 150

    @Test func everyMomentIsAsItsRulesSay() throws {
        for seed in Trials.seeds(Self.rounds) {
            var sequence = RuleSequence(seed: seed)
            let differences = try sequence.run()
            try #require(differences == [], "seed \(seed)")
        }
    }

    /// The property above can fail: each defect is found.
    @Test(arguments: RuleSequence.Defect.allCases)
    func defectsAreFound(_ defect: RuleSequence.Defect) throws {
        let found = try Trials.seeds(300).first { seed in
            var sequence = RuleSequence(seed: seed, defect: defect)
            return try !sequence.run().isEmpty
        }
        #expect(found != nil)
    }
}
