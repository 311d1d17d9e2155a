import GRDB
@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// A random sequence of runs on one store: documents with readings and retractions of them, by id and by time, early,
/// late, repeated, before their readings, in one document with them; kills, restarts, re-sent days, letters that are
/// replayed, mappings that lack types.
struct RetractionSequence {
    /// A defect that the test puts in, to see that it is found.
    enum Defect: CaseIterable {
        /// What is taken back is forgotten at the end of a run.
        case forgetsRetractions
        /// A retraction in a document renews all that the document brings.
        case renewsDocuments
    }

    let scratch = Scratch(inMemory: true)
    private let defect: Defect?
    private var generator: SeededGenerator
    private(set) var model = RetractionModel()
    /// Looks at the store whenever all that was sent is durable.
    var inspection: ArchiveInspection?
    /// What sinks were given, in order.
    private(set) var blocks: [[UInt8]] = []
    private var shown: [RetractionModel.Shown: (status: String, value: Int?)] = [:]
    private var sent: [RetractionItem] = []
    private var now = Instant(seconds: 1_900_000_000)
    private var wasKilled = false

    private static let start = 1_772_352_000

    init(seed: UInt64, defect: Defect? = nil, fault: RetractionModel.Fault? = nil) {
        generator = SeededGenerator(seed: seed)
        self.defect = defect
        model.fault = fault
    }

    /// What is wrong in the end; empty when all is as it must be.
    mutating func run() throws -> [String] {
        for _ in 0..<Int.random(in: 2...6, using: &generator) { try runOnce() }
        let run = try begin(Store(path: scratch.path), RetractionMapping(), lanes: 1)
        try run.end()
        try show(run)
        let reader = try StoreReader(directory: scratch.path)
        let verification = try reader.verifyLedger(isRunning: false) { _ in }
        inspection?.look(scratch.path, model.present)
        return differences() + verification.differences + (inspection?.differences ?? [])
    }

    private mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private mutating func tick() -> Instant {
        now = now.advanced(by: 1_000_000)
        return now
    }

    // MARK: Runs

    private mutating func begin(_ store: Store, _ mapping: RetractionMapping, lanes: Int) throws -> ReconfiguredRun {
        if defect == .forgetsRetractions {
            try store.pool.write { try $0.execute(sql: "DELETE FROM retraction") }
        }
        guard let set = MappingLoader.load([mapping.named], stored: try store.formerTypes()).set else {
            throw StoreError(.unusable, "the mapping is refused")
        }
        return try ReconfiguredRun(
            store, set, MappingVariant(), lanes: lanes, shards: Int.random(in: 1...3, using: &generator),
            lateness: [0, 30_000_000_000, 600_000_000_000].randomElement(using: &generator) ?? 0, now: tick(),
            retractionsAtHand: [1, 3, 1 << 16].randomElement(using: &generator) ?? 1)
    }

    private mutating func mapping() -> RetractionMapping {
        var mapping = RetractionMapping()
        if once(in: 4) { mapping.kinds.remove(at: Int.random(in: 0..<mapping.kinds.count, using: &generator)) }
        return mapping
    }

    private mutating func runOnce() throws {
        if !sent.isEmpty { inspection?.look(scratch.path, model.present) }
        try replayReadings()
        // What was taken back before a kill can be said only by who writes the type.
        var used = wasKilled ? RetractionMapping() : mapping()
        let run = try begin(Store(path: scratch.path), used, lanes: 2)
        var lanes = [used.kinds, used.kinds]
        var pending: [[RetractionItem]] = []
        for _ in 0..<Int.random(in: 1...30, using: &generator) {
            run.now = tick()
            let lane = Int.random(in: 0..<2, using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<12: send(document(lane), run, lanes[lane], &pending)
            case 12: run.publish(lane: lane)
            case 13: try run.step(shard: Int.random(in: 0..<3, using: &generator))
            case 14:
                let next = mapping()
                if run.reload(next.named) { used = next }
            case 15:
                run.follow(lane: lane)
                lanes[lane] = used.kinds
            case 16: try replayPayloads(run, lanes[0], &pending)
            default: try settle(run, &pending)
            }
        }
        wasKilled = once(in: 2)
        if !wasKilled {
            try run.end()
            for document in pending { take(document) }
        }
        try show(run)
    }

    private mutating func settle(_ run: ReconfiguredRun, _ pending: inout [[RetractionItem]]) throws {
        try run.settle()
        for document in pending { take(document) }
        pending = []
        inspection?.look(scratch.path, model.present)
    }

    private mutating func take(_ document: [RetractionItem]) {
        if defect == .renewsDocuments, document.contains(where: { $0.value == nil }) {
            let all = document.filter { $0.value != nil }.map { item in
                var retraction = item
                retraction.value = nil
                return retraction
            }
            return model.take(document + all)
        }
        model.take(document)
    }

    // MARK: Documents

