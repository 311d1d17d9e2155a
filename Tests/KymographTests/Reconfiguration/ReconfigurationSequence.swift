import GRDB
@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// A random sequence of runs on one store, with other mappings, windows, lateness, units, lanes and shards, reloads,
/// kills, late and repeated readings, letters that are sent again, devices beyond the limit, whose readings wait in
/// letters, and windows that the archive drops.
struct ReconfigurationSequence {
    /// A defect that the test puts in, to see that it is found.
    enum Defect: CaseIterable {
        /// A run forgets what types it lacks were.
        case forgetsTypes
        /// Units are what the mapping of the day says.
        case forgetsUnits
        /// Those of single readings are.
        case forgetsUnitsOfReadings
        /// A mapping without unit agrees with all, and all with it.
        case forgetsUnitsByWayOfNone
        /// What tells readings apart is what the mapping of the day says.
        case forgetsNamings
        /// What only letters have readings of may mean anything.
        case forgetsLetters
        /// The mark of the first lane counts for the rings of all.
        case followsFirstLane
        /// A letter that is sent again came just now.
        case stampsLettersNow
        /// Identities do not say where the period ends.
        case forgetsEnd
    }

    private let scratch = Scratch(inMemory: true)
    private let defect: Defect?
    private var generator: SeededGenerator
    private var model = ReconfigurationModel()
    /// The last Observation of each identity.
    private var shown: [String: JSONTree] = [:]
    private var sent: [SentReading] = []
    private var now = Instant(seconds: 1_900_000_000)
    private var value = 100
    /// Whether the last run has left nothing for the next one.
    private var isJournalEmpty = true

    private static let start = 1_772_352_000

    init(seed: UInt64, defect: Defect? = nil) {
        generator = SeededGenerator(seed: seed)
        self.defect = defect
    }

    /// What is wrong in the end; empty when all is as it must be.
    mutating func run() throws -> [String] {
        for _ in 0..<Int.random(in: 3...7, using: &generator) {
            if let difference = try runOnce() { return [difference] }
        }
        return try finish()
    }

    private mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private mutating func tick() -> Instant {
        now = now.advanced(by: 1_000_000)
        return now
    }

    // MARK: Runs

    /// The types of the store as a run with `variant` sees them.
    private func formerTypes(_ store: Store, _ variant: MappingVariant) throws -> [FormerType] {
        let types =
            defect == .forgetsLetters
            ? try store.pool.read { try StoredTypes.formerTypes($0, withLetters: false) } : try store.formerTypes()
        return types.map { type in
            func withoutMeaning(if isForgotten: Bool) -> FormerType {
                guard isForgotten else { return type }
                let history = TypeHistory(hasTemplate: type.history.hasTemplate, meaning: TypeMeaning())
                return FormerType(type: type.type, history: history, hasReadings: type.hasReadings)
            }
            return switch defect {
            case nil, .followsFirstLane, .stampsLettersNow, .forgetsEnd, .forgetsLetters: type
            case .forgetsUnits: withoutMeaning(if: true)
            case .forgetsNamings: withoutNamings(type)
            case .forgetsUnitsOfReadings: withoutMeaning(if: type.type.grouping == .instance)
            case .forgetsUnitsByWayOfNone:
                withoutMeaning(
                    if: variant.unit == nil || type.history.meaning.values.values.contains { $0.unit?.name == "none" })
            case .forgetsTypes:
                FormerType(
                    type: type.type, history: TypeHistory(hasTemplate: false, meaning: type.history.meaning),
                    hasReadings: false)
            }
        }
    }

    private func withoutNamings(_ type: FormerType) -> FormerType {
        var type = type
        type.history.meaning.namings = nil
        return type
    }

