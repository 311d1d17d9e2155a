import GRDB
@testable import Kymograph
import KymographCore
import Testing

/// What sinks hear of readings that are taken back, of which rules have kept versions from them.
@Suite struct UnshownRetractionTests {
    private typealias Trial = RetractionTrial

    /// Keeps all of device `d` from the only sink.
    private static let veto: EntryRules = {
        var rule = EntryRule(name: "veto")
        rule.devices = [NamePattern("d")]
        return EntryRules([rule], sinks: ["output"])
    }()

    private static func reading(_ kind: RetractionItem.Kind, at second: Int = 1) -> RetractionItem {
        Trial.item(kind, second, at: second, id: kind.hasIds ? "id-\(second)" : nil)
    }

    private static func retraction(_ kind: RetractionItem.Kind, at second: Int = 1) -> RetractionItem {
        Trial.item(kind, at: kind.hasIds ? nil : second, id: kind.hasIds ? "id-\(second)" : nil)
    }

    /// Catches: a sink that hears of what was kept from it, since it was an error; also when the rule is gone by then.
    @Test(arguments: RetractionItem.Kind.allCases, [true, false])
    func whatWasKeptFromAllIsNoError(_ kind: RetractionItem.Kind, staysVetoed: Bool) throws {
        let trial = try Trial(resources: Self.veto)
        try trial.send(Self.reading(kind))
        if !staysVetoed { trial.resources = nil }
        try trial.restart()
        try trial.send(Self.retraction(kind))
        #expect(try trial.letters() == ["retracted": 1])
        let shown = try trial.end(kind)
        #expect(shown == [])
    }

    /// The same of one that has changed meanwhile, and was kept from all again.
    @Test(arguments: RetractionItem.Kind.allCases)
    func whatChangedAndWasKeptAgainIsNoError(_ kind: RetractionItem.Kind) throws {
        let trial = try Trial(resources: Self.veto)
        try trial.send(Self.reading(kind))
        try trial.restart()
        try trial.send(Self.reading(kind, at: 2))
        try trial.restart()
        try trial.send(Self.retraction(kind))
        try trial.send(Self.retraction(kind, at: 2))
        let shown = try trial.end(kind)
        #expect(shown == [])
    }

    /// Catches: a reading that was taken back, and stays `final` where it was sent before a rule came.
    @Test(arguments: RetractionItem.Kind.allCases)
    func whatWasSentBeforeTheRuleIsAnError(_ kind: RetractionItem.Kind) throws {
        let trial = try Trial()
        try trial.send(Self.reading(kind))
        trial.resources = Self.veto
        try trial.restart()
        try trial.send(Self.reading(kind, at: 2))
        try trial.restart()
        try trial.send(Self.retraction(kind))
        try trial.send(Self.retraction(kind, at: 2))
        let shown = try trial.end(kind)
        #expect(shown == ["entered-in-error"])
    }

    /// The same where the rule is gone when the second version comes.
    @Test(arguments: RetractionItem.Kind.allCases)
    func whatWasSentAfterTheRuleIsAnError(_ kind: RetractionItem.Kind) throws {
        let trial = try Trial(resources: Self.veto)
        try trial.send(Self.reading(kind))
        trial.resources = nil
        try trial.restart()
        try trial.send(Self.reading(kind, at: 2))
        trial.resources = Self.veto
        try trial.restart()
        try trial.send(Self.retraction(kind))
        try trial.send(Self.retraction(kind, at: 2))
        let shown = try trial.end(kind)
        #expect(shown == ["entered-in-error"])
    }

    /// Catches: a single reading that was sent by a run which was killed before it was archived, and stays `final`,
    /// since the next run, which has the rule, takes it for one that no sink has got.
    @Test(arguments: [RetractionItem.Kind.spot, .card])
    func whatAKilledRunHasSentIsAnError(_ kind: RetractionItem.Kind) throws {
        let trial = try Trial()
        try trial.send(Self.reading(kind))
        trial.resources = Self.veto
        try trial.restart(isKilled: true)
        try trial.send(Self.retraction(kind))
        let shown = try trial.end(kind)
        #expect(shown == ["entered-in-error"])
    }

    /// What a run that was killed has sent of its open windows is not known: they may have been.
    @Test(arguments: RetractionItem.Kind.allCases)
    func whatAKilledRunMayHaveSentIsAnError(_ kind: RetractionItem.Kind) throws {
        let trial = try Trial(resources: Self.veto)
        try trial.send(Self.reading(kind))
        try trial.restart(isKilled: true)
        try trial.restart()
        try trial.send(Self.retraction(kind))
        let shown = try trial.end(kind)
        #expect(shown == ["entered-in-error"])
    }

    /// Catches: a window that was shown and emptied, of which the archive has no reading, and that comes again as `final`
    /// when its reading does; and as `amended` one that nobody has seen.
    @Test(arguments: [RetractionItem.Kind.named, .plain], [true, false])
    func anEmptyWindowKnowsWhetherItWasShown(_ kind: RetractionItem.Kind, isShown: Bool) throws {
        let trial = try Trial()
        try trial.send(Self.reading(kind))
        if isShown { try trial.restart() }
        try trial.send(Self.retraction(kind))
        try trial.restart()
        let readings = try trial.run.store.pool.read { try Int.fetchAll($0, sql: "SELECT readings FROM window") }
        #expect(readings == [0])
        try trial.send(Self.retraction(kind), Self.reading(kind))
        #expect(try trial.end(kind) == [isShown ? "amended 1" : "final 1"])
    }

    /// Catches: a window that a killed run has shown as preliminary, and that stays so when its only reading goes,
    /// since the next run, which shows nothing preliminary, takes it for one that no sink has got.
    @Test(arguments: [RetractionItem.Kind.named, .plain])
    func whatAKilledRunHasSentAsPreliminaryIsAnError(_ kind: RetractionItem.Kind) throws {
        var limits = WindowLimits()
        limits.preliminaryEvery = 1
        let trial = try Trial(limits)
        try trial.send(Self.reading(kind))
        trial.limits.preliminaryEvery = 0
        try trial.restart(isKilled: true)
        try trial.send(Self.retraction(kind))
        let shown = try trial.end(kind)
        #expect(shown == ["entered-in-error"])
    }
}