    /// Devices `a` and `b` come by the first lane and `c` by the other, so that each comes in order.
    private mutating func document(_ lane: Int) -> [RetractionItem] {
        var items: [RetractionItem] = []
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let device = lane == 1 ? "c" : once(in: 2) ? "a" : "b"
            items.append(item(device))
            if once(in: 3) { items.append(relative(of: items[items.count - 1])) }
        }
        return items
    }

    /// A reading, or a retraction, of the same name as `item`, and of the same or another patient.
    private mutating func relative(of item: RetractionItem) -> RetractionItem {
        guard let second = item.second, !item.kind.hasIds || item.id != nil else { return item }
        var relative = item
        let place = (second - Self.start) % 300 / 40
        relative.value = once(in: 2) ? nil : 1 << (place * 4 + Int.random(in: 0..<4, using: &generator))
        if once(in: 2) { relative.patient = [nil, "p", "q"].randomElement(using: &generator) ?? nil }
        sent.append(relative)
        return relative
    }

    private mutating func item(_ device: String) -> RetractionItem {
        if once(in: 3), let known = sent.filter({ $0.device == device }).randomElement(using: &generator) {
            return once(in: 2) ? known : relative(of: known)
        }
        let place = Int.random(in: 0..<6, using: &generator)
        let window = Int.random(in: 0..<2, using: &generator)
        let kind = RetractionItem.Kind.allCases.randomElement(using: &generator) ?? .named
        var item = RetractionItem(kind: kind, device: device)
        item.second = Self.start + window * 300 + place * 40 + 1
        if kind.hasIds { item.id = "\(window)-\(Int.random(in: 0..<5, using: &generator))" }
        item.patient = [nil, nil, "p", "q"].randomElement(using: &generator) ?? nil
        if once(in: 3) {
            if kind.hasIds { once(in: 3) ? (item.id = nil) : (item.second = nil) }
            if once(in: 2) { item.patient = nil }
        } else {
            // Its own bit, so that a sum says which readings are in it.
            item.value = 1 << (place * 4 + Int.random(in: 0..<4, using: &generator))
        }
        sent.append(item)
        return item
    }

    /// Sends a document: what its lane has no template for becomes letters, one by one.
    private mutating func send(
        _ document: [RetractionItem], _ run: ReconfiguredRun, _ kinds: [RetractionItem.Kind],
        _ pending: inout [[RetractionItem]]
    ) {
        let text = document.count == 1 ? document[0].json : "[\(document.map(\.json).joined(separator: ","))]"
        run.take(Array(text.utf8), lane: document[0].device == "c" ? 1 : 0, received: tick())
        pending.append(document.filter { kinds.contains($0.kind) })
    }

    /// Replays payloads that no template took: each is a document of its own now.
    private mutating func replayPayloads(
        _ run: ReconfiguredRun, _ kinds: [RetractionItem.Kind], _ pending: inout [[RetractionItem]]
    ) throws {
        try settle(run, &pending)
        let letters = try run.store.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead WHERE kind = 'payload' AND replayed IS NULL ORDER BY number")
                .map(StoredLetter.init)
        }
        for letter in letters {
            guard let item = sent.first(where: { Array($0.json.utf8) == letter.bytes }), item.device != "c" else {
                continue
            }
            run.take(Array(item.json.utf8), lane: 0, received: tick())
            if kinds.contains(item.kind) { pending.append([item]) }
            try run.noteReplayed([letter.number])
        }
    }

    /// Replays readings that were rejected after mapping: superseded ones stay so, and nothing taken back has a record.
    private mutating func replayReadings() throws {
        guard once(in: 2) else { return }
        _ = try LetterReturn.run(superseded(), directory: scratch.path) { _ in }
    }

    private func superseded() throws -> [StoredLetter] {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        return try store.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead WHERE kind = 'measurement' AND replayed IS NULL")
                .map(StoredLetter.init).filter { $0.hasRecord && $0.reason == Rejection.superseded.name }
        }.filter(isSettled)
    }

    /// Whether the letter of a superseded reading brings nothing. One that was taken back, and let in again by a
    /// document that brought another patient's, would.
    private func isSettled(_ letter: StoredLetter) throws -> Bool {
        let tree = try JSONTree(parsing: letter.bytes ?? [])
        let readings = sent.filter { item in
            tree["Type"]?.text == item.kind.rawValue && tree["DeviceId"]?.text == item.device
                && tree["PatientId"]?.text == item.patient
                && tree["Properties"]?.elements?.first?["Value"]?.text == item.value.map(String.init)
        }
        return !readings.isEmpty && readings.allSatisfy(model.isSettled)
    }

    // MARK: The end

    private mutating func show(_ run: ReconfiguredRun) throws {
        blocks += run.blocks
        var reader = BundleReader()
        try reader.read(ndjson: run.delivered)
        for (_, observation) in reader.observations {
            let name = observation["identifier"]?.elements?.first?["value"]?.text ?? ""
            guard let key = RetractionModel.Shown(identifier: name) else { continue }
            var value: Int?
            if case .number(let text)? = observation["valueQuantity"]?["value"] { value = Int(text) }
            shown[key] = (observation["status"]?.text ?? "", value)
        }
    }

    private func differences() -> [String] {
        var differences: [String] = []
        let wanted = model.observations
        for (key, value) in wanted where shown[key]?.value != value {
            differences.append("\(key) is \(shown[key].map { "\($0)" } ?? "missing"), not \(value)")
        }
        for (key, state) in shown where wanted[key] == nil {
            if state.status != "entered-in-error" || state.value != nil {
                differences.append("\(key) is \(state), and must be an error")
            }
        }
        return differences
    }
}
