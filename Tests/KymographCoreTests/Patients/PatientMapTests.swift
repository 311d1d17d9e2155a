import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Whose a device is at a time.
@Suite struct PatientMapTests {
    private static func period(
        _ device: String, _ patient: String, _ from: Int64? = nil, _ to: Int64? = nil, encounter: String? = nil
    ) -> PatientMap.Period {
        var period = PatientMap.Period(
            device: Array(device.utf8), patient: Array(patient.utf8), encounter: encounter.map { Array($0.utf8) })
        if let from { period.from = Instant(seconds: from) }
        if let to { period.to = Instant(seconds: to) }
        return period
    }

    private func patient(_ map: PatientMap, _ device: String, _ second: Int64) -> String? {
        Array(device.utf8).withByteView { name in
            map.period(of: name, at: Instant(seconds: second)).map {
                String(decoding: map.patient($0).array, as: UTF8.self)
            }
        }
    }

    /// The beginning is in the period, and the end is not.
    @Test func bounds() {
        let map = PatientMap([
            Self.period("d", "late", 20), Self.period("d", "early", nil, 10), Self.period("d", "mid", 10, 15),
        ])
        let expected: [(Int64, String?)] = [
            (-1_000, "early"), (9, "early"), (10, "mid"), (14, "mid"), (15, nil), (19, nil), (20, "late"),
            (1_000_000, "late"),
        ]
        for (second, name) in expected { #expect(patient(map, "d", second) == name, "\(second)") }
        let last = Instant(nanoseconds: Instant(seconds: 10).nanoseconds - 1)
        #expect(Array("d".utf8).withByteView { map.period(of: $0, at: last) } == 0)
    }

    /// Identifiers are compared as bytes and in full.
    @Test func identifiersAreBytes() {
        let map = PatientMap([Self.period("pump-1", "a"), Self.period("caf\u{E9}", "b")])
        for other in ["pump-", "pump-11", "PUMP-1", "pump-1 ", "", "cafe\u{301}", "caf"] {
            #expect(patient(map, other, 0) == nil, "\(other)")
            #expect(!Array(other.utf8).withByteView { map.holds($0) })
        }
        #expect(patient(map, "caf\u{E9}", 0) == "b")
    }

    /// Whatever the periods are, the map says what going through all of them says.
    @Test func saysWhatTheRowsSay() {
        for seed in Trials.seeds(200) {
            var generator = SeededGenerator(seed: seed)
            var periods: [PatientMap.Period] = []
            for device in 0..<Int.random(in: 0...40, using: &generator) {
                var second = Int64.random(in: 0...20, using: &generator)
                for number in 0..<Int.random(in: 1...5, using: &generator) {
                    let end = second + Int64.random(in: 1...20, using: &generator)
                    periods.append(
                        Self.period(
                            "d\(device)", "p\(number)", second, end,
                            encounter: Bool.random(using: &generator) ? "e\(number)" : nil))
                    second = end + Int64.random(in: 0...10, using: &generator)
                }
            }
            let map = PatientMap(periods.shuffled(using: &generator))
            #expect(map.count == periods.count)
            for _ in 0..<200 {
                let device = Array("d\(Int.random(in: 0...45, using: &generator))".utf8)
                let instant = Instant(seconds: Int64.random(in: 0...150, using: &generator))
                let expected = periods.first { $0.device == device && $0.contains(instant) }
                device.withByteView { name in
                    let found = map.period(of: name, at: instant)
                    #expect(found.map { map.patient($0).array } == expected?.patient, "seed \(seed)")
                    #expect(found.flatMap { map.encounter($0)?.array } == expected?.encounter, "seed \(seed)")
                    #expect(map.holds(name) == periods.contains { $0.device == device })
                }
            }
        }
    }

    /// 100,000 rows of 100,000 devices with identifiers of usual length take 11.5 MB at most.
    @Test func memory() {
        let periods = (0..<100_000).map {
            Self.period("device-\(1_000_000 + $0)", "patient-\(1_000_000 + $0)", Int64($0), encounter: "enc-\($0)")
        }
        let map = PatientMap(periods)
        #expect(map.deviceCount == 100_000 && map.byteCount <= 11_500_000, "\(map.byteCount)")
        #expect(patient(map, "device-1099999", 200_000) == "patient-1099999")
    }

    /// Stretches of the past that another map gives to somebody else; what is to come is no change.
    @Test func changes() {
        func count(_ former: [PatientMap.Period], _ new: [PatientMap.Period], withUnknown: Bool = false) -> [Int] {
            let change = PatientChange(from: PatientMap(former), to: PatientMap(new), before: Instant(seconds: 100)) {
                _, _ in withUnknown
            }
            return [change.periods, change.devices]
        }
        let open = [Self.period("d", "a", 10)]
        #expect(count(open, open) == [0, 0])
        #expect(count(open, open + [Self.period("e", "b", 5)]) == [0, 0], "nothing was filed for anybody")
        #expect(count(open, open + [Self.period("e", "b", 5)], withUnknown: true) == [1, 1])
        #expect(count(open, [Self.period("d", "a", 10, 200), Self.period("d", "b", 200)]) == [0, 0], "in the future")
        #expect(count(open, [Self.period("d", "a", 10, 50), Self.period("d", "b", 50)]) == [1, 1])
        #expect(count(open, [Self.period("d", "a", 10, 50), Self.period("d", "b", 50, 60)]) == [2, 1])
        #expect(count(open, []) == [1, 1])
        #expect(count(open, [Self.period("d", "a", 10, encounter: "e")]) == [1, 1])
        #expect(count(open, [Self.period("d", "a", 5)]) == [0, 0])
        #expect(count(open, [Self.period("d", "a", 5)], withUnknown: true) == [1, 1])
    }

    /// Readings of a time at which a device is of nobody may have been filed by an earlier run, under a former map, or
    /// before a map had the device.
    @Test func whatMayHaveBeenFiled() {
        func may(_ history: PatientHistory, _ device: String, _ second: Int64, _ unmapped: UnmappedReadings) -> Bool {
            var policy = PatientPolicy()
            policy.unmapped = unmapped
            return history.mayHaveFiled(Array(device.utf8), at: Instant(seconds: second), policy)
        }
        let first = PatientMap([Self.period("d", "a", 120, 130)])
        var history = PatientHistory(first, at: Instant(seconds: 100))
        #expect(may(history, "d", 99, .named) && may(history, "d", 99, .reject), "an earlier run")
        #expect(!may(history, "d", 110, .named) && !may(history, "d", 110, .reject), "rejected")
        #expect(may(history, "d", 110, .accept))
        #expect(may(history, "e", 110, .named) && !may(history, "e", 110, .reject), "taken as messages say")
        let second = PatientMap([Self.period("d", "a", 125, 130), Self.period("e", "b", 140)])
        history.note(first, replacedBy: second, at: Instant(seconds: 140))
        #expect(may(history, "d", 120, .named) && may(history, "d", 120, .reject), "it was a's")
        #expect(!may(history, "d", 119, .named))
        #expect(may(history, "e", 139, .named) && !may(history, "e", 139, .reject) && !may(history, "e", 141, .named))
        #expect(history.hasHad(Array("d".utf8)) && !history.hasHad(Array("e".utf8)))
    }
}
