import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Whose a reading is: the table of docs/patients.md, row by row.
@Suite struct PatientPolicyTests {
    /// What a message or a map names: `p` or `q` for a patient, and behind it a digit for an encounter; `-` for none.
    private static func identity(_ text: String) -> SeriesIdentity {
        func part(_ index: Int, _ name: String) -> [UInt8]? {
            let character = Array(text)[index]
            return character == "-" ? nil : Array("\(name)-\(character)".utf8)
        }
        return SeriesIdentity(
            type: 3, device: Array("d".utf8), patient: part(0, "patient"), encounter: part(1, "visit"))
    }

    private static func map(_ text: String?) -> PatientMap {
        guard let text else { return PatientMap() }
        let identity = identity(text)
        return PatientMap([
            PatientMap.Period(device: identity.device, patient: identity.patient ?? [], encounter: identity.encounter)
        ])
    }

    /// Whose the reading is, or why it is rejected.
    private static func outcome(
        _ message: String, _ map: String?, _ conflict: PatientConflict, _ unmapped: UnmappedReadings, strict: Bool
    ) -> String {
        var policy = PatientPolicy()
        (policy.conflict, policy.unmapped, policy.requiresPatient) = (conflict, unmapped, strict)
        var attribution = PatientAttribution(PatientRules(Self.map(map), policy))
        let identity = identity(message)
        let key = PaddedBytes(copying: SeriesKey.encode(identity))
        let filed: SeriesIdentity
        switch attribution.attribute(key.view, at: Instant(seconds: 0)) {
        case .rejected(let reason): return reason.name
        case .unchanged: filed = identity
        case .changed: filed = SeriesKey.identity(attribution.key)
        }
        func text(_ part: [UInt8]?) -> String { part.map { String(decoding: $0.suffix(1), as: UTF8.self) } ?? "-" }
        return text(filed.patient) + text(filed.encounter)
    }

    /// What a message and a map name, and what comes of it with each `patientConflict`.
    private static let mapped: [(message: String, map: String, reject: String, map_: String, message_: String)] = [
        // The message names nobody.
        ("--", "p-", "p-", "p-", "p-"),
        ("--", "p1", "p1", "p1", "p1"),
        // It names the same.
        ("p-", "p-", "p-", "p-", "p-"),
        ("p-", "p1", "p1", "p1", "p1"),
        ("p1", "p-", "p1", "p1", "p1"),
        ("p1", "p1", "p1", "p1", "p1"),
        // An encounter alone: of the map's patient if the map says so, and else of whomever.
        ("-1", "p-", "patientDeviceMismatch", "p-", "patientDeviceMismatch"),
        ("-1", "p1", "p1", "p1", "p1"),
        ("-2", "p1", "patientDeviceMismatch", "p1", "patientDeviceMismatch"),
        // Another patient: never the encounter of one with the patient of the other.
        ("q-", "p-", "patientDeviceMismatch", "p-", "q-"),
        ("q-", "p1", "patientDeviceMismatch", "p1", "q-"),
        ("q2", "p-", "patientDeviceMismatch", "p-", "q2"),
        ("q1", "p1", "patientDeviceMismatch", "p1", "q1"),
        ("q2", "p1", "patientDeviceMismatch", "p1", "q2"),
        // The same patient in another encounter.
        ("p2", "p1", "patientDeviceMismatch", "p1", "p2"),
    ]

    @Test(arguments: UnmappedReadings.allCases, [false, true])
    func aDeviceOfSomebody(_ unmapped: UnmappedReadings, strict: Bool) {
        for row in Self.mapped {
            let expected: [(PatientConflict, String)] = [
                (.reject, row.reject), (.map, row.map_), (.message, row.message_),
            ]
            for (conflict, result) in expected {
                let found = Self.outcome(row.message, row.map, conflict, unmapped, strict: strict)
                #expect(found == result, "message \(row.message), map \(row.map), \(conflict)")
            }
        }
    }

    /// What a message names, and what comes of it with each `unmapped`, and with `identity: strict`.
    private static let unmapped: [(message: String, named: String, reject: String, accept: String, strict: String)] = [
        ("--", "patientUnknown", "patientUnknown", "--", "noPatient"),
        ("-1", "patientUnknown", "patientUnknown", "-1", "noPatient"),
        ("p-", "p-", "patientUnknown", "p-", "p-"),
        ("p1", "p1", "patientUnknown", "p1", "p1"),
    ]

