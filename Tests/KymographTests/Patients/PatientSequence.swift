import GRDB
@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing

/// A random sequence of runs on one store with other patient maps, reloads of them, readings that come early, late and
/// again, with another patient's name or with other values, kills, and letters that are sent again; beside a list that
/// says whose each moment of a device is: of whom it was filed for first.
struct PatientSequence {
    /// A defect that the test puts in, to see that it is found.
    enum Defect: CaseIterable {
        /// Nobody looks whether a reading was filed for somebody else.
        case forgetsWhatWasFiled
        /// What earlier runs have filed is not known.
        case forgetsEarlierRuns
        /// A map applies to what comes after it was read, whatever its time is.
        case goesByArrival
    }

    /// What a device says at a moment.
    private struct Moment: Hashable {
        var kind: String
        var device: String
        var second: Int
    }

    /// A reading on its way.
    private struct Sent {
        var moment: Moment
        var value: Int
        /// What its message says.
        var named: String?
        var received: Instant

        var payload: [UInt8] {
            let owner = named.map { #","p":"\#($0)""# } ?? ""
            return Array(
                #"{"d":"\#(moment.device)","t":\#(moment.second),"\#(moment.kind)":\#(value)\#(owner)}"#.utf8)
        }
    }

    /// What was filed for a moment.
    private struct Filed {
        var patient: String
        /// Of a `spot` the value that was received last, of a `level` its bit.
        var value: Int
        var received: Instant
    }

    private let scratch = Scratch(inMemory: true)
    private let defect: Defect?
    private var generator: SeededGenerator
    private var periods: [PatientMap.Period] = []
    private var policy = PatientPolicy()
    private var filed: [Moment: Filed] = [:]
    private var sent: [Sent] = []
    private var shown: [String: JSONTree] = [:]
    private var now = Instant(seconds: 1_900_000_000)
    private var value = 100

    private static let start = 1_772_352_000
    private static let devices = ["a", "b", "c"]

    init(seed: UInt64, defect: Defect? = nil) {
        generator = SeededGenerator(seed: seed)
        self.defect = defect
        changeMap()
    }

    /// What is wrong in the end; empty when all is as it must be.
    mutating func run() throws -> [String] {
        policy.conflict = PatientConflict.allCases.randomElement(using: &generator) ?? .reject
        policy.unmapped = UnmappedReadings.allCases.randomElement(using: &generator) ?? .named
        for _ in 0..<Int.random(in: 2...5, using: &generator) { try runOnce() }
        return try finish()
    }

    private mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private mutating func tick() -> Instant {
        now = now.advanced(by: 1_000_000)
        return now
    }

    // MARK: Maps

    /// Another map. A device that was in one is in all later ones: its periods end, and are not taken out.
    private mutating func changeMap() {
        for device in Self.devices where once(in: 2) {
            periods.removeAll { $0.device == Array(device.utf8) }
            var second = Self.start - 100
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let end = second + Int.random(in: 100...900, using: &generator)
                var period = PatientMap.Period(
                    device: Array(device.utf8),
                    patient: Array(["p1", "p2", "p3"][Int.random(in: 0..<3, using: &generator)].utf8))
                (period.from, period.to) = (Instant(seconds: Int64(second)), Instant(seconds: Int64(end)))
                periods.append(period)
                second = end + (once(in: 3) ? Int.random(in: 1...300, using: &generator) : 0)
            }
        }
    }

    /// Whose the reading is by the map and the message, empty for nobody's; nil when it is not taken.
    private func owner(of reading: Sent) -> String? {
        let instant = Instant(seconds: Int64(reading.moment.second))
        let period = periods.first { $0.device == Array(reading.moment.device.utf8) && $0.contains(instant) }
        guard let mapped = period.map({ String(decoding: $0.patient, as: UTF8.self) }) else {
            let isHeld = periods.contains { $0.device == Array(reading.moment.device.utf8) }
            let isTaken =
                policy.unmapped == .accept || policy.unmapped == .named && reading.named != nil && !isHeld
            return isTaken ? reading.named ?? "" : nil
        }
        guard let named = reading.named, named != mapped else { return mapped }
        switch policy.conflict {
        case .reject: return nil
        case .map: return mapped
        case .message: return named
        }
    }