    /// One run; gives what was refused or taken against what the model says.
    private mutating func runOnce() throws -> String? {
        var settings = StoreSettings()
        if once(in: 8) { settings.archiveAge = 1 }
        if once(in: 3) { try takeReadingsBack() }
        var limits = WindowLimits()
        // Fewer devices than a journal has would reject what was accepted.
        if isJournalEmpty, once(in: 3) { limits.maxDevices = 1 }
        let store = try Store(path: scratch.path, settings: settings)
        let variant = MappingVariant.random(&generator)
        let set = MappingLoader.load([variant.named], stored: try formerTypes(store, variant)).set
        guard (set != nil) == model.admits(variant) else {
            return "\(variant) is \(set == nil ? "refused" : "taken") after \(model.units), \(model.namings)"
        }
        guard let set else { return nil }
        let run = try ReconfiguredRun(
            store, set, variant, lanes: Int.random(in: 1...2, using: &generator),
            shards: Int.random(in: 1...3, using: &generator),
            lateness: [0, 30_000_000_000, 600_000_000_000].randomElement(using: &generator) ?? 0, now: tick(),
            followsFirstLane: defect == .followsFirstLane, limits: limits)
        model.begin(variant)
        var variants = [variant]
        var pending: [(SentReading, MappingVariant)] = []
        for _ in 0..<Int.random(in: 1...30, using: &generator) {
            if let difference = try act(run, &variants, &pending) { return difference }
        }
        let isKilled = once(in: 2)
        isJournalEmpty = !isKilled
        if !isKilled {
            try run.end()
            for (reading, variant) in pending { model.accept(reading, variant) }
        }
        try show(run.delivered)
        return nil
    }

    /// Takes what a run has delivered.
    private mutating func show(_ delivered: [UInt8]) throws {
        var reader = BundleReader()
        try reader.read(ndjson: delivered)
        for (id, observation) in reader.observations {
            let name = observation["identifier"]?.elements?.first?["value"]?.text ?? id
            let end = defect == .forgetsEnd ? name.lastIndex(of: ".") : nil
            shown[String(name[..<(end ?? name.endIndex)])] = observation
        }
    }

    private mutating func act(
        _ run: ReconfiguredRun, _ variants: inout [MappingVariant], _ pending: inout [(SentReading, MappingVariant)]
    ) throws -> String? {
        run.now = tick()
        let lane = Int.random(in: 0..<run.laneCount, using: &generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<12:
            let reading = nextReading()
            pending.append((reading, run.take(reading.payload, lane: lane, received: reading.received)))
        case 12: run.publish(lane: lane)
        case 13: try run.step(shard: Int.random(in: 0..<3, using: &generator))
        case 14: run.follow(lane: lane)
        case 15: try replayLetters(run, &pending)
        case 16:
            let variant = MappingVariant.random(&generator)
            let isTaken = run.reload(variant)
            guard isTaken == model.admits(variant, after: variants) else {
                return "\(variant) is \(isTaken ? "taken" : "refused") by a reload after \(variants)"
            }
            if isTaken { variants.append(variant) }
        default:
            try run.settle()
            for (reading, variant) in pending { model.accept(reading, variant) }
            pending = []
        }
        return nil
    }

    /// A new reading, early or late, or one that was sent before.
    private mutating func nextReading() -> SentReading {
        if once(in: 4), var known = sent.randomElement(using: &generator) {
            known.received = tick()
            return known
        }
        let place = Int.random(in: 0..<10, using: &generator)
        let window = Int.random(in: 0..<4, using: &generator)
        let second = Self.start + window * 300 + place / 2 * 60 + place % 2 * 30 + 1
        let kind = MappingVariant.Kind.allCases.randomElement(using: &generator) ?? .level
        value += 1
        let reading = SentReading(
            kind: kind, device: ["a", "b", "c"].randomElement(using: &generator) ?? "a", second: second,
            value: kind == .level ? 1 << place : value, received: tick())
        sent.append(reading)
        return reading
    }

