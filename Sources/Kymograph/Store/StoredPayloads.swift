import FoundationEssentials
import GRDB
import KymographCore

/// The tables of kept payloads: rows of ``PayloadSection``s, and of which time each has readings of a device.
///
/// They are made besides the steps from version to version, as a store has them since it was first opened by a program
/// that knows them: one that does not leaves them alone.
enum StoredPayloads {
    /// The table of the payloads; that of devices is made from it.
    static let (table, index) = ("raw", "raw_device")
    /// Bytes of content from which on a row is not made longer.
    private static let mostBytes = 1 << 20

    /// Makes the tables, unless they are there.
    static func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS raw (
                    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, payloads INTEGER NOT NULL, codec INTEGER NOT NULL,
                    key_id INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL);
                CREATE TABLE IF NOT EXISTS raw_device (
                    device BLOB NOT NULL, last INTEGER NOT NULL, raw INTEGER NOT NULL, first INTEGER NOT NULL,
                    PRIMARY KEY (device, last, raw)) WITHOUT ROWID;
                """)
    }

    /// Whether there are payloads.
    static func exist(_ db: Database) throws -> Bool {
        guard try db.tableExists(table) else { return false }
        return try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM raw)") ?? false
    }

    // MARK: Writing

    /// Adds what came in one commit.
    static func insert(
        _ sections: [PayloadSection], _ compressor: inout BodyCompressor, now: Instant, _ db: Database
    ) throws {
        var row = PayloadRow()
        for section in sections {
            if row.content.count >= mostBytes {
                try insert(row, &compressor, now, db)
                row = PayloadRow()
            }
            row.add(section)
        }
        if row.count > 0 { try insert(row, &compressor, now, db) }
    }

    private static func insert(
        _ row: PayloadRow, _ compressor: inout BodyCompressor, _ now: Instant, _ db: Database
    ) throws {
        let body = compressor.body(row.content)
        try db.cachedStatement(
            sql: "INSERT INTO raw (at, payloads, codec, key_id, checksum, body) VALUES (?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            now.nanoseconds, row.count, body.codec.rawValue, body.key, Int64(body.checksum), body.bytes,
        ])
        try insertDevices(row.devices, number: db.lastInsertedRowID, db)
    }

    private static func insertDevices(
        _ devices: [[UInt8]: PayloadSection.Span], number: Int64, _ db: Database
    ) throws {
        for (device, span) in devices {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO raw_device VALUES (?, ?, ?, ?)").execute(arguments: [
                Data(device), span.last.nanoseconds, number, span.first.nanoseconds,
            ])
        }
    }

    /// Makes the table of devices again: a repair may have lost rows of it.
    static func indexAgain(_ db: Database) throws {
        guard try db.tableExists(table) else { return }
        try db.execute(sql: "DELETE FROM raw_device")
        let rows = try Row.fetchCursor(db, sql: "SELECT number, codec, key_id, checksum, body FROM raw")
        while let row = try rows.next() {
            guard let content = content(of: row) else { continue }
            try insertDevices(PayloadRow.devices(in: content), number: row["number"], db)
        }
    }

    // MARK: Dropping

    /// Drops the `most` oldest rows that were written before `limit`; gives how many payloads they had.
    static func dropOldest(_ most: Int, before limit: Int64, _ db: Database) throws -> Int {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT number, payloads, codec, key_id, checksum, body FROM raw
                WHERE number IN (SELECT number FROM (SELECT number, at FROM raw ORDER BY number LIMIT ?2) WHERE at < ?1)
                """, arguments: [limit, most])
        var count = 0
        for row in rows {
            let number: Int64 = row["number"]
            // Rows of devices whose payloads cannot be read stay: they lead to nothing.
            let devices = content(of: row).map { PayloadRow.devices(in: $0) }
            for (device, span) in devices ?? [:] {
                try db.cachedStatement(sql: "DELETE FROM raw_device WHERE device = ? AND last = ? AND raw = ?").execute(
                    arguments: [Data(device), span.last.nanoseconds, number])
            }
            try db.cachedStatement(sql: "DELETE FROM raw WHERE number = ?").execute(arguments: [number])
            count += row["payloads"] as Int
        }
        return count
    }

    // MARK: Reading

    /// Hands the content of each row that has readings of `device` between `first` and `last` to `body`, the oldest row
    /// first, and nil for one that is damaged.
    static func forEachRow(
        of device: [UInt8], first: Instant, last: Instant, _ db: Database, _ body: ([UInt8]?) throws -> Void
    ) throws {
        guard try db.tableExists(table) else { return }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT codec, key_id, checksum, body FROM raw WHERE number IN
                    (SELECT raw FROM raw_device WHERE device = ?1 AND last >= ?2 AND first <= ?3)
                ORDER BY number
                """, arguments: [Data(device), first.nanoseconds, last.nanoseconds])
        while let row = try rows.next() { try body(content(of: row)) }
    }

    private static func content(of row: Row) -> [UInt8]? {
        StoredBody.content(codec: row["codec"], key: row["key_id"], checksum: row["checksum"], bytes: row["body"])
    }
}

/// The sections of one row, one behind the other, each after its length.
struct PayloadRow {
    private(set) var count = 0
    private(set) var devices: [[UInt8]: PayloadSection.Span] = [:]
    private(set) var content: [UInt8] = []

    /// Adds a section.
    mutating func add(_ section: PayloadSection) {
        count += section.count
        devices.merge(section.devices) { span, other in
            var both = span
            both.merge(other)
            return both
        }
        var length = ByteWriter(capacity: 16)
        Varint.append(UInt64(section.content.count), to: &length)
        content += length.view.array
        content += section.content
    }

    /// Calls `body` with each section of `content`; false when it cannot be read to its end.
    static func forEachSection(
        _ content: [UInt8], _ body: (ByteView, inout PayloadSectionReader) throws -> Void
    ) rethrows -> Bool {
        try content.withByteView { bytes in
            var offset = 0
            while offset < bytes.count {
                guard let length = Varint.read(bytes, &offset), length <= UInt64(bytes.count - offset) else {
                    return false
                }
                let section = bytes[offset..<offset + Int(length)]
                offset += Int(length)
                guard var reader = PayloadSectionReader(section) else { return false }
                try body(section, &reader)
                guard reader.isWhole else { return false }
            }
            return true
        }
    }

    /// Of which time there are readings of each device.
    static func devices(in content: [UInt8]) -> [[UInt8]: PayloadSection.Span] {
        var devices: [[UInt8]: PayloadSection.Span] = [:]
        _ = forEachSection(content) { _, reader in
            while let record = reader.next() {
                for (series, instant) in record.readings {
                    let own = PayloadSection.Span(first: instant, last: instant)
                    devices[reader.series[series].device, default: own].merge(own)
                }
            }
        }
        return devices
    }
}
