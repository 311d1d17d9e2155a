import CommandSupport
import KymographTestKit
import Testing

/// The identifier systems of what has left a store stay what they are: with others a server would have each resource
/// twice, and corrections would miss the former one.
@Suite struct IdentifierSystemTests {
    private func settings(_ run: StoredRun, _ system: String?) -> [String] {
        let text = system.map { "output: {systems: {observation: \"\($0)\"}}\n" } ?? "window: 1m\n"
        return ["--config", run.folder.write("kymo.yaml", text)]
    }

    @Test func othersAreRefused() throws {
        let run = StoredRun()
        // Nothing has left yet.
        #expect(try run.run([], settings(run, "urn:example:first")).end == .exit(0))
        #expect(try run.run(Readings.heartRates(3), settings(run, "urn:example:second")).end == .exit(0))
        for system in ["urn:example:first", nil] {
            let refused = try run.run(Readings.heartRates(5), settings(run, system))
            #expect(refused.end == .exit(78), "\(refused.error)")
            #expect(refused.error.contains("output.systems is not what it was"), "\(refused.error)")
        }
        let use = ["--stdin", "--out", run.output, "--data", run.data]
        let checked = try Kymo.run(["check"] + use + settings(run, "urn:example:first"))
        #expect(checked.end == .exit(78) && checked.error.contains("output.systems is not what"), "\(checked.error)")
        let again = try run.run(Readings.heartRates(5), settings(run, "urn:example:second"))
        #expect(again.end == .exit(0) && again.balance?.accepted == 2, "\(again.error)")
        #expect(try run.value("SELECT count(*) FROM decider WHERE name LIKE 'identifier_systems%'") == 1)
    }

    /// A store that does not know what it had takes those of its next run.
    @Test func aStoreFromBefore() throws {
        let run = StoredRun()
        #expect(try run.run(Readings.heartRates(3)).end == .exit(0))
        try run.change("DELETE FROM decider WHERE name LIKE 'identifier_systems%'")
        #expect(try run.run(Readings.heartRates(5), settings(run, "urn:example:first")).end == .exit(0))
        #expect(try run.run(Readings.heartRates(6)).end == .exit(78))
    }
}
