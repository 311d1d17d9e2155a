import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// The tags of a patient map's periods.
@Suite struct PatientTagTests {
    private static func period(
        _ patient: String, _ from: Int64, _ to: Int64, tags: [String], encounter: String? = nil
    ) -> PatientMap.Period {
        var period = PatientMap.Period(
            device: Array("d".utf8), patient: Array(patient.utf8), encounter: encounter.map { Array($0.utf8) })
        (period.from, period.to) = (Instant(seconds: from), Instant(seconds: to))
        period.tags = ReadingTags.list(tags)
        return period
    }

    private static let handedOn = [
        period("p", 0, 100, tags: ["urn:arm|b", "a"], encounter: "e"), period("p", 100, 200, tags: ["late"]),
        period("q", 200, 300, tags: []),
    ]

    private func tags(
        _ patient: String?, at second: Int64, length: Int64 = 0, _ change: (inout PatientPolicy) -> Void = { _ in }
    ) -> (tags: [String], isTaken: Bool) {
        var policy = PatientPolicy()
        change(&policy)
        var attribution = PatientAttribution(PatientRules(PatientMap(Self.handedOn), policy))
        let identity = SeriesIdentity(
            type: 0, device: Array("d".utf8), patient: patient.map { Array($0.utf8) }, encounter: nil,
            correlation: nil)
        let key = PaddedBytes(copying: SeriesKey.encode(identity))
        let outcome = attribution.attribute(
            key.view, at: Instant(seconds: second), length: length * 1_000_000_000)
        let isTaken = if case .rejected = outcome { false } else { true }
        return (ReadingTags.texts(attribution.tags), isTaken)
    }

    /// A reading has the tags of the period that it is filed by; of several periods those of the last.
    @Test func ofThePeriod() {
        #expect(tags(nil, at: 50).tags == ["a", "urn:arm|b"])
        #expect(tags("p", at: 150).tags == ["late"])
        #expect(tags(nil, at: 250).tags == [])
        #expect(tags("p", at: 190, length: 50).tags == ["late"])
    }

    /// Where its message decides, or the map has nothing, there are none.
    @Test func notOfMessages() {
        #expect(tags("q", at: 50) == ([], false))
        #expect(tags("q", at: 50) { $0.conflict = .message } == ([], true))
        #expect(tags("q", at: 50) { $0.conflict = .map } == (["a", "urn:arm|b"], true))
        #expect(tags("p", at: 400) { $0.unmapped = .accept } == ([], true))
    }

    /// Whatever the periods are, the map has the tags of each, and all of them together.
    @Test func whateverTheyAre() {
        for seed in Trials.seeds(200) {
            var generator = SeededGenerator(seed: seed)
            let periods = (0..<Int64.random(in: 1...20, using: &generator)).map { place in
                let tags = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    "t\(Int.random(in: 0...9, using: &generator))"
                }
                return Self.period(
                    "p", place * 10, place * 10 + 10, tags: tags,
                    encounter: Bool.random(using: &generator) ? "e" : nil)
            }
            let map = PatientMap(periods.shuffled(using: &generator))
            for number in 0..<map.count {
                #expect(map.tags(number).array == periods[number].tags, "seed \(seed)")
                #expect(map.encounter(number)?.array == periods[number].encounter, "seed \(seed)")
            }
            #expect(Array("d".utf8).withByteView { map.periods(of: $0) } == periods, "seed \(seed)")
            let all = Set(periods.flatMap { $0.tags.withByteView(ReadingTags.texts) }).sorted()
            #expect(map.tagTexts == all, "seed \(seed)")
        }
    }

    /// Other tags are no other patient: nothing is said of the past.
    @Test func areNoChange() {
        var others = Self.handedOn
        others[0].tags = []
        let change = PatientChange(
            from: PatientMap(Self.handedOn), to: PatientMap(others), before: Instant(seconds: 1_000)
        ) { _, _ in true }
        #expect(change == PatientChange())
    }
}
