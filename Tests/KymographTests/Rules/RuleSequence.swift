import GRDB
@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing

/// A random sequence of runs on one store with other rules, reloads of them, readings that come late and again, kills,
/// and letters that are sent again; beside a list that says what each moment of a device is by the rules that it met.
struct RuleSequence {
    /// A defect that the test puts in, to see that it is found.
    enum Defect: CaseIterable {
        /// Lanes keep the rules that they began with.
        case keepsFormerRules
        /// A rule is asked about the reading as it came.
        case forgetsRewriting
        /// What a rule says of a device is done for all.
        case forgetsDevices
    }

    /// What a device says at a moment.
    struct Moment: Hashable {
        var kind: String
        var device: String
        var second: Int
    }

    private struct Sent {
        var moment: Moment
        var value: Int
        var received: Instant

        var payload: [UInt8] {
            Array(#"{"d":"\#(moment.device)","t":\#(moment.second),"\#(moment.kind)":\#(value)}"#.utf8)
        }
    }

    /// What was filed for a moment.
    private struct Filed {
        /// Of a `spot` the value that was received last, of a `level` its bit.
        var value: Int
        var tags: Set<String>
        var received: Instant
    }

    private let scratch = Scratch(inMemory: true)
    private let defect: Defect?
    private var generator: SeededGenerator
    private var rules: [ModelRule] = []
    private let resources: EntryRules
    private var filed: [Moment: Filed] = [:]
    private var sent: [Sent] = []
    private var shown: [String: JSONTree] = [:]
    private var now = Instant(seconds: 1_900_000_000)
    private var value = 100
    private var sourceTags: [String] = []

    private static let start = 1_772_352_000
    static let devices = ["a", "b", "c"]

    init(seed: UInt64, defect: Defect? = nil) {
        generator = SeededGenerator(seed: seed)
        self.defect = defect
        var vetoing = EntryRule(name: "veto")
        vetoing.devices = [NamePattern("c")]
        var patching = EntryRule(name: "patch")
        patching.action = .patch
        patching.types = ["level"]
        patching.patch.members.tags = [Coding(code: "patched")]
        patching.condition = try? RuleExpression("subject.identifier || device")
        resources = EntryRules([vetoing, patching], sinks: ["output"])
        changeRules()
    }

    /// What is wrong in the end; empty when all is as it must be.
    mutating func run() throws -> [String] {
        for _ in 0..<Int.random(in: 2...4, using: &generator) { try runOnce() }
        return try finish()
    }

    private mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private mutating func tick() -> Instant {
        now = now.advanced(by: 1_000_000)
        return now
    }

    private mutating func changeRules() {
        rules = (0..<Int.random(in: 0...4, using: &generator)).map { number in
            ModelRule(number: number, value: value, using: &generator)
        }
        sourceTags = once(in: 3) ? ["ward"] : []
    }

    private func decider(_ set: MappingSet) -> RuleDecider {
        var rules = rules.map(\.rule)
        if defect == .forgetsDevices { for index in rules.indices { rules[index].devices = [] } }
        if defect == .forgetsRewriting { rules.sort { $0.action != .rewrite && $1.action == .rewrite } }
        return RuleDecider(
            rules, sources: [.init("test", tags: ReadingTags.list(sourceTags))], types: set.types)
    }

    // MARK: Runs

    private func open(_ lateness: Int64) throws -> (run: ReconfiguredRun, set: MappingSet) {
        let store = try Store(path: scratch.path)
        let set = try #require(
            MappingLoader.load([Self.mapping], stored: try store.formerTypes()).set, "the mapping has errors")
        let run = try ReconfiguredRun(
            store, set, MappingVariant(), lanes: 1, shards: 2, lateness: lateness, now: now,
            resources: { [resources] in resources })
        run.decide(by: decider(set), lane: 0)
        return (run, set)
    }