    /// Sends payloads again that nobody took, as `kymo dead replay --all` does, with the time at which they came.
    private mutating func replayLetters(
        _ run: ReconfiguredRun, _ pending: inout [(SentReading, MappingVariant)]
    ) throws {
        try run.settle()
        for (reading, variant) in pending { model.accept(reading, variant) }
        pending = []
        let letters = try Self.letters(run.store).filter { $0.kind == "payload" && $0.replayed == nil }
        for letter in letters {
            guard let bytes = letter.bytes, let reading = sent.first(where: { $0.payload == bytes }) else { continue }
            var again = reading
            again.received = letter.at
            let received = defect == .stampsLettersNow ? tick() : letter.at
            pending.append((again, run.take(bytes, lane: 0, received: received)))
        }
        if !letters.isEmpty { try run.noteReplayed(letters.map(\.number)) }
    }

    /// Those of readings whose devices found no room. Lets go of the store.
    private func lettersWithoutRoom() throws -> [StoredLetter] {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        return try Self.letters(store).filter {
            $0.kind == "measurement" && $0.reason == Rejection.tooManyDevices.name && $0.replayed == nil
        }
    }

    /// Takes readings back into the journal whose devices found no room.
    private mutating func takeReadingsBack() throws {
        let letters = try lettersWithoutRoom()
        guard !letters.isEmpty else { return }
        isJournalEmpty = false
        _ = try LetterReturn.run(letters, directory: scratch.path) { _ in }
    }

    private static func letters(_ store: Store) throws -> [StoredLetter] {
        try store.pool.read { db in try StoredLetter.fetchAll(db) }
    }

    // MARK: The end

    /// A last run that writes everything, and the comparison.
    private mutating func finish() throws -> [String] {
        let store = try Store(path: scratch.path)
        var variant = MappingVariant(edition: 3)
        // Each kind in the unit of its readings; kinds may have come in different ones.
        let unit = model.units[.level] ?? model.units[.spot] ?? "mg/dL"
        variant.unit = unit == "none" ? nil : unit
        variant.hasIds = model.namings[variant.minutes] ?? false
        variant.kinds = Set(MappingVariant.Kind.allCases.filter { model.units[$0] ?? unit == unit })
        guard let set = MappingLoader.load([variant.named], stored: try formerTypes(store, variant)).set else {
            return ["\(variant) is refused in the end, after \(model.units)"]
        }
        let run = try ReconfiguredRun(store, set, variant, lanes: 1, shards: 2, lateness: 0, now: tick())
        model.begin(variant)
        let letters = try Self.letters(store)
        try run.end()
        try show(run.delivered)
        let verification = try StoreReader(directory: scratch.path).verifyLedger(isRunning: false) { _ in }
        let lettered = letters.filter {
            $0.kind == "measurement" && $0.reason != "superseded" && $0.replayed == nil
        }
        return model.differences(from: Array(shown.values), lettered: lettered.compactMap(Self.reading))
            + verification.differences
    }

    /// The reading that a letter of a normalised measurement holds.
    private static func reading(_ letter: StoredLetter) -> SentReading? {
        guard let json = letter.bytes.flatMap({ try? JSONTree(parsing: $0) }),
            let kind = json["Type"]?.text.flatMap(MappingVariant.Kind.init), let device = json["DeviceId"]?.text,
            let time = json["OccurrenceTimeUtc"]?.text,
            let value = json["Properties"]?.elements?.first?["Value"]?.text.flatMap({ Int($0) })
        else { return nil }
        let storage = PaddedBytes(copying: time.utf8)
        guard let second = TimestampParser.iso8601(storage.view)?.instant.nanoseconds else { return nil }
        return SentReading(
            kind: kind, device: device, second: Int(second / 1_000_000_000), value: value, received: letter.at)
    }
}

extension StoredLetter {
    /// All letters of a store.
    fileprivate static func fetchAll(_ db: Database) throws -> [StoredLetter] {
        try Row.fetchAll(db, sql: "SELECT * FROM dead ORDER BY number").map(StoredLetter.init)
    }
}
