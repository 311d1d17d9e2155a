import FoundationEssentials
import GRDB
import KymographCore

/// The tables of kept payloads: rows of ``PayloadSection``s, and which hours each has readings of a device of.
///
/// They are made besides the steps from version to version, as a store has them since it was first opened by a program
/// that knows them: one that does not leaves them alone.
enum StoredPayloads {
    /// The table of the payloads; that of devices is made from it.
    static let (table, index) = ("raw", "raw_device")
    /// Bytes of content from which on a row is not made longer.
    private static let mostBytes = 1 << 20
    /// Bytes that are looked at, after which no more are dropped at a time; and what a row of the index counts as.
    private static let (mostWork, bytesOfHour) = (16 << 20, 1_000)

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
        _ devices: [[UInt8]: Set<Int64>], number: Int64, _ db: Database
    ) throws {
        for (device, hours) in devices {
            for hour in hours {
                try db.cachedStatement(sql: "INSERT OR IGNORE INTO raw_device VALUES (?, ?, ?)").execute(
                    arguments: [Data(device), hour, number])
            }
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

    /// Drops the oldest rows that were written before `limit`, at most `most` of them, and no more when that was much
    /// work; gives how many rows went.
    static func dropOldest(_ most: Int, before limit: Int64, _ db: Database) throws -> Int {
        let numbers = try Int64.fetchAll(
            db, sql: "SELECT number FROM (SELECT number, at FROM raw ORDER BY number LIMIT ?2) WHERE at < ?1",
            arguments: [limit, most])
        var (count, work) = (0, 0)
        for number in numbers where work < mostWork {
            work += try drop(number, db)
            count += 1
        }
        return count
    }

    /// Drops a row; gives what that was of work, in bytes that were looked at.
    private static func drop(_ number: Int64, _ db: Database) throws -> Int {
        let statement = try db.cachedStatement(sql: "SELECT codec, key_id, checksum, body FROM raw WHERE number = ?")
        var work = 0
        if let content = try Row.fetchOne(statement, arguments: [number]).flatMap({ content(of: $0) }) {
            work += content.count
            for (device, hours) in PayloadRow.devices(in: content) {
                for hour in hours {
                    try db.cachedStatement(sql: "DELETE FROM raw_device WHERE device = ? AND hour = ? AND raw = ?")
                        .execute(arguments: [Data(device), hour, number])
                }
                work += hours.count * bytesOfHour
            }
        } else {
            // Whose it was is not known: all of the table is looked through, once for a damaged row.
            try db.cachedStatement(sql: "DELETE FROM raw_device WHERE raw = ?").execute(arguments: [number])
        }
        try db.cachedStatement(sql: "DELETE FROM raw WHERE number = ?").execute(arguments: [number])
        return work
    }

    // MARK: Reading

    /// The numbers of the rows that have readings of `device` in the hours from `first` to `last`, the oldest row
    /// first.
    static func rows(of device: [UInt8], first: Instant, last: Instant, _ db: Database) throws -> [Int64] {
        guard try db.tableExists(table) else { return [] }
        return try Int64.fetchAll(
            db, sql: "SELECT DISTINCT raw FROM raw_device WHERE device = ?1 AND hour BETWEEN ?2 AND ?3 ORDER BY raw",
            arguments: [Data(device), PayloadSection.hour(of: first), PayloadSection.hour(of: last)])
    }

    /// The content of a row; nil where it is damaged. Empty for one that has gone.
    static func content(ofRow number: Int64, _ db: Database) throws -> [UInt8]? {
        let statement = try db.cachedStatement(sql: "SELECT codec, key_id, checksum, body FROM raw WHERE number = ?")
        return try Row.fetchOne(statement, arguments: [number]).map { content(of: $0) } ?? []
    }

    private static func content(of row: Row) -> [UInt8]? {
        StoredBody.content(codec: row["codec"], key: row["key_id"], checksum: row["checksum"], bytes: row["body"])
    }
}

/// The sections of one row, one behind the other, each after its length.
struct PayloadRow {
    private(set) var count = 0
    private(set) var devices: [[UInt8]: Set<Int64>] = [:]
    private(set) var content: [UInt8] = []

    /// Adds a section.
    mutating func add(_ section: PayloadSection) {
        count += section.count
        devices.merge(section.devices) { $0.union($1) }
        var length = ByteWriter(capacity: 16)
        Varint.append(UInt64(section.content.count), to: &length)
        content += length.view.array
        content += section.content
    }

    /// Calls `body` with each section of `content` as long as it says to go on; false when what was asked for cannot be
    /// read.
    static func forEachSection(
        _ content: [UInt8], _ body: (ByteView, inout PayloadSectionReader) throws -> Bool
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
                guard try body(section, &reader) else { return true }
                guard reader.isWhole else { return false }
            }
            return true
        }
    }

    /// The hours that there are readings of each device of.
    static func devices(in content: [UInt8]) -> [[UInt8]: Set<Int64>] {
        var devices: [[UInt8]: Set<Int64>] = [:]
        _ = forEachSection(content) { _, reader in
            while let record = reader.next() {
                for (series, instant) in record.readings {
                    devices[reader.series[series].device, default: []].insert(PayloadSection.hour(of: instant))
                }
            }
            return true
        }
        return devices
    }
}
