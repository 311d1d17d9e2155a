import GRDB
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Rejections whose letters came again are missing no more: once for each letter, in the commit that has what it held.
@Suite struct SettledLettersTests {
    private let scratch = Scratch()

    /// A letter counts with the commit by which the last of its readings is durable, and with no other.
    @Test func itWaitsForAllShards() throws {
        try scratch.open { store in
            let run = try SettlingRun(store)
            try run.reject(.noTemplate, "a", hour: 500)
            run.reach(5, shard: 0)
            run.arrive([1], [7, 0, 3])
            try run.persist()
            #expect(try run.missing == ["a noTemplate": 1])
            run.reach(7, shard: 0)
            try run.persist()
            run.reach(2, shard: 2)
            run.reach(9, shard: 1)
            try run.persist()
            #expect(try run.missing == ["a noTemplate": 1])
            run.reach(3, shard: 2)
            try run.persistAfterFailure()
            #expect(try run.missing.isEmpty)
        }
    }

    /// A letter that comes twice is one rejection; the other ones of its row stay missing.
    @Test func onceForEachLetter() throws {
        try scratch.open { store in
            let run = try SettlingRun(store)
            for _ in 0..<3 { try run.reject(.noTemplate, "a", hour: 500) }
            for _ in 0..<4 { run.arrive([2]) }
            run.arrive([2, 2, 77])
            try run.persist()
            #expect(try run.missing == ["a noTemplate": 2])
        }
        try scratch.open { store in
            let run = try SettlingRun(store)
            run.arrive([2])
            try run.persist()
            #expect(try run.missing == ["a noTemplate": 2])
        }
    }

    /// A letter of which nothing shows any more what it was counted as changes nothing; one that is gone stays settled.
    @Test func lettersThatAreGone() throws {
        try scratch.open { store in
            let run = try SettlingRun(store)
            for _ in 0..<2 { try run.reject(.noTemplate, "a", hour: 500) }
            run.arrive([1])
            try run.persist()
            run.discard([1, 2])
            try run.persist()
            run.arrive([1, 2])
            try run.persist()
            #expect(try run.missing == ["a noTemplate": 1])
            #expect(try store.value("SELECT count(*) FROM settled_letter") == 0)
        }
    }

    /// Letters that are dropped since there are too many stay settled.
    @Test func lettersThatAreDropped() throws {
        try scratch.open { store in
            let run = try SettlingRun(store)
            for _ in 0..<2 { try run.reject(.noTemplate, "a", hour: 500) }
            run.arrive([1])
            try run.persist()
            try store.pool.write {
                let columns = "at, kind, reason, source, detail, codec, key_id, checksum, body"
                try $0.execute(
                    sql: """
                        WITH RECURSIVE copy (place) AS
                            (SELECT 1 UNION ALL SELECT place + 1 FROM copy WHERE place < ?)
                        INSERT INTO dead (\(columns)) SELECT \(columns) FROM copy, dead WHERE number = 2
                        """, arguments: [StoreRetention.mostLetters - 1])
            }
            for _ in 0..<64 {
                run.reach(1, shard: 0)
                try run.persist()
            }
            #expect(try store.value("SELECT min(number) FROM dead") == 2)
            #expect(try store.value("SELECT count(*) FROM dead") == StoreRetention.mostLetters)
            #expect(try store.value("SELECT count(*) FROM settled_letter") == 0)
            #expect(try run.missing == ["a noTemplate": 1])
        }
    }