    @Test(arguments: PatientConflict.allCases)
    func aDeviceOfNobody(_ conflict: PatientConflict) {
        for row in Self.unmapped {
            let expected: [(UnmappedReadings, Bool, String)] = [
                (.named, false, row.named), (.reject, false, row.reject), (.accept, false, row.accept),
                (.accept, true, row.strict),
            ]
            for (unmapped, strict, result) in expected {
                let found = Self.outcome(row.message, nil, conflict, unmapped, strict: strict)
                #expect(found == result, "message \(row.message), \(unmapped), strict \(strict)")
            }
        }
    }

    /// A device that the map has, and has given to nobody at the time: its message may name the former patient.
    @Test func aDeviceBetweenTwoPatients() {
        var period = PatientMap.Period(device: Array("d".utf8), patient: Array("patient-q".utf8))
        period.to = Instant(seconds: -1)
        let key = PaddedBytes(copying: SeriesKey.encode(Self.identity("p-")))
        for (unmapped, outcome) in [
            (UnmappedReadings.named, PatientAttribution.Outcome.rejected(.patientUnknown)),
            (.reject, .rejected(.patientUnknown)), (.accept, .unchanged),
        ] {
            var policy = PatientPolicy()
            policy.unmapped = unmapped
            var attribution = PatientAttribution(PatientRules(PatientMap([period]), policy))
            #expect(attribution.attribute(key.view, at: Instant(seconds: 0)) == outcome, "\(unmapped)")
        }
    }

    /// p has the device from 0 to 100 and, in two rows, from 300 to 500; q from 100 to 200; nobody from 200 to 300.
    private static let handedOn: [PatientMap.Period] = [
        ("p", Int64(0), Int64(100)), ("q", 100, 200), ("p", 300, 400), ("p", 400, 500),
    ].map { patient, from, to in
        var period = PatientMap.Period(device: Array("d".utf8), patient: Array("patient-\(patient)".utf8))
        (period.from, period.to) = (Instant(seconds: from), Instant(seconds: to))
        return period
    }

    /// What covers an interval is of whom the device was for all of it; the end is not in it.
    @Test(arguments: [
        (50, 100, "p"), (0, 100, "p"), (100, 200, "q"), (99, 101, nil), (50, 350, nil), (150, 250, nil),
        (350, 450, "p"),
        (300, 500, "p"), (250, 350, nil), (-10, 50, nil), (100, 100, "q"), (200, 300, nil),
    ])
    func intervals(start: Int64, end: Int64, patient: String?) {
        var attribution = PatientAttribution(PatientRules(PatientMap(Self.handedOn), PatientPolicy()))
        let key = PaddedBytes(copying: SeriesKey.encode(Self.identity("--")))
        let length = (end - start) * 1_000_000_000
        let outcome = attribution.attribute(key.view, at: Instant(seconds: end), length: length)
        #expect(outcome == (patient == nil ? .rejected(.patientUnknown) : .changed))
        guard let patient else { return }
        #expect(SeriesKey.identity(attribution.key).patient == Array("patient-\(patient)".utf8))
    }

    /// The defaults reject what is not sure.
    @Test func defaults() {
        let policy = PatientPolicy()
        #expect(policy.conflict == .reject && policy.unmapped == .named && !policy.requiresPatient)
    }

    /// Only patient and encounter of a key change, whatever else it has.
    @Test func theRestOfTheKeyStays() {
        for seed in Trials.seeds(500) {
            var generator = SeededGenerator(seed: seed)
            func part(_ generator: inout SeededGenerator, least: Int = 0) -> [UInt8] {
                let count = Int.random(in: least...60, using: &generator)
                return (0..<count).map { _ in UInt8.random(in: 33...126, using: &generator) }
            }
            var message = SeriesIdentity(
                type: Int.random(in: 0...1_000, using: &generator), device: part(&generator, least: 1))
            if Bool.random(using: &generator) { message.correlation = part(&generator) }
            let period = PatientMap.Period(
                device: message.device, patient: part(&generator, least: 1),
                encounter: Bool.random(using: &generator) ? part(&generator, least: 1) : nil)
            var attribution = PatientAttribution(PatientRules(PatientMap([period]), PatientPolicy()))
            let key = PaddedBytes(copying: SeriesKey.encode(message))
            #expect(attribution.attribute(key.view, at: Instant(seconds: 0)) == .changed)
            var expected = message
            (expected.patient, expected.encounter) = (period.patient, period.encounter)
            #expect(attribution.key.array == SeriesKey.encode(expected), "seed \(seed)")
        }
    }
}
