import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
@testable import KymographTemplates
import Testing

/// What was received before its reading was taken back and sent again, and comes later: by a dead letter, or by another
/// lane.
@Suite struct RenewedReadingTests {
    private typealias Trial = RetractionTrial

    /// What is between the correction and the letter.
    enum Between: CaseIterable {
        case nothing, end, kill
        /// What is at hand of retractions is forgotten, as after 65,536 others.
        case forgetting
        /// The windows close, and others come.
        case reopening
    }

    /// Catches: a value that was taken back and corrected, and counts beside the correction when a letter from before
    /// is sent again.
    @Test(arguments: RetractionItem.Kind.allCases, Between.allCases)
    func whatCameBeforeStaysOut(kind: RetractionItem.Kind, between: Between) throws {
        let trial = try Trial(retractionsAtHand: between == .forgetting ? 1 : 1 << 16)
        let id = kind.hasIds ? "a" : nil
        let wrong = Trial.item(kind, 1, at: 1, id: id)
        let received = try trial.send(wrong)
        try trial.send(Trial.item(kind, at: kind.hasIds ? nil : 1, id: id), Trial.item(kind, 2, at: 1, id: id))
        switch between {
        case .nothing: break
        case .end, .kill: try trial.restart(isKilled: between == .kill)
        case .forgetting:
            for number in 0..<4 { try trial.send(Trial.item(.named, id: "none-\(number)", patient: "z")) }
        case .reopening:
            try trial.restart()
            try trial.send(Trial.item(kind, 4, at: 2, id: kind.hasIds ? "b" : nil))
            try trial.restart()
        }
        let former = try trial.letters()["retracted"] ?? 0
        try trial.sendAgain([wrong], received: received)
        #expect(former == 1)
        #expect(try trial.letters()["retracted"] == 2)
        // What comes later is of now.
        try trial.send(Trial.item(kind, 8, at: 1, id: id))
        #expect(try trial.letters()["retracted"] == 2)
        let balance = try trial.balance()
        #expect(balance.received == balance.accountedFor && balance.lost == 0)
        let shown = try trial.end(kind)
        let values = shown.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        let others = between == .reopening ? 4 : 0
        // Of two plain values of one time both count; of the others, the later one.
        #expect(values.reduce(0, +) == (kind == .plain ? 10 : 8) + others, "\(shown)")
        #expect(shown.allSatisfy { $0.contains(" ") != $0.hasPrefix("entered-in-error") }, "\(shown)")
    }

    /// A document that was received before the last correction changes nothing, whichever comes first.
    @Test func anEarlierCorrectionComesLater() throws {
        let trial = try Trial()
        let (gone, first) = (Trial.item(.plain, at: 1), Trial.item(.plain, 1, at: 1))
        try trial.send(first)
        let received = try trial.send(Trial.item(.spot, 1, at: 1))
        try trial.send(gone, Trial.item(.plain, 4, at: 1))
        try trial.sendAgain([gone, Trial.item(.plain, 2, at: 1)], received: received, lane: 1)
        #expect(try trial.letters() == ["retracted": 2])
        #expect(try trial.balance().retractions == 2)
        let shown = try trial.end(.plain)
        #expect(shown == ["final 4"])
    }

    /// What is taken back once more is out, whenever it was received, and can be renewed once more.
    @Test func isTakenBackOnceMore() throws {
        let trial = try Trial()
        let gone = Trial.item(.latest, at: 1)
        try trial.send(Trial.item(.latest, 1, at: 1))
        try trial.send(gone, Trial.item(.latest, 2, at: 1))
        let received = try trial.send(gone)
        try trial.send(Trial.item(.latest, 4, at: 1))
        #expect(try trial.letters() == ["retracted": 3])
        try trial.restart(isKilled: true)
        try trial.send(gone, Trial.item(.latest, 8, at: 1))
        try trial.restart()
        try trial.sendAgain([Trial.item(.latest, 4, at: 1)], received: received.advanced(by: 1))
        #expect(try trial.letters() == ["retracted": 4])
        let shown = try trial.end(.latest)
        #expect(shown == ["final 8"])
    }

    /// What was renewed is known as long as the window of its reading is, and the store counts it for no retraction that
    /// has found nothing.
    @Test func isKnownAsLongAsItsWindow() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, id: "a"), Trial.item(.named, 1, at: 1, id: "a"))
        func renewed(_ before: Int64) throws -> Int {
            try trial.run.store.pool.write { db in
                try StoredRetraction.dropUnknown(beyond: 0, db)
                try StoredRetraction.drop(before: before, db)
                return try Int.fetchOne(db, sql: "SELECT count(*) FROM retraction WHERE renewed > 0") ?? 0
            }
        }
        #expect(try renewed(.max) == 1)
        try trial.run.store.pool.write {
            try $0.execute(sql: "UPDATE series SET dropped_through = ?", arguments: [Int64.max])
        }
        #expect(try renewed(0) == 1)
        #expect(try renewed(.max) == 0)
    }

    /// A store of version 5 keeps out what it kept out.
    @Test func aStoreOfVersion5() throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.send(Trial.item(.named, id: "a"))
        try trial.run.store.pool.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE retraction DROP COLUMN renewed;
                    ALTER TABLE retraction DROP COLUMN came;
                    DROP TABLE retraction_series;
                    DROP TABLE letter_context;
                    DELETE FROM grdb_migrations WHERE identifier = '6';
                    PRAGMA user_version = 5
                    """)
        }
        // As a kill: nothing more of this run is written.
        try trial.restart(isKilled: true)
        #expect(try trial.run.store.pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 6)
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        #expect(try trial.letters() == ["retracted": 2])
        try trial.send(Trial.item(.named, id: "a"), Trial.item(.named, 2, at: 1, id: "a"))
        let shown = try trial.end(.named)
        #expect(shown == ["final 2"])
    }
}
