import Testing
import TrialSupport

/// Readings of one instant, corrected ones and moved ones through the whole pipeline, across kills and restarts: what is
/// on a server in the end, and the balance of the store.
///
/// What this must catch: in ``StoredShard``, take no notice of ``JournalReader/Record/moves`` (a killed run
/// brings a moved reading back); in ``StoredArchive/instant(of:series:)``, answer nil (a reading that was archived stays
/// in its old window); in ``WindowMachine/remove(series:_:payload:)``, remember where the reading was (it is looked for
/// there, and both stay); in ``JournalWriter``, leave `surplus` out (the store believes to have lost readings).
@Suite(.serialized) struct SameInstantStoreTests {
    /// `KYMO_TORTURE` asks for 20,000 sequences.
    static let rounds = Trials.isTorture ? 20_000 : 12

    @Test func everyReadingIsWhereItBelongs() throws {
        for seed in Trials.seeds(Self.rounds) {
            var sequence = SameInstantSequence(seed: seed)
            let differences = try sequence.run()
            try #require(differences == [], "seed \(seed)")
        }
    }
}