    private mutating func runOnce() throws {
        if once(in: 2) { changeRules() }
        let lateness: Int64 = [0, 600_000_000_000].randomElement(using: &generator) ?? 0
        now = tick()
        let (run, set) = try open(lateness)
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
                changeRules()
                if defect != .keepsFormerRules { run.decide(by: decider(set), lane: 0) }
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
            guard let taken = ModelRule.decide(rules, reading.moment, reading.value, sourceTags) else { continue }
            guard let known = filed[reading.moment] else {
                filed[reading.moment] = Filed(value: taken.value, tags: taken.tags, received: reading.received)
                continue
            }
            // What is not taken since it came before another one says nothing.
            guard known.received <= reading.received || known.value == taken.value else { continue }
            filed[reading.moment] = Filed(
                value: known.received <= reading.received ? taken.value : known.value,
                tags: known.tags.union(taken.tags), received: max(known.received, reading.received))
        }
        pending = []
    }

    /// A new reading, early or late; or one that was sent before, perhaps with another value.
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
        let reading = Sent(moment: moment, value: kind == "level" ? 1 << place : value, received: tick())
        sent.append(reading)
        return reading
    }

    /// Sends payloads again that were rejected, as `kymo dead replay --all` does, with the time at which they came.
    private mutating func replayLetters(_ run: ReconfiguredRun, _ pending: inout [Sent]) throws {
        try settle(run, &pending)
        let letters = try run.store.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead ORDER BY number").map(StoredLetter.init)
        }.filter { $0.kind == "payload" && $0.replayed == nil && $0.reason != "superseded" }
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
        let run = try open(0).run
        try run.end()
        try show(run.delivered)
        let verification = try StoreReader(directory: scratch.path).verifyLedger(isRunning: false) { _ in }
        return differences() + verification.differences
    }

    /// What the Observations say otherwise than what was filed. None of device `c` is sent.
    private func differences() -> [String] {
        var expected: [String: (value: Int, tags: Set<String>)] = [:]
        for (moment, one) in filed where moment.device != "c" {
            let isLevel = moment.kind == "level"
            let start = isLevel ? moment.second - moment.second % 300 : moment.second
            let name = "\(moment.device)|\(moment.kind)|\(start)"
            let known = expected[name] ?? (0, isLevel ? ["patched"] : [])
            expected[name] = (isLevel ? known.value | one.value : one.value, known.tags.union(one.tags))
        }
        var found: [String: (value: Int, tags: [String])] = [:]
        for observation in shown.values {
            guard let (name, value, tags) = Self.read(observation) else { return ["unreadable: \(observation)"] }
            found[name] = (value, tags)
        }
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            let (wanted, shown) = (expected[name], found[name])
            // In the order of their bytes, behind that of the patch.
            let tags = wanted.map { one in
                (one.tags.contains("patched") ? ["patched"] : [])
                    + one.tags.subtracting(["patched"]).sorted().map { $0 == "urn:s|y" ? "y" : $0 }
            }
            guard wanted?.value != shown?.value || tags != shown?.tags else { return nil }
            return "\(name): \(String(describing: shown)), not \(String(describing: wanted))"
        }
    }

    /// Whose an Observation is and of what, its value and its tags.
    private static func read(_ observation: JSONTree) -> (String, Int, [String])? {
        guard let name = observation["identifier"]?.elements?.first?["value"]?.text,
            case .number(let text)? = observation["valueQuantity"]?["value"], let value = Int(text)
        else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let start = ReconfigurationModel.seconds(parts[3]) else { return nil }
        let tags = observation["meta"]?["tag"]?.elements?.compactMap { $0["code"]?.text } ?? []
        return ("\(parts[1])|\(parts[2])|\(start)", value, tags)
    }

    private static let mapping: NamedMapping = {
        let device = ["level", "spot"].map { name in
            #"""
            {"templateType":"JsonPathContent","template":{"typeName":"\#(name)","typeMatchExpression":"$..[?(@\#(name))]",
            "deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s",
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
}