    private var rules: PatientRules {
        guard defect == .goesByArrival else { return PatientRules(PatientMap(periods), policy) }
        let all = Dictionary(grouping: periods, by: \.device).compactMap { $1.last }.map { period in
            PatientMap.Period(device: period.device, patient: period.patient)
        }
        return PatientRules(PatientMap(all), policy)
    }

    // MARK: Runs

    private static let mapping: NamedMapping = {
        let device = ["level", "spot"].map { name in
            #"""
            {"templateType":"JsonPathContent","template":{"typeName":"\#(name)","typeMatchExpression":"$..[?(@\#(name))]",
            "deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s",
            "patientIdExpression":"$.p",
            "values":[{"valueName":"x","valueExpression":"$.\#(name)","required":true}]}}
            """#
        }
        let fhir = ["level", "spot"].map { name in
            let value =
                name == "level" ? #""valueType":"Statistics","aggregate":"sum""# : #""valueType":"Quantity""#
            return #"""
                {"templateType":"CodeValueFhir","template":{"typeName":"\#(name)",
                "period":"\#(name == "level" ? "5m" : "instance")","codes":[{"system":"urn:t","code":"\#(name)"}],
                "value":{"valueName":"x",\#(value),"unit":"1","code":"1"}}}
                """#
        }
        func file(_ name: String, _ type: String, _ templates: [String]) -> MappingFile {
            let text = #"{"templateType":"\#(type)","template":[\#(templates.joined(separator: ","))]}"#
            return MappingFile(name: name, bytes: Array(text.utf8))
        }
        return NamedMapping(
            name: "m", device: file("device.json", "CollectionContent", device),
            fhir: file("fhir.json", "CollectionFhir", fhir))
    }()

    private func open(_ lateness: Int64, _ box: MapBox, lanes: Int) throws -> ReconfiguredRun {
        let store = try Store(path: scratch.path)
        let set = try #require(
            MappingLoader.load([Self.mapping], stored: try store.formerTypes()).set, "the mapping has errors")
        let book = try PatientBook(scratch.file("none")) { () throws(SettingProblem) in box.map }
        box.book = book
        let run = try ReconfiguredRun(
            store, set, MappingVariant(), lanes: lanes, shards: 2, lateness: lateness, now: now,
            guarding: defect == .forgetsWhatWasFiled ? nil : book, forgetsSeries: defect == .forgetsEarlierRuns)
        for lane in 0..<lanes { run.attribute(by: rules, lane: lane) }
        return run
    }

    private mutating func runOnce() throws {
        if once(in: 3) { changeMap() }
        if once(in: 3) { try takeLettersBack() }
        let box = MapBox(PatientMap(periods))
        let lateness: Int64 = [0, 600_000_000_000].randomElement(using: &generator) ?? 0
        now = tick()
        let run = try open(lateness, box, lanes: 1)
        var pending: [Sent] = []
        for _ in 0..<Int.random(in: 1...40, using: &generator) {
            run.now = tick()
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<15:
                let reading = nextReading()
                run.take(reading.payload, lane: 0, received: reading.received)
                pending.append(reading)
            case 15:
                try settle(run, &pending)
                changeMap()
                box.map = PatientMap(periods)
                _ = box.book?.reread(policy)
                run.attribute(by: rules, lane: 0)
            case 16: try replayLetters(run, &pending)
            default: try settle(run, &pending)
            }
        }
        if !once(in: 2) {
            try run.end()
            file(&pending)
        }
        try show(run.delivered)
    }

    private mutating func settle(_ run: ReconfiguredRun, _ pending: inout [Sent]) throws {
        try run.settle()
        file(&pending)
    }

    /// Notes what is durable.
    private mutating func file(_ pending: inout [Sent]) {
        for reading in pending {
            guard let patient = owner(of: reading) else { continue }
            if let known = filed[reading.moment] {
                guard known.patient == patient, known.received <= reading.received else { continue }
            }
            filed[reading.moment] = Filed(patient: patient, value: reading.value, received: reading.received)
        }
        pending = []
    }

    /// A new reading, early or late; or one that was sent before, perhaps with another value or another name.
    private mutating func nextReading() -> Sent {
        if once(in: 2), var known = sent.randomElement(using: &generator) {
            known.received = tick()
            if known.moment.kind == "spot", once(in: 4) {
                value += 1
                known.value = value
            }
            return known
        }
        let place = Int.random(in: 0..<10, using: &generator)
        let second = Self.start + Int.random(in: 0..<4, using: &generator) * 300 + place * 30 + 1
        let kind = once(in: 2) ? "spot" : "level"
        value += 1
        let moment = Moment(kind: kind, device: Self.devices[Int.random(in: 0..<3, using: &generator)], second: second)
        // One device at one time says one name, or none: devices of a map are of one patient at a time.
        let named = (second + moment.device.utf8.reduce(0) { $0 + Int($1) }) % 3 == 0 ? "p1" : nil
        let reading = Sent(moment: moment, value: kind == "level" ? 1 << place : value, named: named, received: tick())
        sent.append(reading)
        return reading
    }

    // MARK: Letters

    /// Sends payloads again that nobody took, as `kymo dead replay --all` does, with the time at which they came.
    private mutating func replayLetters(_ run: ReconfiguredRun, _ pending: inout [Sent]) throws {
        try settle(run, &pending)
        let letters = try Self.letters(run.store).filter { $0.kind == "payload" && $0.replayed == nil }
        for letter in letters {
            guard let bytes = letter.bytes, let reading = sent.last(where: { $0.payload == bytes }) else { continue }
            var again = reading
            again.received = letter.at
            run.take(bytes, lane: 0, received: letter.at)
            pending.append(again)
        }
        if !letters.isEmpty { try run.noteReplayed(letters.map(\.number)) }
        try settle(run, &pending)
    }

    /// Takes readings back into the journal that were rejected after they had been mapped: they are rejected again.
    private func takeLettersBack() throws {
        _ = try LetterReturn.run(try changedLetters(), directory: scratch.path) { _ in }
    }

    /// Readings that were rejected since they were filed for somebody else. Lets go of the store.
    private func changedLetters() throws -> [StoredLetter] {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        return try Self.letters(store).filter { $0.reason == "patientChanged" && $0.replayed == nil }
    }

    private static func letters(_ store: Store) throws -> [StoredLetter] {
        try store.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead ORDER BY number").map(StoredLetter.init)
        }
    }

    // MARK: The end

    private mutating func show(_ delivered: [UInt8]) throws {
        var reader = BundleReader()
        try reader.read(ndjson: delivered)
        for observation in reader.observations.values {
            let name = observation["identifier"]?.elements?.first?["value"]?.text ?? ""
            shown[name] = observation
        }
    }

    /// A last run that writes everything, and the comparison.
    private mutating func finish() throws -> [String] {
        now = tick()
        let run = try open(0, MapBox(PatientMap(periods)), lanes: 1)
        try run.end()
        try show(run.delivered)
        let verification = try StoreReader(directory: scratch.path).verifyLedger(isRunning: false) { _ in }
        return differences() + verification.differences
    }

    /// What the Observations say otherwise than what was filed.
    private func differences() -> [String] {
        var expected: [String: Int] = [:]
        for (moment, one) in filed {
            let isLevel = moment.kind == "level"
            let start = isLevel ? moment.second - moment.second % 300 : moment.second
            let name = "\(one.patient)|\(moment.device)|\(moment.kind)|\(start)"
            expected[name] = isLevel ? expected[name, default: 0] | one.value : one.value
        }
        var found: [String: Int] = [:]
        for observation in shown.values {
            guard let (name, value) = Self.read(observation) else { return ["unreadable: \(observation)"] }
            found[name] = value
        }
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            expected[name] == found[name] ? nil : "\(name): \(found[name] ?? -1), not \(expected[name] ?? -1)"
        }
    }

    /// Whose an Observation is and of what, and its value.
    private static func read(_ observation: JSONTree) -> (String, Int)? {
        guard let name = observation["identifier"]?.elements?.first?["value"]?.text,
            case .number(let text)? = observation["valueQuantity"]?["value"], let value = Int(text)
        else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let start = ReconfigurationModel.seconds(parts[3]) else { return nil }
        return ("\(parts[0])|\(parts[1])|\(parts[2])|\(start)", value)
    }
}

/// The map that a book reads.
private final class MapBox: @unchecked Sendable {
    // Of the test's thread alone.
    var map: PatientMap
    var book: PatientBook?

    init(_ map: PatientMap) { self.map = map }
}
