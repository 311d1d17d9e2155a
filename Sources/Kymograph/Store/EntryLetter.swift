import Foundation
import GRDB
import KymographCore

/// A dead letter with an entry that a server refused, as it goes back to the outbox.
struct EntryLetter {
    let number: Int64
    /// The sink of the server.
    let sink: String
    /// What the entry is called in receipts.
    private let resource: String?
    /// The row that its content was first in: that of a newer version is greater.
    let origin: Int64?
    /// As it is stored; nil when this version cannot read it.
    private let body: StoredBody?
    private let content: [UInt8]?

    /// Letter `number`; nil when there is none with an entry.
    init?(_ number: Int64, _ db: Database) throws {
        let sql = """
            SELECT source, resource, coalesce(replay.origin, dead.outbox), codec, key_id, checksum, body
            FROM dead LEFT JOIN replay ON replay.outbox = dead.outbox WHERE number = ? AND kind = 'entry'
            """
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [number]) else { return nil }
        (self.number, sink, resource, origin) = (number, row[0], row[1], row[2])
        content = StoredBody.content(codec: row[3], key: row[4], checksum: row[5], bytes: row[6])
        body = BodyCodec(rawValue: row[3]).map { codec in
            StoredBody(codec: codec, key: row[4], checksum: UInt32(truncatingIfNeeded: row[5] as Int64), bytes: row[6])
        }
    }

    /// What a server gets of it; nil when there is nothing.
    private var block: DeliveryBlock? { content.flatMap { DeliveryBlock(OutboxRow(number: 0, body: $0)) } }

    /// Whether it is for a sink that takes lines, such as an event hub: no FHIR server has refused any.
    private var hasLines: Bool {
        var index = EntryIndex()
        return content?.withByteView { index.read($0)?.form.format } == .ndjson
    }

    /// Why it may not go back, in a sentence; `numbers` are the letters that go back together.
    func obstacle(among numbers: [Int64], _ db: Database) throws -> String? {
        guard block != nil || hasLines else {
            return "it holds no entries that this version can send: 'kymo dead show \(number) --bytes' prints what it "
                + "holds; send that to the server by other means, and discard the letter"
        }
        let isThere = try Int.fetchOne(db, sql: "SELECT count(*) FROM sink WHERE name = ?", arguments: [sink])
        guard isThere ?? 0 > 0 else {
            return
                "no sink is called '\(sink)', which refused what it holds: replay it after a run with a sink of that "
                + "name, or discard it"
        }
        guard !isMadeOnce, let origin else { return nil }
        if try isSuperseded(origin, db) {
            return "a newer version of what it holds was delivered or waits: discard the letter"
        }
        let names = numbers.count > 1 ? names : []
        for other in numbers where other != number {
            guard let letter = try EntryLetter(other, db), letter.sink == sink, let resource = letter.resource,
                names.contains(resource), letter.origin ?? 0 > origin
            else { continue }
            return "letter \(other) has a newer version of what it holds: discard the letter"
        }
        return nil
    }

    /// What receipts and letters may call it: the way of writing (`output.write`) was another in other runs.
    private var names: [String] {
        var names: [String] = []
        content?.withByteView { bytes in
            var index = EntryIndex()
            guard let block = index.read(bytes),
                let entry = (0..<block.count).last(where: { !block[$0].isUnwritten }).map({ block[$0] })
            else { return }
            for write in ObservationOptions.Write.allCases {
                var form = block.form
                form.write = write
                names.append(DeliveryEntry.name(of: entry, form))
            }
        }
        guard let resource, !names.contains(resource) else { return names }
        return [resource]
    }

    /// Whether it is a Patient or Device, to be made unless the server has it: no version of it replaces another.
    private var isMadeOnce: Bool {
        guard let block else { return false }
        let entries = block.entries()
        return entries.count == 1 && entries[0].described != nil && entries[0].isCreated
    }

    /// Whether a newer version of the resource was delivered, or waits for the sink.
    private func isSuperseded(_ origin: Int64, _ db: Database) throws -> Bool {
        // An event has no versions.
        if resource?.hasPrefix("Event/") == true { return false }
        if let delivered = try delivered(db), delivered > origin { return true }
        var index = EntryIndex()
        guard let content, let subject = EntrySubject(of: content, &index) else { return false }
        let waiting = try Row.fetchCursor(
            db,
            sql: """
                SELECT sinks, codec, key_id, checksum, body FROM outbox LEFT JOIN replay ON replay.outbox = number
                WHERE coalesce(origin, number) > ? AND number > (SELECT through FROM sink WHERE name = ?)
                """, arguments: [origin, sink])
        while let row = try waiting.next() {
            guard OutboxRow.isFor(sink, row[0]) else { continue }
            let block = StoredBody.content(codec: row[1], key: row[2], checksum: row[3], bytes: row[4])
            if let block, subject.isIn(block, &index) { return true }
        }
        return false
    }

    /// The newest version that the sink has been given of the resource. Receipts may be gone by now.
    private func delivered(_ db: Database) throws -> Int64? {
        try names.compactMap { name in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT max(origin) FROM (
                        SELECT origin FROM newer WHERE sink = ?1 AND resource = ?2
                        UNION ALL SELECT coalesce(replay.origin, receipt.outbox) FROM receipt
                            LEFT JOIN replay ON replay.outbox = receipt.outbox WHERE sink = ?1 AND resource = ?2)
                    """, arguments: [sink, name])
        }.max()
    }

    /// Puts the block into the outbox as it is stored, for the sink that refused it; nil when it cannot be read, or
    /// the server has the Patient or Device by now.
    func deliver(_ now: Instant, _ db: Database) throws -> OutboxRow? {
        guard let content, let body else { return nil }
        if isMadeOnce, try delivered(db) != nil {
            try LetterChange.noteReplayed(number, now, db)
            return nil
        }
        let place = try Store.insert(body, size: content.count, sinks: sink, now, db)
        // What it holds is no newer for being sent again.
        if let origin {
            try db.execute(sql: "INSERT OR REPLACE INTO replay VALUES (?, ?)", arguments: [place, origin])
        }
        // The ledger tells by the row whether it was taken.
        try db.execute(sql: "UPDATE dead SET outbox = ? WHERE number = ?", arguments: [place, number])
        try LetterChange.noteReplayed(number, now, db)
        return OutboxRow(number: place, body: content, sinks: sink)
    }
}

/// The resource that a letter is about: the last entry of its block, since what it refers to comes before.
private struct EntrySubject {
    private let identifier: ServerIdentifier

    init?(of block: [UInt8], _ index: inout EntryIndex) {
        let found = block.withByteView { bytes -> ServerIdentifier? in
            guard let entries = index.read(bytes) else { return nil }
            return (0..<entries.count).last { !entries[$0].isUnwritten }.map { ServerIdentifier(entries[$0]) }
        }
        guard let found else { return nil }
        identifier = found
    }

    /// Whether `block` brings another version of it; a bare Patient or Device is none.
    func isIn(_ block: [UInt8], _ index: inout EntryIndex) -> Bool {
        block.withByteView { bytes in
            guard let entries = index.read(bytes) else { return false }
            return (0..<entries.count).contains {
                !entries[$0].kind.isBare && !entries[$0].isUnwritten && ServerIdentifier(entries[$0]) == identifier
            }
        }
    }
}