    /// A store from before there were such tables gets them; who only reads does not miss them. A repair makes them
    /// again, since it may have lost what they rest on.
    @Test func storesFromBefore() throws {
        try scratch.open { store in
            let run = try SettlingRun(store)
            try run.reject(.noTemplate, "a", hour: 500)
            try store.pool.write {
                try $0.execute(sql: "DROP TABLE settled_letter; DROP TABLE settled_rejection")
            }
            #expect(try run.missing == ["a noTemplate": 1])
        }
        try scratch.open { store in
            let run = try SettlingRun(store)
            run.arrive([1])
            try run.persist()
            #expect(try run.missing.isEmpty)
            var salvage = StoreSalvage(store.directory, now: WallClock.now(), lostTransactions: 0)
            let target = try DatabaseQueue()
            try StoreSchema.prepare(target)
            try target.write { db in
                try salvage.run(into: db)
                #expect(try SettledLetters.reasons(db).isEmpty && SettledLetters.all(db).isEmpty)
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM dead") == 1)
            }
        }
    }

    /// What was settled in excess is a difference, and hides nothing of other hours.
    @Test func verification() throws {
        try scratch.open { store in
            let run = try SettlingRun(store)
            try run.reject(.noTemplate, "a", hour: 500)
            try run.reject(.noTemplate, "a", hour: 501)
            run.arrive([1])
            try run.persist()
            var filter = ArchiveFilter()
            (filter.from, filter.to) = (SettlingRun.time(hour: 501), SettlingRun.time(hour: 502))
            #expect(try run.missing(filter) == ["a noTemplate": 1])
            #expect(try run.differences.isEmpty)
            try store.pool.write { try $0.execute(sql: "UPDATE settled_rejection SET count = 2") }
            #expect(try run.differences == ["1 count of replayed letters is not that of rejections"])
        }
    }

    /// Random rejections, replays, shards, commits that fail, kills and discarded letters, against a model.
    @Test func anySequence() throws {
        for seed in Trials.seeds(tenthOf: 120) {
            let scratch = Scratch()
            var (model, generator) = (SettlingModel(), SeededGenerator(seed: seed))
            for _ in 0..<3 {
                try scratch.open { store in
                    let run = try SettlingRun(store)
                    model.begin()
                    for step in 0..<Int.random(in: 5...25, using: &generator) {
                        try model.step(run, &generator)
                        let missing = try run.missing
                        try #require(missing == model.missing, "seed \(seed), step \(step)")
                    }
                    let differences = try run.differences
                    try #require(differences.isEmpty, "seed \(seed): \(differences)")
                }
            }
        }
    }
}

/// A run of a store that two shards and a lane write to, step by step. Letting go of it is SIGKILL.
private final class SettlingRun {
    let store: Store
    private var commit: StoreCommit

