@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// A random sequence of runs on one store with readings that share instants, come again, are corrected and move, some
/// with ids and starts; with several lanes and shards, kills, late readings and windows that come back from the archive,
/// and mappings that say otherwise what becomes of several readings of one time.
struct SameInstantSequence {
    /// A reading that is sent. `sum` is summed up in windows of five minutes and keeps what the mapping says; `spot` is
    /// one Observation a reading.
    struct Sent: Equatable {
        var kind: String
        var device: String
        var second: Int
        var start: Int?
        var id: String?
        var value: Int
        var received: Instant

        var payload: [UInt8] {
            let start = start.map { #","s":\#($0)"# } ?? ""
            let id = id.map { #","id":"\#($0)""# } ?? ""
            return Array(#"{"d":"\#(device)","t":\#(second)\#(start)\#(id),"\#(kind)":\#(value)}"#.utf8)
        }

        func isSame(_ other: Sent) -> Bool {
            second == other.second && start == other.start && value == other.value && id == other.id
        }
    }

    /// With `mode` for several readings of `sum` of one time.
    static func mapping(_ mode: SameInstant) -> NamedMapping {
        func device(_ name: String) -> String {
            #"""
            {"templateType":"JsonPathContent","template":{"typeName":"\#(name)","typeMatchExpression":"$..[?(@\#(name))]",
            "deviceIdExpression":"$.d","timestampExpression":"$.t","startExpression":"$.s","readingIdExpression":"$.id",
            "timestampFormat":"epoch-s","values":[{"valueName":"x","valueExpression":"$.\#(name)","required":true}]}}
            """#
        }
        func fhir(_ name: String, _ period: String, _ value: String) -> String {
            #"""
            {"templateType":"CodeValueFhir","template":{"typeName":"\#(name)",\#(period),
            "codes":[{"system":"urn:t","code":"\#(name)"}],"value":{"valueName":"x","unit":"1","code":"1",\#(value)}}}
            """#
        }
        func file(_ name: String, _ type: String, _ templates: [String]) -> MappingFile {
            let text = #"{"templateType":"\#(type)","template":[\#(templates.joined(separator: ","))]}"#
            return MappingFile(name: name, bytes: Array(text.utf8))
        }
        return NamedMapping(
            name: "m", device: file("device.json", "CollectionContent", [device("sum"), device("spot")]),
            fhir: file(
                "fhir.json", "CollectionFhir",
                [
                    fhir(
                        "sum", #""period":"5m","sameInstant":"\#(mode.rawValue)""#,
                        #""valueType":"Statistics","aggregate":"sum","components":["count"]"#),
                    fhir("spot", #""period":"instance""#, #""valueType":"Quantity""#),
                ]))
    }

    private let scratch = Scratch(inMemory: true)
    private var generator: SeededGenerator
    private var reader = BundleReader()
    private var accepted: [Sent] = []
    private var sent: [Sent] = []
    private var now = Instant(seconds: 1_900_000_000)
    /// Readings that were sent and made durable, those that changed nothing among them.
    private var received = 0
    /// What becomes of several readings of `sum` in the last run.
    private var mode: SameInstant
    /// Whether a run has had `keep`, and whether it has taken a reading of `sum`, which must not become one of several.
    private var mayKeep = false
    private var hasKept = false

    private static let start = 1_772_352_000

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        mode = SameInstant.choices.randomElement(using: &generator) ?? .keep
    }

    private mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private mutating func tick() -> Instant {
        now = now.advanced(by: 1_000_000)
        return now
    }

    /// What is wrong in the end; empty when all is as it must be.
    mutating func run() throws -> [String] {
        for _ in 0..<Int.random(in: 2...5, using: &generator) {
            let differences = try runOnce(isLast: false) + differencesBetweenRuns()
            if !differences.isEmpty { return differences }
        }
        let refused = try runOnce(isLast: true)
        let store = try StoreReader(directory: scratch.path)
        let balance = try store.ledger(ArchiveFilter(), isRunning: false).balance
        let verification = try store.verifyLedger(isRunning: false) { _ in }
        var differences = refused + verification.differences + self.differences
        if balance.received != received || balance.accepted != accepted.count {
            differences.append("\(balance.text), and \(accepted.count) of \(received) are there")
        }
        return differences
    }

    /// What is wrong with the ledger after a run, which may have been killed: whole, and of a part of the time.
    private func differencesBetweenRuns() throws -> [String] {
        let store = try StoreReader(directory: scratch.path)
        var differences = try store.verifyLedger(isRunning: true) { _ in }.differences
        for second in [nil, 0, 300, 600, 900] {
            var filter = ArchiveFilter()
            filter.from = second.map { Instant(seconds: Int64(Self.start + $0)) }
            filter.to = second.map { Instant(seconds: Int64(Self.start + $0 + 300)) }
            let report = try store.ledger(filter, isRunning: true)
            let balance = report.balance
            let counts =
                [balance.accepted, balance.duplicate, balance.open, balance.onTheWay, balance.lost]
                + report.series.flatMap { [$0.readings, $0.open, $0.dropped] + $0.rejected.values }
            if counts.contains(where: { $0 < 0 }) { differences.append("a count is below zero: \(balance.text)") }
            if balance.received != received || balance.onTheWay > 0 {
                differences.append("\(balance.text), and \(received) were received")
            }
        }
        return differences
    }

    /// One run, if its mapping may go on with the store; what was taken or refused wrongly.
    private mutating func runOnce(isLast: Bool) throws -> [String] {
        let wanted = isLast || once(in: 2) ? mode : SameInstant.choices.randomElement(using: &generator) ?? mode
        let store = try Store(path: scratch.path)
        guard let set = MappingLoader.load([Self.mapping(wanted)], stored: try store.formerTypes()).set else {
            store.close()
            return wanted != .keep && mayKeep ? [] : ["\(wanted) is refused after \(mode)"]
        }
        if wanted != .keep, hasKept { return ["\(wanted) is taken where readings may be several of one time"] }
        mode = wanted
        mayKeep = mayKeep || wanted == .keep
        let lateness: Int64 = [0, 30_000_000_000, 600_000_000_000].randomElement(using: &generator) ?? 0
        let run = try ReconfiguredRun(
            store, set, MappingVariant(), lanes: Int.random(in: 1...2, using: &generator),
            shards: Int.random(in: 1...2, using: &generator), lateness: lateness, now: tick())
        var pending: [Sent] = []
        for _ in 0..<Int.random(in: 1...30, using: &generator) {
            run.now = tick()
            let reading = next()
            run.take(
                reading.payload, lane: Int.random(in: 0..<run.laneCount, using: &generator), received: reading.received)
            pending.append(reading)
            if once(in: 4) {
                try run.settle()
                settle(&pending)
            }
        }
        if isLast || once(in: 2) {
            try run.end()
            settle(&pending)
        }
        try reader.read(ndjson: run.delivered)
        return []
    }

    /// A new reading, or one that was sent before, as it was or changed.
    private mutating func next() -> Sent {
        if once(in: 2), var known = sent.randomElement(using: &generator) {
            known.received = tick()
            if once(in: 2) { known.value += 1 }
            if once(in: 3) {
                let later = second()
                known.start = known.start.map { $0 + later - known.second }
                known.second = later
            }
            sent.append(known)
            return known
        }
        var reading = Sent(
            kind: ["sum", "spot"].randomElement(using: &generator) ?? "sum",
            device: ["a", "b"].randomElement(using: &generator) ?? "a", second: second(),
            value: Int.random(in: 1...9, using: &generator), received: tick())
        if once(in: 2) { reading.id = "n.\(Int.random(in: 1...6, using: &generator))" }
        if once(in: 3) { reading.start = reading.second - Int.random(in: 1...2, using: &generator) * 30 }
        sent.append(reading)
        return reading
    }

    private mutating func second() -> Int { Self.start + Int.random(in: 0..<60, using: &generator) * 20 }

    // MARK: The model

    private mutating func settle(_ pending: inout [Sent]) {
        received += pending.count
        for reading in pending.sorted(by: { $0.received < $1.received }) { accept(reading) }
        pending = []
    }

    private mutating func accept(_ reading: Sent) {
        let rivals = accepted.indices.filter { place in
            let other = accepted[place]
            guard other.kind == reading.kind, other.device == reading.device else { return false }
            if let id = reading.id { return other.id == id }
            // A length, unlike a start, is the same for readings of one key.
            return other.id == nil && other.second == reading.second && other.start == reading.start
        }
        if reading.kind == "sum", mode == .keep { hasKept = true }
        let isFirst = mode == .reject && reading.id == nil && reading.kind == "sum"
        if let same = rivals.first(where: { accepted[$0].isSame(reading) }) {
            let times = [accepted[same].received, reading.received]
            accepted[same].received = (isFirst ? times.min() : times.max()) ?? reading.received
        } else if let rival = rivals.first, isFirst {
            if reading.received < accepted[rival].received { accepted[rival] = reading }
        } else if let rival = rivals.first, reading.id != nil || reading.kind == "spot" || mode == .latest {
            if reading.received >= accepted[rival].received { accepted[rival] = reading }
        } else {
            accepted.append(reading)
        }
    }

    /// What the Observations say otherwise.
    private var differences: [String] {
        var expected: [String: [String]] = [:]
        for (window, readings) in Dictionary(grouping: accepted.filter { $0.kind == "sum" }, by: Self.window) {
            expected[window] = ["\(readings.map(\.value).reduce(0, +))", "\(readings.count)"]
        }
        for reading in accepted where reading.kind == "spot" {
            expected[Self.spot(reading)] = ["\(reading.value)", "1"]
        }
        var found: [String: [String]] = [:]
        for observation in reader.observations.values where observation["status"]?.text != "entered-in-error" {
            let name = observation["identifier"]?.elements?.first?["value"]?.text ?? ""
            var count = "1"
            for component in observation["component"]?.elements ?? [] {
                if case .number(let text)? = component["valueInteger"] { count = text }
            }
            guard case .number(let value)? = observation["valueQuantity"]?["value"] else { continue }
            found[name] = [value, count]
        }
        return Set(expected.keys).union(found.keys).filter { expected[$0] != found[$0] }.sorted().map {
            "\($0): \(found[$0] ?? []) and not \(expected[$0] ?? [])"
        }
    }

    private static func compact(_ second: Int) -> String {
        let text = Instant(nanoseconds: Int64(second) * 1_000_000_000).text
        return text.filter { $0.isNumber || $0 == "T" || $0 == "Z" }.replacing("T", with: "")
    }

    private static func window(_ reading: Sent) -> String {
        let first = reading.second - reading.second % 300
        return ".\(reading.device).sum.\(compact(first)).\(compact(first + 299))"
    }

    private static func spot(_ reading: Sent) -> String {
        if let id = reading.id { return ".\(reading.device).spot....\(id.replacing(".", with: "%2E"))" }
        return ".\(reading.device).spot.\(compact(reading.start ?? reading.second)).\(compact(reading.second))"
    }
}
