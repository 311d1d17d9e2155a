import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
@testable import KymographTemplates
import Testing

/// What becomes of single retractions, and how it is counted.
@Suite struct RetractionOutcomeTests {
    private typealias Trial = RetractionTrial

    /// Catches: a document with any retraction that lifts all, and a re-sent day that brings a reading back.
    @Test func onlyItsOwnRetractionRenewsAReading() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"), Trial.item(.named, 2, at: 2, id: "b"))
        try trial.send(Trial.item(.named, id: "a"))
        try trial.send(Trial.item(.named, id: "b"), Trial.item(.named, 1, at: 1, id: "a"))
        try trial.restart(isKilled: true)
        try trial.send(Trial.item(.named, 2, at: 2, id: "b"))
        #expect(try trial.letters() == ["retracted": 4])
        try trial.send(Trial.item(.named, 4, at: 3, id: "a"), Trial.item(.named, id: "a"))
        let shown = try trial.end(.named)
        #expect(shown == ["final 4"])
    }

    /// Two patients' readings of one id, of which one is taken back and keeps the other one out when it comes again: that
    /// one is still there, and can be taken back, too.
    @Test func eachPatientsReadingOfOneIdIsTakenBack() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.card, 1, at: 1, id: "a", patient: "q"))
        try trial.send(Trial.item(.card, 2, at: 2, id: "a", patient: "p"))
        try trial.restart()
        try trial.send(Trial.item(.card, id: "a", patient: "p"))
        try trial.send(Trial.item(.card, 1, at: 1, id: "a", patient: "q"))
        try trial.send(Trial.item(.card, id: "a", patient: "q"))
        #expect(try trial.letters() == ["retracted": 3])
        let shown = try trial.end(.card)
        #expect(shown == ["entered-in-error", "entered-in-error"])
    }

    /// A line is a document.
    @Test func lineByLineNothingIsRenewed() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, id: "a"))
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        #expect(try trial.letters() == ["unknownRetraction": 1, "retracted": 1])
        let shown = try trial.end(.named)
        #expect(shown == [])
    }

    /// Catches: what was superseded and comes up again. What a run that was killed has shown is not known.
    @Test(arguments: [false, true]) func anInstantIsTakenBackWithAllThatItSaid(_ isArchived: Bool) throws {
        let trial = try Trial()
        try trial.send(Trial.item(.latest, 1, at: 1))
        try trial.send(Trial.item(.latest, 2, at: 1))
        if isArchived { try trial.restart() }
        try trial.send(Trial.item(.latest, at: 1))
        try trial.restart(isKilled: true)
        try trial.send(Trial.item(.latest, 1, at: 1))
        try trial.send(Trial.item(.latest, 2, at: 1))
        let shown = try trial.end(.latest)
        #expect(shown == ["entered-in-error"])
    }

    /// Catches: a retraction that takes another patient's reading, the first or the second time.
    @Test func whatFitsSeveralTakesNone() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.latest, 1, at: 1, patient: "p"))
        try trial.send(Trial.item(.latest, 2, at: 1, patient: "q"))
        try trial.send(Trial.item(.plain, 1, at: 1))
        try trial.send(Trial.item(.plain, 2, at: 1))
        try trial.send(Trial.item(.latest, at: 1))
        try trial.send(Trial.item(.plain, at: 1))
        #expect(try trial.letters() == ["ambiguousRetraction": 2])
        try trial.send(Trial.item(.latest, at: 1, patient: "r"))
        #expect(try trial.letters() == ["ambiguousRetraction": 2, "patientDeviceMismatch": 1])
        try trial.send(Trial.item(.latest, at: 1, patient: "p"))
        try trial.restart()
        try trial.send(Trial.item(.latest, at: 1, patient: "p"))
        // Another one's is left: it may be meant.
        try trial.send(Trial.item(.latest, at: 1))
        let balance = try trial.balance()
        #expect(balance.retractions == 2 && balance.rejected["retracted"] == 1 && balance.accepted == 3)
        #expect(balance.rejected["ambiguousRetraction"] == 3)
        #expect(balance.received == balance.accountedFor && balance.lost == 0 && balance.onTheWay == 0)
        let shown = try trial.end(.latest)
        #expect(shown == ["final 2"])
    }

    /// When no one's is left, the retraction has come before, whoever was named with it.
    @Test func whatNamesNoPatientMayHaveCome() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.latest, 1, at: 1, patient: "p"))
        try trial.send(Trial.item(.latest, at: 1, patient: "p"))
        try trial.send(Trial.item(.latest, at: 1))
        #expect(try trial.letters() == ["retracted": 1])
        // One that has taken nothing is not it.
        try trial.send(Trial.item(.latest, at: 2, patient: "q"))
        try trial.send(Trial.item(.latest, at: 2))
        try trial.send(Trial.item(.latest, 1, at: 2, patient: "p"))
        #expect(try trial.letters() == ["retracted": 2, "unknownRetraction": 2])
        #expect(try trial.balance().retractions == 2)
    }

    /// Catches: a retraction that is sent again and takes the next reading of its time.
    @Test func readingsWithIdsHaveNoTimeForAName() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.send(Trial.item(.named, at: 1))
        try trial.send(Trial.item(.named, 2, at: 1, id: "b"))
        try trial.send(Trial.item(.named, at: 1))
        #expect(try trial.letters() == ["ambiguousRetraction": 2])
        let shown = try trial.end(.named)
        #expect(shown == ["final 3"])
    }

    /// Catches: a reading that was renewed, and stays out because it was once taken back for another patient.
    @Test func whatIsRenewedIsSoForAll() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", patient: "p"))
        try trial.send(Trial.item(.named, id: "a", patient: "p"))
        try trial.send(Trial.item(.named, 2, at: 1, id: "a", patient: "q"))
        #expect(try trial.letters() == ["retracted": 2])
        try trial.send(
            Trial.item(.named, 1, at: 1, id: "a", patient: "q"), Trial.item(.named, id: "a", patient: "q"))
        try trial.restart(isKilled: true)
        try trial.send(Trial.item(.named, 4, at: 1, id: "a", patient: "q"))
        #expect(try trial.letters() == ["retracted": 2, "unknownRetraction": 1, "superseded": 1])
        let shown = try trial.end(.named)
        #expect(shown == ["entered-in-error", "final 4"])
    }

    /// A journal with a reading, its retraction and the reading once more, of which nothing is out any more.
    @Test func whatIsRenewedIsReplayed() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.send(Trial.item(.named, id: "a"))
        try trial.send(Trial.item(.named, 2, at: 1, id: "a"), Trial.item(.named, id: "a"))
        try trial.restart(isKilled: true)
        let shown = try trial.end(.named)
        #expect(shown.count == 1 && shown.allSatisfy { $0.hasSuffix(" 2") }, "\(shown)")
    }

    /// Catches: a retraction that keeps out another patient's reading if it comes first, and takes none if not.
    @Test func thePatientCountsInAnyOrder() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, id: "a", patient: "q"))
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", patient: "p"))
        try trial.send(Trial.item(.named, 2, at: 1, id: "a", patient: "q"))
        #expect(try trial.letters() == ["unknownRetraction": 1, "retracted": 1])
        // That one was kept out does not make the id that one's.
        try trial.restart(isKilled: true)
        try trial.send(Trial.item(.named, 4, at: 1, id: "a", patient: "p"))
        try trial.send(Trial.item(.named, 2, at: 1, id: "a", patient: "q"))
        #expect(try trial.letters() == ["unknownRetraction": 1, "retracted": 2, "superseded": 1])
        let shown = try trial.end(.named)
        #expect(shown == ["final 4"])
    }

    /// Retractions that overtake their readings, in another run.
    @Test func whatIsNotThereYetIsKeptOut() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, id: "a"))
        try trial.send(Trial.item(.spot, at: 7), lane: 1)
        #expect(try trial.letters() == ["unknownRetraction": 2])
        try trial.restart(isKilled: true)
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", patient: "p"), Trial.item(.named, 2, at: 2, id: "b"))
        try trial.send(Trial.item(.spot, 5, at: 7), Trial.item(.spot, 6, at: 8))
        #expect(try trial.letters() == ["unknownRetraction": 2, "retracted": 2])
        let balance = try trial.balance()
        #expect(balance.received == 6 && balance.received == balance.accountedFor)
        let shown = try trial.end(.named)
        #expect(shown == ["final 2"])
    }

    /// Catches: a single reading whose Observation stays.
    @Test(arguments: [false, true]) func aSingleReadingWasAnError(_ isKilled: Bool) throws {
        let trial = try Trial()
        try trial.send(Trial.item(.spot, 5, at: 7), Trial.item(.spot, 6, at: 8))
        try trial.send(Trial.item(.card, 5, at: 7, id: "x"), Trial.item(.card, 6, at: 7, id: "y"))
        try trial.restart(isKilled: isKilled)
        try trial.send(Trial.item(.spot, at: 7), Trial.item(.card, id: "y"))
        try trial.restart(isKilled: isKilled)
        try trial.send(Trial.item(.spot, 6, at: 8), Trial.item(.card, 6, at: 7, id: "y"))
        let shown = try trial.end(.spot)
        #expect(shown == ["entered-in-error", "final 6"])
    }

    /// What is renewed is a newer version of what was an error.
    @Test func aSingleReadingIsRenewed() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.card, 5, at: 7, id: "x"))
        try trial.restart()
        try trial.send(Trial.item(.card, 6, at: 9, id: "x"), Trial.item(.card, id: "x"))
        let shown = try trial.end(.card)
        #expect(shown == ["amended 6"])
    }

    /// Catches: an Observation of a vital sign without value and without the reason for that.
    @Test func anErrorKeepsWhoAndWhat() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.spot, 5, at: 7, patient: "p"))
        try trial.restart()
        try trial.send(Trial.item(.spot, at: 7))
        try trial.run.end()
        var reader = BundleReader()
        try reader.read(ndjson: trial.run.delivered)
        let observation = try #require(reader.observations.values.first)
        #expect(observation["status"]?.text == "entered-in-error" && observation["valueQuantity"] == nil)
        #expect(observation["subject"] != nil && observation["code"] != nil && observation["effectiveDateTime"] != nil)
        let reason = observation["dataAbsentReason"]?["coding"]?.elements?.first?["code"]?.text
        #expect(reason == "unknown")
    }

    /// The map of the day says whose new readings are, and not whose a reading was.
    @Test func whatWasFiledCountsAndNotTheMap() throws {
        let trial = try Trial()
        func rules(_ patient: String) -> PatientRules {
            var policy = PatientPolicy()
            policy.conflict = .map
            let period = PatientMap.Period(device: Array("d".utf8), patient: Array(patient.utf8))
            return PatientRules(PatientMap([period]), policy)
        }
        trial.run.attribute(by: rules("p"), lane: 0)
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"), Trial.item(.named, 2, at: 2, id: "b"))
        trial.run.attribute(by: rules("q"), lane: 0)
        try trial.send(Trial.item(.named, id: "a", patient: "z"))
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        #expect(try trial.letters() == ["retracted": 2])
        let shown = try trial.end(.named)
        #expect(shown == ["final 2"])
    }

    /// A retraction is forgotten with the window that would take its reading, and not before.
    @Test func isRememberedAsLongAsItsWindow() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"), Trial.item(.named, id: "none"))
        try trial.send(Trial.item(.named, id: "a"), Trial.item(.named, id: "late"))
        try trial.send(Trial.item(.named, 2, at: 2, id: "late"))
        func names(_ before: Int64) throws -> Int {
            try trial.run.store.pool.write { db in
                try StoredRetraction.drop(before: before, db)
                return try Int.fetchOne(db, sql: "SELECT count(*) FROM retraction") ?? 0
            }
        }
        #expect(try names(0) == 3)
        #expect(try names(.max) == 2)
        try trial.run.store.pool.write {
            try $0.execute(sql: "UPDATE series SET dropped_through = ?", arguments: [Int64.max])
        }
        #expect(try names(.max) == 0)
    }

    /// What was taken back has no record to be replayed from.
    @Test func lettersBringNothingBack() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.send(Trial.item(.named, id: "a"))
        try trial.send(Trial.item(.named, id: "b"))
        let letters = try trial.run.store.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead").map(StoredLetter.init)
        }
        #expect(letters.map(\.hasRecord) == [false, false])
        let shown = try trial.end(.named)
        #expect(shown == [])
    }

    /// A type that the mapping lacks says nothing of its retractions, and what was sent stays until it is back.
    @Test func aTypeThatHasLeftTakesNothingBack() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.restart()
        var mapping = RetractionMapping()
        mapping.kinds.removeAll { $0 == .named }
        #expect(trial.run.reload(mapping.named))
        trial.run.follow(lane: 0)
        try trial.send(Trial.item(.named, id: "a"))
        #expect(try trial.letters() == ["noTemplate": 1])
        let shown = try trial.end(.named)
        #expect(shown == ["final 1"])
    }

    /// A mapping that retracts what it cannot is refused.
    @Test(arguments: [
        (#""readingIdExpression":"$.i","#, "no ids"), (#""values":[],"#, "has no 'values'"),
        (#""retracts":1,"#, "true or false"),
    ])
    func isRefused(_ members: String, _ words: String) { expectRefusal(members, "", words) }

    @Test func isRefusedWithoutTheId() { expectRefusal("", #""readingIdExpression":"$.i","#, "have ids") }

    private func expectRefusal(_ members: String, _ ofReadings: String, _ words: String) {
        let flag = members.contains("retracts") ? "" : #""retracts":true,"#
        let text = #"""
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            \#(ofReadings)"typeName":"x","typeMatchExpression":"$..[?(@x)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
            "values":[{"valueName":"x","valueExpression":"$.x"}]}},{"templateType":"JsonPathContent","template":{
            \#(members)\#(flag)"typeName":"x","typeMatchExpression":"$..[?(@gone)]","deviceIdExpression":"$.d",
            "timestampExpression":"$.t"}}]}
            """#
        let file = MappingFile(name: "device.json", bytes: Array(text.utf8))
        let loaded = MappingLoader.load([NamedMapping(name: "m", device: file, fhir: nil)], measurementsOnly: true)
        #expect(loaded.set == nil && loaded.diagnostics.contains { $0.message.contains(words) })
    }

    @Test func isRefusedWithCompatibility() {
        var mapping = RetractionMapping().named
        mapping.compatibility = .iomtFHIR
        let loaded = MappingLoader.load([mapping])
        #expect(loaded.diagnostics.contains { $0.message.contains("no retractions with compatibility iomt-fhir") })
    }
}
