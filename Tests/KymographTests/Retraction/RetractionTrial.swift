import GRDB
@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing

/// Runs on one store that readings and retractions are sent to, one document after the other.
final class RetractionTrial {
    let scratch = Scratch(inMemory: true)
    /// None between two runs: each locks the store.
    private var current: ReconfiguredRun?
    private var now = Instant(seconds: 1_900_000_000)
    private var observations: [String: JSONTree] = [:]
    /// What each shard of the next run may meet.
    var limits: WindowLimits
    /// What decides on resources in the next run; nil for nothing.
    var resources: EntryRules?
    /// The mapping of the next run.
    var mapping = RetractionMapping()
    /// Whose devices are in the next run, each of one patient at a time; nil for no map.
    var map: [PatientMap.Period]?
    private let retractionsAtHand: Int

    static let start = 1_772_352_000

    /// Each shard keeps `retractionsAtHand` more than were at hand.
    init(
        _ limits: WindowLimits = WindowLimits(), retractionsAtHand: Int = 1 << 16, resources: EntryRules? = nil,
        map: [PatientMap.Period]? = nil
    ) throws {
        (self.limits, self.retractionsAtHand, self.resources, self.map) = (limits, retractionsAtHand, resources, map)
        current = try begin()
    }

    var run: ReconfiguredRun {
        guard let current else { preconditionFailure("there is a run but while another one begins") }
        return current
    }

    private func begin() throws -> ReconfiguredRun {
        var rules: (@Sendable () -> EntryRules)?
        if let resources { rules = { [resources] in resources } }
        let store = try Store(path: scratch.path)
        let set = try #require(MappingLoader.load([mapping.named], stored: try store.formerTypes()).set)
        let run = try ReconfiguredRun(
            store, set, MappingVariant(), lanes: 2, shards: 2, lateness: 0, now: now, limits: limits,
            retractionsAtHand: retractionsAtHand, guarding: map.map { _ in AllDevicesGuard() }, resources: rules)
        if let map { for lane in 0..<2 { attribute(by: map, lane: lane, of: run) } }
        return run
    }

    private func attribute(by map: [PatientMap.Period], lane: Int, of run: ReconfiguredRun) {
        var policy = PatientPolicy()
        policy.conflict = .map
        run.attribute(by: PatientRules(PatientMap(map), policy), lane: lane)
    }

    /// Device `d` is of `patient` from `second` seconds behind ``start`` on, until the next one.
    static func period(_ patient: String, from second: Int = 0, until end: Int? = nil) -> PatientMap.Period {
        var period = PatientMap.Period(device: Array("d".utf8), patient: Array(patient.utf8))
        period.from = Instant(seconds: Int64(start + second))
        if let end { period.to = Instant(seconds: Int64(start + end)) }
        return period
    }

    /// A reading, or a retraction, of `second` seconds behind ``start``.
    static func item(
        _ kind: RetractionItem.Kind, _ value: Int? = nil, at second: Int? = nil, id: String? = nil,
        patient: String? = nil, device: String = "d"
    ) -> RetractionItem {
        RetractionItem(
            kind: kind, device: device, patient: patient, second: second.map { start + $0 }, id: id, value: value)
    }

    /// Sends a document to a lane, and waits until all of it is durable; when it was received.
    @discardableResult
    func send(_ items: RetractionItem..., lane: Int = 0) throws -> Instant {
        now = now.advanced(by: 1_000_000)
        try sendAgain(items, received: now, lane: lane)
        return now
    }

    /// Sends what was received before, as a dead letter is sent again.
    func sendAgain(_ items: [RetractionItem], received: Instant, lane: Int = 0) throws {
        let text = items.count == 1 ? items[0].json : "[\(items.map(\.json).joined(separator: ","))]"
        run.now = now
        run.take(Array(text.utf8), lane: lane, received: received)
        try run.settle()
    }

    /// Ends the run, or lets go of it as SIGKILL does, and begins another one.
    func restart(isKilled: Bool = false) throws {
        if !isKilled { try run.end() }
        try show()
        now = now.advanced(by: 1_000_000)
        current = nil
        current = try begin()
    }

    /// Ends the run, takes the readings of dead letters with `reason` again, and begins another run.
    func returnLetters(of reason: Rejection) throws {
        let letters = try run.store.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead WHERE reason = ?", arguments: [reason.name])
                .map(StoredLetter.init)
        }
        try run.end()
        try show()
        current = nil
        let refusals = try LetterReturn.run(letters, directory: scratch.path) { _ in }
        #expect(!letters.isEmpty && letters.allSatisfy(\.hasRecord) && refusals.isEmpty)
        now = now.advanced(by: 1_000_000)
        current = try begin()
    }

    private func show() throws {
        var reader = BundleReader()
        try reader.read(ndjson: run.delivered)
        observations.merge(reader.observations) { $1 }
    }

    /// Ends the last run; status and value of the Observations of `kind`, in the order of their identities.
    func end(_ kind: RetractionItem.Kind) throws -> [String] {
        try run.end()
        try show()
        let own = observations.values.filter { $0["code"]?["coding"]?.elements?.first?["code"]?.text == kind.rawValue }
        let named = own.map { observation in
            let name = observation["identifier"]?.elements?.first?["value"]?.text ?? ""
            var value = ""
            if case .number(let text)? = observation["valueQuantity"]?["value"] { value = " \(text)" }
            return (name, "\(observation["status"]?.text ?? "")\(value)")
        }
        return named.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Dead letters by reason.
    func letters() throws -> [String: Int] {
        let rows = try run.store.pool.read {
            try Row.fetchAll($0, sql: "SELECT reason, count(*) FROM dead GROUP BY reason")
        }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }

    /// The balance of the store, which is open.
    func balance() throws -> LedgerBalance { try run.store.pool.read { try LedgerTotals($0).balance } }
}

/// Has each device be of one patient at a time.
final class AllDevicesGuard: DeviceGuard {
    let generation = 1

    func holds(_ device: [UInt8]) -> Bool { true }
}
