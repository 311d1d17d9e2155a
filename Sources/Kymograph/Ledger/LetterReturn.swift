import FoundationEssentials
import GRDB
import KymographCore

extension StoredLetter {
    /// Whether it is a normalised measurement that can be taken again.
    package var hasRecord: Bool { kind == "measurement" && bytes.flatMap { LetterRecord(letter: $0) } != nil }
}

/// Takes readings of dead letters again: back into the journal of a store that nobody uses, from where the next
/// pipeline takes them like those of a run that was killed.
package enum LetterReturn {
    /// Takes the measurements of `letters`, and notes that they were replayed; gives those that are damaged, or of a
    /// type that is another one by now. Nothing is touched before `check` has found no fault with the store.
    ///
    /// - Throws: What `check` throws, and ``PipelineError`` when the store is in use or cannot be written; none was
    ///   taken then.
    package static func run(
        _ letters: [StoredLetter], directory: String, notes: @escaping LogTaker,
        check: (Store) throws(PipelineError) -> Void = { _ in }
    ) throws(PipelineError) -> [LetterRefusal] {
        let whole = letters.filter(isWhole)
        let damaged = letters.filter { !isWhole($0) }.map { LetterRefusal($0.number, "its record is damaged") }
        guard !whole.isEmpty else { return damaged }
        let store: Store
        do throws(StoreError) { store = try Store(path: directory, notes: notes) } catch { throw PipelineError(error) }
        defer { store.close() }
        try check(store)
        do throws(StoreError) {
            store.watch.begin(note: notes) { notes(.error($0.message)) }
            let strange = Set(try store.lettersOfOtherTypes(whole))
            let known = whole.filter { !strange.contains($0.number) }
            if !known.isEmpty { try store.takeBack(known) }
            return damaged
                + whole.filter { strange.contains($0.number) }.map {
                    LetterRefusal($0.number, "the store does not know its type any more: send the reading again")
                }
        } catch {
            throw PipelineError(error)
        }
    }

    /// Whether the record of `letter` can be read.
    private static func isWhole(_ letter: StoredLetter) -> Bool {
        guard let record = letter.bytes.flatMap({ LetterRecord(letter: $0) }), !record.series.isEmpty else {
            return false
        }
        return JournalRecord.join([(series: 0, bytes: record.bytes)]) != nil
    }
}

/// What a letter of a measurement calls its type.
private struct LetterTypeName: Decodable {
    var type: String
    enum CodingKeys: String, CodingKey { case type = "Type" }

    /// Reads what the bytes of a letter say; nil when they name none.
    static func read(_ bytes: [UInt8]) -> String? {
        (try? JSONDecoder().decode(LetterTypeName.self, from: Data(bytes)))?.type
    }
}

extension Store {
    /// The numbers of those of `letters` whose type has another name in the store, or none, as after a repair of it
    /// that lost the types: the number that the record has is not theirs any more.
    fileprivate func lettersOfOtherTypes(_ letters: [StoredLetter]) throws(StoreError) -> [Int64] {
        let (types, untyped): ([StoredType?], Int64)
        do {
            (types, untyped) = try pool.read { (try StoredTypes.forms($0), try StoreFacts.untypedLetters($0)) }
        } catch {
            throw failure(error, "read the types of")
        }
        return letters.filter { letter in
            guard letter.number > untyped, let bytes = letter.bytes, let number = LetterRecord(letter: bytes)?.type,
                types.indices.contains(number), let type = types[number], let name = LetterTypeName.read(bytes)
            else { return true }
            return !type.name.utf8.elementsEqual(name.utf8)
        }.map(\.number)
    }

    /// The number of each of `keys`: one that is new has it for all of its readings, and is new to the first of them.
    private func seriesNumbers(_ keys: [[UInt8]]) -> [(key: [UInt8], number: (number: Int, isNew: Bool))] {
        var given: [[UInt8]: Int] = [:]
        return keys.map { key in
            if let number = given[key] { return (key, (number, false)) }
            let one = number(of: key)
            given[key] = one.number
            return (key, one)
        }
    }

    /// Puts the readings of `letters` into the journal, and counts them as received.
    fileprivate func takeBack(_ letters: [StoredLetter]) throws(StoreError) {
        let records = letters.compactMap { letter in letter.bytes.flatMap { LetterRecord(letter: $0) } }
        let series = seriesNumbers(records.map(\.series))
        let numbered = zip(series, records).map { (series: $0.number.number, bytes: $1.bytes) }
        guard records.count == letters.count, let (block, sources) = JournalRecord.join(numbered) else {
            throw StoreError(.unusable, "the record of one of the letters is damaged: leave it out")
        }
        let added = StoreCounts(received: block.count, kept: block.count)
        do {
            try pool.write { db in
                for one in series where one.number.isNew {
                    try ShardUnit.Series(number: one.number.number, key: one.key).insert(db)
                    try StoreFacts.note(lastSeries: one.number.number, db)
                }
                try Store.insert(block, sources, db)
                try added.add(latest: receiveClock.latest, db)
                // The journal has them; who rejects them again counts that again.
                for letter in letters { try SettledLetters.settle(letter.number, db) }
                _ = try LetterChange.noteReplayed(letters.map(\.number)).apply(WallClock.now(), db)
            }
        } catch {
            throw failure(error, "write to")
        }
        noteCommitted(added)
    }

    private static func insert(_ block: JournalBlock, _ sources: [Int], _ db: Database) throws {
        var compressor = BodyCompressor()
        let body = compressor.body(block.bytes)
        try db.execute(
            sql: "INSERT INTO journal (shard, readings, codec, key_id, checksum, body) VALUES (0, ?, ?, ?, ?, ?)",
            arguments: [block.count, body.codec.rawValue, body.key, Int64(body.checksum), body.bytes])
        let hour = LedgerOutcome.hour(of: WallClock.now())
        for source in sources {
            try TallyKey(source: source, series: -1, hour: hour, outcome: LedgerOutcome.received).add(1, db)
        }
    }
}
