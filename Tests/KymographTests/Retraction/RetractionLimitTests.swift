import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Retractions beyond the limits of devices and series, with a store.
@Suite struct RetractionLimitTests {
    private typealias Trial = RetractionTrial

    private func bytes(_ trial: Trial, of reason: String) throws -> [String] {
        let rows = try trial.run.store.pool.read {
            try Row.fetchAll($0, sql: "SELECT * FROM dead WHERE reason = ?", arguments: [reason]).map(StoredLetter.init)
        }
        return rows.map { String(decoding: $0.bytes ?? [], as: UTF8.self) }
    }

    /// Catches: a retraction of an invented device that is kept, and one that is refused without its bytes.
    @Test(arguments: [false, true]) func inventedDevicesAreRefused(_ isKilled: Bool) throws {
        let trial = try Trial(WindowLimits(maxDevices: 1))
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", device: "known"))
        for number in 0..<50 { try trial.send(Trial.item(.named, id: "\(number)", device: "invented \(number)")) }
        // One may be of the other shard.
        let letters = try trial.letters()
        let refused = try #require(letters["tooManyDevices"])
        #expect(refused >= 49 && letters["unknownRetraction"] ?? 0 == 50 - refused, "\(letters)")
        let bytes = try bytes(trial, of: "tooManyDevices")
        #expect(bytes.allSatisfy { $0.contains("\"invented ") }, "\(bytes)")
        let kept = try trial.run.store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM retraction") }
        #expect(kept == 50 - refused)
        var balance = try trial.balance()
        #expect(balance.received == 51 && balance.received == balance.accountedFor && balance.onTheWay == 0)
        trial.limits = WindowLimits()
        try trial.restart(isKilled: isKilled)
        try trial.send(Trial.item(.named, id: "a", device: "known"))
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", device: "known"))
        #expect(try trial.letters()["retracted"] == 2)
        balance = try trial.balance()
        #expect(balance.received == 53 && balance.received == balance.accountedFor && balance.lost == 0)
        #expect(balance.rejected["tooManyDevices"] == refused && balance.retractions == 1)
        let shown = try trial.end(.named)
        #expect(shown.allSatisfy { $0 == "entered-in-error" })
    }

    /// The series of earlier runs in which it would look count, too: all or none of them are met, and with more room the
    /// retraction takes its reading.
    @Test(arguments: [false, true]) func seriesOfEarlierRunsCount(_ isKilled: Bool) throws {
        let trial = try Trial()
        for patient in ["p", "q", "r"] { try trial.send(Trial.item(.named, 1, at: 1, id: patient, patient: patient)) }
        trial.limits = WindowLimits(maxSeries: 3)
        try trial.restart()
        try trial.send(Trial.item(.plain, 1, at: 1))
        try trial.send(Trial.item(.named, id: "q"))
        #expect(try trial.letters() == ["tooManyDevices": 1])
        // A reading finds the room that the retraction did not take.
        try trial.send(Trial.item(.named, 2, at: 2, id: "s", patient: "p"))
        #expect(try trial.letters() == ["tooManyDevices": 1])
        trial.limits = WindowLimits(maxSeries: 4)
        try trial.restart(isKilled: isKilled)
        try trial.send(Trial.item(.plain, 1, at: 1))
        try trial.send(Trial.item(.named, id: "q"))
        #expect(try trial.letters() == ["tooManyDevices": 1, "retracted": 1])
        let balance = try trial.balance()
        #expect(balance.received == balance.accountedFor && balance.retractions == 1 && balance.lost == 0)
        let shown = try trial.end(.named)
        #expect(shown.sorted() == ["amended 3", "entered-in-error", "final 1"], "\(shown)")
    }

    /// Catches: a book of retractions that only grows; and one that forgets what the store has not, or not yet.
    @Test func whatTheStoreHasIsForgottenAndRecalled() throws {
        let trial = try Trial(retractionsAtHand: 3)
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"), Trial.item(.named, 2, at: 2, id: "b"))
        for id in ["a", "b", "c", "d", "e"] { try trial.send(Trial.item(.named, id: id)) }
        try trial.send(Trial.item(.plain, at: 9, device: "other"))
        #expect(try trial.letters() == ["retracted": 2, "unknownRetraction": 4])
        // Each of them is known, and keeps out.
        for id in ["a", "b", "c", "d", "e"] { try trial.send(Trial.item(.named, id: id)) }
        try trial.send(Trial.item(.plain, at: 9, device: "other"))
        #expect(try trial.letters() == ["retracted": 2, "unknownRetraction": 4])
        for id in ["a", "c", "e"] { try trial.send(Trial.item(.named, 4, at: 3, id: id)) }
        try trial.send(Trial.item(.plain, 1, at: 9, device: "other"))
        #expect(try trial.letters() == ["retracted": 6, "unknownRetraction": 4])
        let balance = try trial.balance()
        #expect(balance.received == 18 && balance.received == balance.accountedFor && balance.retractions == 8)
        #expect(try trial.end(.named) == [])
    }

    /// What has expired in the store has left the book, too; what has not stays out.
    @Test func whatHasExpiredLeavesTheBook() throws {
        let trial = try Trial(retractionsAtHand: 2)
        for id in ["a", "b", "c"] { try trial.send(Trial.item(.named, id: id)) }
        try trial.run.store.pool.write { try $0.execute(sql: "DELETE FROM retraction WHERE name = CAST('ib' AS BLOB)") }
        for id in ["x", "y"] { try trial.send(Trial.item(.named, id: id, device: "d")) }
        for id in ["a", "b", "c"] { try trial.send(Trial.item(.named, 1, at: 1, id: id)) }
        #expect(try trial.letters() == ["unknownRetraction": 5, "retracted": 2])
        #expect(try trial.end(.named) == ["final 1"])
    }
}