    init(_ store: Store) throws {
        self.store = store
        commit = StoreCommit(store, MappingExchange(try #require(PipelineRehearsal.reading)))
    }

    /// A time of that hour since the epoch.
    static func time(hour: Int64) -> Instant { Instant(nanoseconds: hour * LedgerOutcome.hourLength) }

    /// Makes all durable that waits.
    func persist() throws {
        let (batch, submitted) = store.queue.take()
        try commit.commit(batch, now: WallClock.now())
        store.queue.commit(batch, through: submitted)
    }

    /// The same, at the second attempt: the first one finds the disk full.
    func persistAfterFailure() throws {
        store.queue.submit(.made(bundle: 1 << 16))
        let (batch, submitted) = store.queue.take()
        try store.setFull(true)
        #expect(throws: StoreError.self) { try commit.commit(batch, now: WallClock.now()) }
        try store.setFull(false)
        try commit.commit(batch, now: WallClock.now())
        store.queue.commit(batch, through: submitted)
    }

    /// A payload is rejected, and its letter durable.
    func reject(_ reason: Rejection, _ source: String, hour: Int64) throws {
        let number = try store.sourceNumbers([(name: source, timezone: nil)])[0]
        store.queue.add { batch in
            for outcome in [LedgerOutcome.received, reason.name] {
                batch.tallies[TallyKey(source: number, series: -1, hour: hour, outcome: outcome), default: 0] += 1
            }
            batch.deadLetters.append(
                StoredDeadLetter(
                    at: Self.time(hour: hour), kind: .payload, reason: reason.name, source: source, detail: "",
                    bytes: [1]))
        }
        try persist()
    }

    /// Letters come again, with readings up to `positions` of the shards.
    func arrive(_ letters: [Int64], _ positions: [UInt64] = []) {
        store.queue.add { $0.arrivals.append(LetterArrival(letters: letters, lane: 0, positions: positions)) }
    }

    /// A shard hands over what it has up to a position.
    func reach(_ position: UInt64, shard: Int) {
        var unit = ShardUnit(shard: shard)
        unit.taken = [position]
        store.queue.submit(unit)
    }

    func discard(_ letters: [Int64]) { store.queue.add { $0.letterChanges.append(.discard(letters)) } }

    var missing: [String: Int] { get throws { try missing(ArchiveFilter()) } }

    /// What was rejected and is missing, by source and reason.
    func missing(_ filter: ArchiveFilter) throws -> [String: Int] {
        let report = try StoreReader(directory: store.directory.path).ledger(filter, isRunning: false)
        let counts = report.sources.flatMap { source in
            source.rejected.map { (key: "\(source.name) \($0.key)", value: $0.value) }
        }
        return Dictionary(counts.map { ($0.key, $0.value) }, uniquingKeysWith: +)
    }

    var differences: [String] {
        get throws {
            let reader = try StoreReader(directory: store.directory.path)
            return try reader.verifyLedger(isRunning: true) { _ in }.differences
        }
    }
}

/// What is known of letters, and what the ledger must say of them.
private struct SettlingModel {
    private var letters: [(name: String, isSettled: Bool, isGone: Bool)] = []
    /// Slots of the shards that were written, and handed over.
    private var (written, handed): ([UInt64], [UInt64]) = ([], [])
    private var waiting: [(letters: [Int], positions: [UInt64])] = []

    /// What is missing, by source and reason.
    var missing: [String: Int] {
        Dictionary(letters.filter { !$0.isSettled }.map { ($0.name, 1) }, uniquingKeysWith: +)
    }

    /// A run begins: what waited was never there.
    mutating func begin() { (written, handed, waiting) = ([0, 0], [0, 0], []) }

    mutating func step(_ run: SettlingRun, _ generator: inout SeededGenerator) throws {
        let letter = Int.random(in: 0..<max(1, letters.count), using: &generator)
        let shard = Int.random(in: 0..<2, using: &generator)
        switch Int.random(in: 0..<11, using: &generator) {
        case 0...2:
            let reason = Bool.random(using: &generator) ? Rejection.noTemplate : .invalidValue
            let source = Bool.random(using: &generator) ? "a" : "b"
            try run.reject(reason, source, hour: Int64.random(in: 500...501, using: &generator))
            letters.append(("\(source) \(reason.name)", false, false))
            settle()
        case 3...5 where !letters.isEmpty:
            let count = Int.random(in: 1...3, using: &generator)
            let chosen = (0..<count).map { _ in Int.random(in: 0..<letters.count, using: &generator) }
            for shard in written.indices { written[shard] += UInt64.random(in: 0...2, using: &generator) }
            run.arrive(chosen.map { Int64($0 + 1) }, written)
            waiting.append((chosen, written))
        case 6...7:
            handed[shard] = UInt64.random(in: handed[shard]...written[shard], using: &generator)
            run.reach(handed[shard], shard: shard)
        case 8 where !letters.isEmpty:
            run.discard([Int64(letter + 1)])
            try run.persist()
            // What comes with the same commit came before.
            settle()
            letters[letter].isGone = true
        case 9:
            try run.persistAfterFailure()
            settle()
        default:
            try run.persist()
            settle()
        }
    }

    /// All that was handed over is durable.
    private mutating func settle() {
        func isDurable(_ positions: [UInt64]) -> Bool { zip(positions, handed).allSatisfy { $0 <= $1 } }
        for arrival in waiting where isDurable(arrival.positions) {
            for letter in arrival.letters where !letters[letter].isGone { letters[letter].isSettled = true }
        }
        waiting.removeAll { isDurable($0.positions) }
    }
}
