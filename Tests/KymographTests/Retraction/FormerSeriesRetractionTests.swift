import GRDB
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
@testable import KymographTemplates
import Testing

/// Retractions of what earlier runs have filed in several series of a device.
@Suite struct FormerSeriesRetractionTests {
    private typealias Trial = RetractionTrial

    /// Catches: series that are met twice, once as those of the device, and once as siblings of the first of them.
    @Test(arguments: [RetractionItem.Kind.named, .card]) func aMapHasGivenTheDeviceTwoPatients(
        kind: RetractionItem.Kind
    ) throws {
        let trial = try Trial(map: [Trial.period("p", until: 100), Trial.period("q", from: 100)])
        try trial.send(Trial.item(kind, 1, at: 1, id: "a"))
        try trial.send(Trial.item(kind, 2, at: 101, id: "b"))
        try trial.restart()
        try trial.send(Trial.item(kind, id: "b"))
        #expect(try trial.letters() == ["retracted": 1])
        try trial.restart(isKilled: true)
        try trial.send(Trial.item(kind, 2, at: 101, id: "b"))
        #expect(try trial.letters() == ["retracted": 2])
        let shown = try trial.end(kind)
        #expect(shown == ["final 1", "entered-in-error"])
    }

    /// The same of types that are called alike and have windows of other lengths.
    @Test func theWindowsHaveAnotherLength() throws {
        let trial = try Trial(map: [Trial.period("p")])
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        trial.mapping.minutes = 10
        try trial.restart()
        try trial.send(Trial.item(.named, 2, at: 301, id: "b"))
        try trial.restart()
        try trial.send(Trial.item(.named, id: "b"))
        #expect(try trial.letters() == ["retracted": 1])
        let shown = try trial.end(.named)
        #expect(shown == ["final 1", "entered-in-error"])
    }

    /// A reading that came again when the windows had another length is in both. It is one: its id takes it out of all,
    /// counts it as often as it was accepted, and keeps it out.
    @Test(arguments: [false, true]) func aReadingInWindowsOfTwoLengthsIsOne(isKilled: Bool) throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"), Trial.item(.named, 2, at: 2, id: "b"))
        trial.mapping.minutes = 10
        try trial.restart()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.restart(isKilled: isKilled)
        try trial.send(Trial.item(.named, id: "a"))
        try trial.send(Trial.item(.named, id: "a"))
        #expect(try trial.letters() == ["retracted": 2])
        try trial.restart(isKilled: isKilled)
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        trial.mapping.minutes = 5
        try trial.restart()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        #expect(try trial.letters() == ["retracted": 4])
        let balance = try trial.balance()
        #expect(balance.retractions == 2 && balance.accepted == 1)
        #expect(balance.received == balance.accountedFor && balance.lost == 0)
        let shown = try trial.end(.named)
        #expect(shown == ["amended 2", "entered-in-error"])
    }

    /// Catches: a reading that stays out where it was first, since only the last one of the windows that it was in is
    /// known after a restart, or when retractions at hand were forgotten.
    @Test(arguments: [1, 1 << 16]) func isRenewedInTheFirstOfTwoWindows(retractionsAtHand: Int) throws {
        let trial = try Trial(retractionsAtHand: retractionsAtHand)
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        trial.mapping.minutes = 10
        try trial.restart()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        trial.mapping.minutes = 5
        try trial.restart()
        try trial.send(Trial.item(.named, id: "a"))
        #expect(try trial.letters() == ["retracted": 2])
        try trial.restart()
        let known = try trial.run.store.pool.read { try StoredRetraction.read(ofDevice: Array("d".utf8), $0) }
        #expect(known.map(\.series.count) == [2])
        try trial.send(Trial.item(.named, id: "a"), Trial.item(.named, 2, at: 1, id: "a"))
        let shown = try trial.end(.named)
        #expect(shown == ["amended 2", "entered-in-error"])
    }

    /// It stays known until none of them takes it any more. Catches: one that is forgotten with the window that it was
    /// taken out of last.
    @Test func isKnownAsLongAsOneOfTwoWindows() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        trial.mapping.minutes = 10
        try trial.restart()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.send(Trial.item(.named, id: "a"))
        func known(droppedIn order: String) throws -> Int {
            try trial.run.store.pool.write { db in
                try db.execute(
                    sql: "UPDATE series SET dropped_through = ? WHERE number = (SELECT \(order)(number) FROM series)",
                    arguments: [Int64.max])
                try StoredRetraction.drop(before: .max, db)
                return try StoredRetraction.read(ofDevice: Array("d".utf8), db).count
            }
        }
        #expect(try known(droppedIn: "max") == 1)
        #expect(try known(droppedIn: "min") == 0)
    }

    /// Where the id is that of two patients, or a time names the reading, it cannot be told what is meant.
    @Test func whatMayBeSeveralStays() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", patient: "p"))
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", patient: "q"))
        try trial.send(Trial.item(.latest, 1, at: 1))
        trial.mapping.minutes = 10
        try trial.restart()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", patient: "p"))
        try trial.send(Trial.item(.latest, 1, at: 1))
        try trial.send(Trial.item(.named, id: "a"))
        try trial.send(Trial.item(.latest, at: 1))
        #expect(try trial.letters() == ["ambiguousRetraction": 2])
        try trial.send(Trial.item(.named, id: "a", patient: "p"))
        #expect(try trial.letters() == ["ambiguousRetraction": 2, "retracted": 2])
    }

    /// A correction of who the patient is: in one line taken back and sent again. Catches: a reading that is rejected
    /// since the wrong patient has had it, and one that is shown as a newer version of what that patient had.
    @Test(arguments: [RetractionItem.Kind.named, .card, .spot, .latest]) func isRenewedForTheRightPatient(
        kind: RetractionItem.Kind
    ) throws {
        let id = kind.hasIds ? "a" : nil
        let trial = try Trial(map: [Trial.period("p")])
        try trial.send(Trial.item(kind, 1, at: 1, id: id))
        trial.map = [Trial.period("q")]
        try trial.restart()
        try trial.send(Trial.item(kind, 1, at: 1, id: id))
        #expect(try trial.letters() == ["patientChanged": 1])
        let gone = Trial.item(kind, at: kind.hasIds ? nil : 1, id: id)
        try trial.send(gone, Trial.item(kind, 1, at: 1, id: id))
        #expect(try trial.letters() == ["patientChanged": 1, "retracted": 1])
        try trial.restart()
        // It is filed for both no more than before.
        try trial.send(Trial.item(kind, 1, at: 1, id: id))
        trial.map = [Trial.period("p")]
        try trial.restart()
        try trial.send(Trial.item(kind, 1, at: 1, id: id))
        #expect(try trial.letters() == ["patientChanged": 2, "retracted": 1])
        let shown = try trial.end(kind)
        #expect(shown == ["entered-in-error", "final 1"])
    }
}
