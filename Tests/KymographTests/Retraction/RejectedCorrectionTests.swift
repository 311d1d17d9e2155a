@testable import Kymograph
import KymographCore
import KymographTestKit
@testable import KymographTemplates
import Testing

/// Documents whose retraction was taken, and whose reading was rejected: that comes later, by a dead letter.
@Suite struct RejectedCorrectionTests {
    private typealias Trial = RetractionTrial

    /// Catches: a correction that a shard has rejected, and that no replay brings back, though its window has room now.
    @Test(arguments: [false, true]) func aShardHasRejectedIt(isKilled: Bool) throws {
        let trial = try Trial(WindowLimits(maxReadingsPerWindow: 1))
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        try trial.send(Trial.item(.named, 2, at: 301, id: "b"))
        try trial.send(Trial.item(.named, id: "a"), Trial.item(.named, 4, at: 302, id: "a"))
        #expect(try trial.letters() == ["retracted": 1, "tooManyReadings": 1])
        trial.limits = WindowLimits()
        try trial.restart(isKilled: isKilled)
        try trial.returnLetters(of: .tooManyReadings)
        #expect(try trial.letters() == ["retracted": 1, "tooManyReadings": 1])
        let balance = try trial.balance()
        #expect(balance.received == balance.accountedFor && balance.lost == 0)
        let shown = try trial.end(.named)
        #expect(shown == ["entered-in-error", "amended 6"])
    }

    /// What is between the document and what comes of it.
    enum Between: CaseIterable {
        case nothing, end, kill
        /// What is at hand of retractions is forgotten, as after 65,536 others.
        case forgetting
    }

    /// The payload of a letter may have the reading alone: parts of a body by HTTP are mapped one by one. What has
    /// another time is of another document, and stays out.
    @Test(arguments: RetractionItem.Kind.allCases, Between.allCases)
    func aLaneHasRejectedIt(kind: RetractionItem.Kind, between: Between) throws {
        let trial = try Trial(retractionsAtHand: between == .forgetting ? 1 : 1 << 16)
        let id = kind.hasIds ? "a" : nil
        let gone = Trial.item(kind, at: kind.hasIds ? nil : 1, id: id)
        try trial.send(Trial.item(kind, 1, at: 1, id: id))
        let received = try trial.send(gone)
        switch between {
        case .nothing: break
        case .end, .kill: try trial.restart(isKilled: between == .kill)
        case .forgetting:
            for number in 0..<4 { try trial.send(Trial.item(.named, id: "none-\(number)", patient: "z")) }
        }
        for difference: Int64 in [-1, 1] {
            try trial.sendAgain([Trial.item(kind, 2, at: 1, id: id)], received: received.advanced(by: difference))
        }
        #expect(try trial.letters()["retracted"] == 3)
        try trial.sendAgain([Trial.item(kind, 4, at: 1, id: id)], received: received)
        #expect(try trial.letters()["retracted"] == 3)
        let balance = try trial.balance()
        #expect(balance.received == balance.accountedFor && balance.lost == 0)
        let shown = try trial.end(kind)
        #expect(shown == [kind.isSingle ? "amended 4" : "final 4"])
    }

    /// Of several documents that take a reading back, what the last one had comes in: what others had was taken back
    /// once more.
    @Test(arguments: [false, true]) func theLastDocumentCounts(isRestarted: Bool) throws {
        let trial = try Trial()
        let gone = Trial.item(.named, id: "a")
        try trial.send(Trial.item(.named, 1, at: 1, id: "a"))
        let first = try trial.send(gone)
        let last = try trial.send(gone)
        if isRestarted { try trial.restart() }
        try trial.sendAgain([Trial.item(.named, 2, at: 1, id: "a")], received: first)
        #expect(try trial.letters() == ["retracted": 2])
        try trial.sendAgain([Trial.item(.named, 4, at: 1, id: "a")], received: last)
        #expect(try trial.letters() == ["retracted": 2])
        try trial.sendAgain([Trial.item(.named, 2, at: 1, id: "a")], received: first)
        #expect(try trial.letters() == ["retracted": 3])
        let shown = try trial.end(.named)
        #expect(shown == ["final 4"])
    }

    /// A document that names a patient brings that one's reading alone, also where a retraction of before names none.
    @Test(arguments: [false, true]) func itIsThePatientsAlone(isRestarted: Bool) throws {
        let trial = try Trial()
        try trial.send(Trial.item(.named, 1, at: 1, id: "a", patient: "p"))
        try trial.send(Trial.item(.named, id: "a"))
        let received = try trial.send(Trial.item(.named, id: "a", patient: "p"))
        if isRestarted { try trial.restart() }
        try trial.sendAgain([Trial.item(.named, 2, at: 1, id: "a", patient: "q")], received: received)
        #expect(try trial.letters() == ["retracted": 2])
        try trial.sendAgain([Trial.item(.named, 4, at: 1, id: "a", patient: "p")], received: received)
        #expect(try trial.letters() == ["retracted": 2])
        let shown = try trial.end(.named)
        #expect(shown == ["final 4"])
    }
}
