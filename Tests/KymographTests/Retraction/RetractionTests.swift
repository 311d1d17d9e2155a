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

    /// Open and closed windows together have each reading that was accepted, and not taken back, once: while runs go on,
    /// after kills and after ends, whatever has closed by then.
    @Test func openAndClosedWindowsHaveAllOfIt() throws {
        var (open, closed, reopened) = (0, 0, 0)
        for seed in Trials.seeds(Self.rounds) {
            var sequence = RetractionSequence(seed: seed)
            sequence.inspection = ArchiveInspection()
            let differences = try sequence.run()
            try #require(differences == [], "seed \(seed)")
            let seen = try #require(sequence.inspection)
            (open, closed, reopened) = (open + seen.open, closed + seen.closed, reopened + seen.reopened)
        }
        #expect(open > 0 && closed > 0 && reopened > 0)
    }

    /// Closed windows alone have not.
    @Test func openWindowsAreMissed() throws {
        let found = try Trials.seeds(20).first { seed in
            var sequence = RetractionSequence(seed: seed)
            sequence.inspection = ArchiveInspection(isWithOpen: false)
            return try !sequence.run().isEmpty
        }
        #expect(found != nil)
    }

    /// The first property can fail.
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
