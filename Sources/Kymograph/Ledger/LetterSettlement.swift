import FoundationEssentials
import GRDB
import KymographCore

/// Settles what became of dead letters that were taken again: a reading that is rejected for the same reason once more
/// stays the letter that it was, and is counted once.
package struct LetterSettlement: Sendable {
    /// What became of the letters.
    package struct Outcome: Sendable {
        /// Letters that are as they were, because what they hold was rejected again.
        package var unchanged: [LetterRefusal] = []
        /// New letters, of readings that were rejected for other reasons.
        package var new: [LetterRefusal] = []
    }

    private let directory: String
    /// The number of the last letter before.
    private let last: Int64
    /// Letters that were settled before.
    private let settled: Set<Int64>

    /// To be made before the letters of the store in `directory` are taken again.
    ///
    /// - Throws: ``PipelineError`` when the store cannot be read.
    package init(_ directory: String) throws(PipelineError) {
        self.directory = directory
        (last, settled) = try StoreReader(directory: directory).read { db in
            (try Int64.fetchOne(db, sql: "SELECT max(number) FROM dead") ?? 0, try SettledLetters.all(db))
        }
    }

    /// Settles `letters`, in a store that nobody uses any more.
    ///
    /// - Throws: ``PipelineError`` when the store cannot be read or written.
    package func run(
        _ letters: [StoredLetter], notes: @escaping LogTaker
    ) throws(PipelineError) -> Outcome {
        do throws(StoreError) {
            let store = try Store.whenFree(directory, notes: notes)
            defer { store.close() }
            return try store.settle(letters, after: last, settledBefore: settled)
        } catch {
            throw PipelineError(error)
        }
    }
}

extension Store {
    /// Puts the letters after number `last` that say the same as some of `letters` in their places.
    fileprivate func settle(
        _ letters: [StoredLetter], after last: Int64, settledBefore settled: Set<Int64>
    ) throws(StoreError) -> LetterSettlement.Outcome {
        let new = read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM dead WHERE number > ? ORDER BY number", arguments: [last])
                .map(StoredLetter.init)
        }
        let pairs = SameLetter.pairs(letters, new ?? [])
        let undone = try undo(pairs, settledBefore: settled)
        var outcome = LetterSettlement.Outcome()
        outcome.unchanged = undone.map { LetterRefusal($0.old.number, "rejected again: \($0.old.reason)") }
        let gone = Set(undone.map(\.new.number))
        let times = Set(letters.map(\.at))
        for letter in new ?? []
        where letter.kind != "entry" && times.contains(letter.at) && !gone.contains(letter.number) {
            outcome.new.append(
                LetterRefusal(letter.number, "it is new: a replayed reading was rejected: \(letter.reason)"))
        }
        return outcome
    }

    /// Undoes what was counted for `pairs`, and gives those for which that was possible.
    private func undo(
        _ pairs: [SameLetter], settledBefore settled: Set<Int64>
    ) throws(StoreError) -> [SameLetter] {
        guard !pairs.isEmpty else { return [] }
        func counts(_ count: Int) -> StoreCounts { StoreCounts(received: count, kept: count) }
        // Before the commit: a mark that is ahead of the database would say that readings are lost.
        noteCommitted(counts(-pairs.count))
        do {
            let undone = try pool.write { db in
                let undone = try pairs.filter { try $0.undo(db) }
                // What they hold is counted as it was: once, as rejected.
                for old in undone.map(\.old.number) where !settled.contains(old) { try SettledLetters.open(old, db) }
                try counts(-undone.count).add(latest: receiveClock.latest, db)
                return undone
            }
            noteCommitted(counts(pairs.count - undone.count))
            return undone
        } catch {
            noteCommitted(counts(pairs.count))
            throw failure(error, "write to")
        }
    }
}

/// A letter that was taken again, and the new letter of the same content and reason.
private struct SameLetter {
    var old: StoredLetter
    var new: StoredLetter

    /// What letters of the same content have in common.
    private struct Content: Hashable {
        var names: [[UInt8]]
        var bytes: [UInt8]

        /// Of a reading, what it is in the journal.
        init?(_ letter: StoredLetter) {
            guard let bytes = letter.bytes else { return nil }
            names = [letter.kind, letter.reason, letter.source].map { Array($0.utf8) }
            let record = letter.kind == "measurement" ? LetterRecord(letter: bytes) : nil
            if let record { names.append(record.series) }
            self.bytes = record?.bytes ?? bytes
        }
    }

    static func pairs(_ old: [StoredLetter], _ new: [StoredLetter]) -> [SameLetter] {
        var known: [Content: [StoredLetter]] = [:]
        for letter in old.reversed() {
            if let content = Content(letter) { known[content, default: []].append(letter) }
        }
        return new.compactMap { letter in
            guard let content = Content(letter), let same = known[content]?.takeLast(at: letter.at) else { return nil }
            return SameLetter(old: same, new: letter)
        }
    }

    /// Forgets the new letter with what was counted for it; false, and nothing is done, when that is not found.
    func undo(_ db: Database) throws -> Bool {
        guard let rejected = try StoredRejection(new).rows(new.bytes, db)?.first(where: { try $0.has(db) }),
            let hour = try Int64.fetchOne(
                db,
                sql: "SELECT max(hour) FROM tally WHERE source = ? AND series = -1 AND outcome = ? AND count > 0",
                arguments: [rejected.source, LedgerOutcome.received])
        else { return false }
        try rejected.add(-1, db)
        try TallyKey(source: rejected.source, series: -1, hour: hour, outcome: LedgerOutcome.received).add(-1, db)
        try db.execute(sql: "DELETE FROM dead WHERE number = ?", arguments: [new.number])
        try LetterContext.forget(new.number, db)
        try db.execute(
            sql: "UPDATE dead SET replayed = ? WHERE number = ?",
            arguments: [old.replayed?.nanoseconds, old.number])
        return true
    }
}

extension [StoredLetter] {
    /// Takes the last one that came at `time`, since a letter that comes again keeps that; else the last.
    fileprivate mutating func takeLast(at time: Instant) -> StoredLetter? {
        lastIndex { $0.at == time }.map { remove(at: $0) } ?? popLast()
    }
}

extension StoredRejection {
    fileprivate init(_ letter: StoredLetter) {
        self.init(kind: letter.kind, reason: letter.reason, source: letter.source, at: letter.at)
    }
}

extension TallyKey {
    /// Whether anything is counted in the row.
    fileprivate func has(_ db: Database) throws -> Bool {
        let sql = "SELECT count FROM tally WHERE source = ? AND series = ? AND hour = ? AND outcome = ?"
        return try Int.fetchOne(db, sql: sql, arguments: [source, series, hour, outcome]) ?? 0 > 0
    }
}
