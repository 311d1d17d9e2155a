import GRDB
@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// A random sequence of runs on one store: documents with readings and retractions of them, by id and by time, early,
/// late, repeated, before their readings, in one document with them; kills, restarts, re-sent days, letters that are
/// replayed with the time at which they came, mappings that lack types or have windows of another length; in some, maps
/// that say whose devices are, each of one patient at a time, and change.
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
    /// What was sent, and as it was filed, by when it was received.
    private var documents: [Instant: (sent: [RetractionItem], filed: [RetractionItem])] = [:]
    /// Whether a map says whose devices are.
    private let isMapped: Bool
    /// By device, from which second on it is of the second of two patients.
    private var handedOver: [String: (first: String, second: String, at: Int)] = [:]
    private var now = Instant(seconds: 1_900_000_000)
    private var wasKilled = false

    private static let start = 1_772_352_000

    init(seed: UInt64, defect: Defect? = nil, fault: RetractionModel.Fault? = nil) {
        generator = SeededGenerator(seed: seed)
        self.defect = defect
        isMapped = Int.random(in: 0..<3, using: &generator) == 0
        model.fault = fault
        if isMapped { changeMap() }
    }

    /// What is on its way to a shard.
    private struct Pending {
        var document: [RetractionItem]
        var arrival: RetractionModel.Arrival
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
            retractionsAtHand: [1, 3, 1 << 16].randomElement(using: &generator) ?? 1,
            guarding: isMapped ? AllDevicesGuard() : nil)
    }

    private mutating func mapping() -> RetractionMapping {
        var mapping = RetractionMapping()
        if once(in: 3) { mapping.minutes = 10 }
        if once(in: 4) { mapping.kinds.remove(at: Int.random(in: 0..<mapping.kinds.count, using: &generator)) }
        return mapping
    }

    private mutating func runOnce() throws {
        if !sent.isEmpty { inspection?.look(scratch.path, model.present) }
        let hasReturned = try returnReadings()
        if isMapped, once(in: 2) { changeMap() }
        var used = mapping()
        // What was taken back before a kill, and what has returned, can be said only by who writes the type.
        if wasKilled || hasReturned { used.kinds = RetractionMapping().kinds }
        let run = try begin(Store(path: scratch.path), used, lanes: 2)
        attribute(run)
        var lanes = [used, used]
        var pending: [Pending] = []
        for _ in 0..<Int.random(in: 1...30, using: &generator) {
            run.now = tick()
            let lane = Int.random(in: 0..<2, using: &generator)
            switch Int.random(in: 0..<22, using: &generator) {
            case 0..<12: send(document(lane), run, lanes[lane], &pending)
            case 12: run.publish(lane: lane)
            case 13: try run.step(shard: Int.random(in: 0..<3, using: &generator))
            case 14:
                let next = mapping()
                if run.reload(next.named) { used = next }
            case 15:
                run.follow(lane: lane)
                lanes[lane] = used
            case 16, 17: try replayPayloads(run, lanes[0], &pending)
            case 18 where isMapped:
                try settle(run, &pending)
                changeMap()
                attribute(run)
            default: try settle(run, &pending)
            }
        }
        wasKilled = once(in: 2)
        if !wasKilled {
            try run.end()
            for one in pending { take(one) }
        }
        try show(run)
    }

    private mutating func settle(_ run: ReconfiguredRun, _ pending: inout [Pending]) throws {
        try run.settle()
        for one in pending { take(one) }
        pending = []
        inspection?.look(scratch.path, model.present)
    }

    private mutating func take(_ one: Pending) {
        if defect == .renewsDocuments, one.document.contains(where: { $0.value == nil }) {
            let all = one.document.filter { $0.value != nil }.map { item in
                var retraction = item
                retraction.value = nil
                return retraction
            }
            return model.take(one.document + all, one.arrival)
        }
        model.take(one.document, one.arrival)
    }

    // MARK: Maps

    private mutating func changeMap() {
        for device in ["a", "b", "c"] where handedOver[device] == nil || once(in: 2) {
            let patients = [("p", "q"), ("q", "p"), ("p", "p"), ("r", "q")]
            let (first, second) = patients.randomElement(using: &generator) ?? ("p", "q")
            handedOver[device] = (first, second, Self.start + Int.random(in: 0...600, using: &generator))
        }
    }

    /// What comes from here on is of whom the present map says.
    private func attribute(_ run: ReconfiguredRun) {
        guard isMapped else { return }
        let periods = handedOver.flatMap { device, whose in
            [whose.first, whose.second].enumerated().map { place, patient in
                var period = PatientMap.Period(device: Array(device.utf8), patient: Array(patient.utf8))
                let end = Instant(seconds: Int64(whose.at))
                if place == 0 { period.to = end } else { period.from = end }
                return period
            }
        }
        var policy = PatientPolicy()
        policy.conflict = .map
        for lane in 0..<run.laneCount { run.attribute(by: PatientRules(PatientMap(periods), policy), lane: lane) }
    }

    /// The item as it is filed. What a retraction says of the patient counts for nothing beside a map.
    private func filed(_ item: RetractionItem) -> RetractionItem {
        guard isMapped else { return item }
        var item = item
        item.patient = nil
        if item.value != nil, let second = item.second, let whose = handedOver[item.device] {
            item.patient = second < whose.at ? whose.first : whose.second
        }
        return item
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
        _ document: [RetractionItem], _ run: ReconfiguredRun, _ mapping: RetractionMapping,
        _ pending: inout [Pending]
    ) {
        let text = document.count == 1 ? document[0].json : "[\(document.map(\.json).joined(separator: ","))]"
        take(Array(text.utf8), document, run, mapping, at: tick(), &pending)
    }

    private mutating func take(
        _ bytes: [UInt8], _ document: [RetractionItem], _ run: ReconfiguredRun, _ mapping: RetractionMapping,
        at received: Instant, _ pending: inout [Pending]
    ) {
        run.take(bytes, lane: document[0].device == "c" ? 1 : 0, received: received)
        let asFiled = document.map { filed($0) }
        let arrival = RetractionModel.Arrival(received: received, minutes: mapping.minutes, isGuarded: isMapped)
        pending.append(Pending(document: asFiled.filter { mapping.kinds.contains($0.kind) }, arrival: arrival))
        documents[received, default: ([], [])].sent += document
        documents[received, default: ([], [])].filed += asFiled
    }

    /// Replays payloads that no template took, with the time at which they came: each is a document of its own now.
    private mutating func replayPayloads(
        _ run: ReconfiguredRun, _ mapping: RetractionMapping, _ pending: inout [Pending]
    ) throws {
        try settle(run, &pending)
        let letters = try run.store.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead WHERE kind = 'payload' AND replayed IS NULL ORDER BY number")
                .map(StoredLetter.init)
        }
        for letter in letters {
            guard let item = documents[letter.at]?.sent.first(where: { Array($0.json.utf8) == letter.bytes }),
                item.device != "c"
            else { continue }
            take(Array(item.json.utf8), [item], run, mapping, at: letter.at, &pending)
            try run.noteReplayed([letter.number])
        }
    }

    /// Takes readings back into the journal that were rejected after mapping, of which it is certain what they are;
    /// whether there were any.
    private mutating func returnReadings() throws -> Bool {
        guard once(in: 2) else { return false }
        let letters = try rejectedReadings()
        guard !letters.isEmpty else { return false }
        _ = try LetterReturn.run(letters.map(\.letter), directory: scratch.path) { _ in }
        for (_, one) in letters { take(one) }
        return true
    }

    /// Readings that were superseded, or filed for somebody else before. Lets go of the store.
    private func rejectedReadings() throws -> [(letter: StoredLetter, reading: Pending)] {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let (letters, types) = try store.pool.read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM dead WHERE kind = 'measurement' AND replayed IS NULL ORDER BY number")
            return (rows.map(StoredLetter.init), try StoredTypes.types(db))
        }
        let reasons = [Rejection.superseded.name, Rejection.patientChanged.name]
        return try letters.filter { $0.hasRecord && reasons.contains($0.reason) }.compactMap { letter in
            try reading(of: letter, types).map { (letter, $0) }
        }
    }

    /// What a letter brings; nil where several readings of its document are alike but for their ids.
    private func reading(of letter: StoredLetter, _ types: [MeasurementType]) throws -> Pending? {
        let bytes = letter.bytes ?? []
        guard let record = LetterRecord(letter: bytes), let reading = record.reading else { return nil }
        let identity = record.series.withByteView { SeriesKey.identity($0) }
        let value = try JSONTree(parsing: bytes)["Properties"]?.elements?.first?["Value"]?.text
        let found = Set(
            (documents[reading.received]?.filed ?? []).filter { item in
                item.kind.rawValue == types[identity.type].name && Array(item.device.utf8) == identity.device
                    && item.patient.map { Array($0.utf8) } == identity.patient
                    && item.second == Int(reading.instant.nanoseconds / 1_000_000_000)
                    && value == item.value.map(String.init)
            })
        guard let item = found.first, found.count == 1 else { return nil }
        var arrival = RetractionModel.Arrival(received: reading.received, isGuarded: isMapped, isReturned: true)
        if case .tumbling(let length) = types[identity.type].grouping { arrival.minutes = Int(length / 60_000_000_000) }
        return Pending(document: [item], arrival: arrival)
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
